#include "dynamics/propagators/periodic_boxes.h"

#include "base/arrays.h"
#include "base/spelling.h"
#include "dynamics/bodies/box.h"
#include "dynamics/forces/settings.h"
#include "dynamics/integrators/integrator.h"
#include "dynamics/propagators/device_choice.h"
#include "sums/asked.h"
#include "sums/lattice/lattice_terms.h"
#include "sums/method/method.h"
#include "sums/select/choice.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

namespace farfield {
namespace {

// Of one body, anywhere: what methods say of it they say of more.
SumProblem problem_of_one(const SumOptions& sums) {
    const std::array<double, 3> anywhere{};
    return problem_of(sums, matrix_view(std::span<const double>(anywhere), 3), nullptr);
}

// Empty, or why no method that may be taken sums the box on the GPU that was asked for, or on the CPU.
std::string why_no_method(const ForceOptions& options) {
    const auto sums = sum_options_of(options, {}, options.precision);
    const auto problem = problem_of_one(sums);
    const bool on_gpu = sums.device.kind == DeviceKind::cuda;
    const auto why_not = [&](const MethodInfo& method) {
        if (on_gpu && !method.resident) return why_not_resident(options, method.value);
        return farfield::why_not(method, problem, sums, sums.device);
    };
    if (options.method != Method::automatic) return why_not(method_info(options.method));
    const auto all = methods();
    if (std::any_of(all.begin(), all.end(), [&](const auto* method) { return why_not(*method).empty(); }))
        return {};
    return why_not(first_method([&](const MethodInfo& method) {
        return on_gpu ? method.resident && (method.periodic || method.open_axes) : method.periodic;
    }));
}

} // namespace

void check_period(const ForceOptions& options, Integrator integrator) {
    if (!is_periodic(options.period)) return;
    if (options.boundary == Boundary::vacuum)
        throw InvalidArgument(fmt::format(
            "simulations do not take {}: its potential follows the dipole moment of the positions, and jumps "
            "where a body leaves the box and comes back on the other side; use {}",
            spelled("boundary", name_of(options.boundary)),
            spelled("boundary", name_of(Boundary::tin_foil))));
    if (descriptor_of(integrator).uses_jerk)
        throw InvalidArgument(fmt::format(
            "time.integrator = \"{}\" needs the time derivatives of accelerations, which no method "
            "computes in periodic boxes; use \"yoshida4\" (order 4, too) or \"leapfrog\", or leave {} out",
            name_of(integrator), spelled("period")));
    if (const auto reason = why_no_method(options); !reason.empty()) throw InvalidArgument(reason);
}

void check_strengths(const ForceOptions& options, const Bodies& bodies) {
    if (!is_periodic(options.period)) return;
    const auto& strengths = options.kernel == Kernel::coulomb ? bodies.charge : bodies.mass;
    require_neutral(problem_of_one(sum_options_of(options, {}, options.precision)),
                    total_strength(strengths));
}

// What box and rim do to a body is far more than a background leaves of it: floats would lose its digits.
// On CPUs `auto` takes double: of one point no method is faster in mixed precision.
Precision precision_in_box(const ForceOptions& options) {
    if (options.background == Background::uniform && options.device.kind == DeviceKind::cuda)
        return Precision::float64;
    const auto sums = sum_options_of(options, {}, Precision::automatic);
    return first_precision(problem_of_one(sums), sums);
}

} // namespace farfield
