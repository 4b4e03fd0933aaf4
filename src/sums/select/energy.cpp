#include "sums/select/energy.h"

#include <algorithm>
#include <initializer_list>

namespace farfield {
namespace {

double value_at(const ConstArrayView& view, std::int64_t row, std::int64_t column) {
    const auto at = row * view.strides[0] + (view.ndim == 2 ? column * view.strides[1] : 0);
    return view.dtype == DType::float32 ? static_cast<double>(static_cast<const float*>(view.data)[at])
                                        : static_cast<const double*>(view.data)[at];
}

bool all_on_host(std::initializer_list<ConstArrayView> views) {
    return std::all_of(views.begin(), views.end(), [](const ConstArrayView& view) {
        return view && view.device.type == DeviceType::cpu;
    });
}

} // namespace

std::optional<double> energy_of(const SumProblem& problem, const SumStrengths& strengths,
                                const SumOutputs& outputs) {
    if (!problem.self || !problem.kernel->moves_bodies()) return std::nullopt;
    if (!all_on_host({strengths.charges, outputs.potential})) return std::nullopt;
    const bool dipoles = static_cast<bool>(strengths.dipoles);
    if (dipoles && !all_on_host({strengths.dipoles, outputs.field})) return std::nullopt;
    constexpr std::int64_t part =
        256; // summed apart, so that rounding does not grow with the number of points
    double sum = 0.0;
    for (std::int64_t begin = 0; begin < problem.sources; begin += part) {
        double some = 0.0;
        for (auto i = begin; i < std::min(begin + part, problem.sources); ++i) {
            some += value_at(strengths.charges, i, 0) * value_at(outputs.potential, i, 0);
            for (int k = 0; k < 3 && dipoles; ++k)
                some -= value_at(strengths.dipoles, i, k) * value_at(outputs.field, i, k);
        }
        sum += some;
    }
    return 0.5 * sum;
}

} // namespace farfield
