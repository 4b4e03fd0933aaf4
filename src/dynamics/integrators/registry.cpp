// The list of integrators, and the names of the enum taken from it.
#include "dynamics/integrators/integrator.h"

#include <farfield/error.h>

#include <array>

namespace farfield {

std::span<const IntegratorDescriptor* const> integrators() {
    static const std::array<const IntegratorDescriptor*, 4> all{
        &leapfrog_descriptor(), &yoshida4_descriptor(), &hermite4_descriptor(), &rk4_descriptor()};
    return all;
}

const IntegratorDescriptor& descriptor_of(Integrator integrator) {
    for (const auto* descriptor : integrators())
        if (descriptor->value == integrator) return *descriptor;
    throw InvalidArgument("time.integrator is not one of the known integrators");
}

std::string_view name_of(Integrator integrator) { return descriptor_of(integrator).name; }

template <>
std::optional<Integrator> from_name<Integrator>(std::string_view name) {
    for (const auto* descriptor : integrators())
        if (descriptor->name == name) return descriptor->value;
    return std::nullopt;
}

template <>
std::vector<std::string_view> names_of<Integrator>() {
    std::vector<std::string_view> names;
    for (const auto* descriptor : integrators()) names.push_back(descriptor->name);
    return names;
}

} // namespace farfield
