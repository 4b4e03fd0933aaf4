#include "sums/lattice/lattice_terms.h"

#include "base/spelling.h"
#include "math/compensated_sum.h"
#include "sums/method/refuse.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace farfield {

TotalStrength total_strength(std::span<const double> strengths) {
    CompensatedSum sum;
    double magnitude = 0.0;
    for (const double q : strengths) {
        sum.add(q);
        magnitude += std::abs(q);
    }
    return {sum.value(), magnitude};
}

void require_neutral(const SumProblem& problem, const TotalStrength& total) {
    if (problem.background == Background::uniform) return;
    if (std::abs(total.sum) <= neutral_to * total.magnitude) return;
    throw InvalidArgument(fmt::format("strengths sum to {:.6g}, more than {:g} of the sum of their "
                                      "magnitudes: periodic images of a box that is "
                                      "not neutral have no sum; use {}, or strengths that sum to 0",
                                      total.sum, neutral_to,
                                      spelled("background", name_of(Background::uniform))));
}

std::string why_no_lattice_sum(std::string_view method, const SumProblem& problem, const SumOptions& options,
                               const DeviceChoice& device) {
    if (problem.kernel->loop != PairLoop::inverse_distance)
        return fmt::format("method '{}' sums 1/r, not kernel '{}'; use {}", method, problem.kernel->name,
                           spelled("kernel", "coulomb"));
    if (!problem.is_periodic())
        return fmt::format("method '{}' sums periodic boxes only; give {}, or use another method", method,
                           spelled("period"));
    if (!problem.is_periodic_box())
        return fmt::format(
            "method '{}' sums boxes that are periodic along all three axes; give three lengths > "
            "0 for {}, or use {}",
            method, spelled("period"), methods_of_boxes(false));
    if (device.kind == DeviceKind::cuda && device.gpus.size() > 1)
        return fmt::format("method '{}' takes one GPU as yet; use {}", method,
                           spelled("device", fmt::format("cuda:{}", device.gpus.front())));
    if (options.guaranteed) return why_no_bounds(method);
    if (options.dipoles) return fmt::format("method '{}' has no dipoles; leave them out", method);
    if (options.outputs.has(Output::hessian))
        return fmt::format("method '{}' has no output 'hessian'; leave it out", method);
    if (problem.precision != Precision::float64 && problem.precision != Precision::automatic)
        return fmt::format("method '{}' computes in double; leave {} out", method,
                           spelled("precision", name_of(problem.precision)));
    if (options.variant != Variant::automatic)
        return fmt::format("{} is a rung of method 'direct'; leave it out",
                           spelled("variant", name_of(options.variant)));
    if (problem.tolerance > 0.0 && problem.tolerance < least_lattice_tolerance)
        return fmt::format("{} is less than {:g}, the least that periodic sums keep",
                           spelled("tolerance", fmt::format("{:g}", problem.tolerance)),
                           least_lattice_tolerance);
    if (problem.sources >= std::int64_t{1} << 31 || problem.targets >= std::int64_t{1} << 31)
        return fmt::format("method '{}' takes fewer than 2147483648 points", method);
    return {};
}

void LatticeTerms::add(std::span<const double> strengths, std::span<const std::int64_t> own,
                       std::span<const NearSum::Coincidence> coincidences, std::int64_t targets,
                       const LatticeResults& results) const {
    if (!coincidences.empty() && coincident == Coincident::error)
        refuse_coincident(self, coincidences.front().target, coincidences.front().source, false);
    if (results.potential == nullptr) return;
    const double at_zero = splitting.smooth_part_at_zero();
    const double background = total_strength(strengths).sum * splitting.near_integral() / frame.volume();
    for (std::int64_t i = 0; i < targets; ++i) {
        const auto source = own.empty() ? i : own[static_cast<std::size_t>(i)];
        const double self_part = source >= 0 ? at_zero * strengths[static_cast<std::size_t>(source)] : 0.0;
        results.potential[i] -= self_part + background;
    }
    for (const auto& [target, source] : coincidences)
        results.potential[target] -= at_zero * strengths[static_cast<std::size_t>(source)];
}

void LatticeTerms::add_vacuum(std::span<const double> sources, std::span<const double> targets,
                              std::span<const double> strengths, const LatticeResults& results) const {
    const double unit = frame.scale();
    const auto n = strengths.size();
    // about the first source, so that a box that lies far off loses no digits
    std::array<double, 3> origin{};
    for (std::size_t k = 0; k < 3 && n > 0; ++k) origin[k] = sources[k];
    std::array<CompensatedSum, 4> moments;
    for (std::size_t j = 0; j < n; ++j) {
        double square = 0.0;
        for (std::size_t k = 0; k < 3; ++k) {
            const double y = unit * (sources[3 * j + k] - origin[k]);
            moments[k].add(strengths[j] * y);
            square += y * y;
        }
        moments[3].add(strengths[j] * square);
    }
    const double factor = 4.0 * std::numbers::pi / (3.0 * frame.volume());
    for (std::size_t i = 0; i < targets.size() / 3; ++i) {
        double along = 0.0;
        for (std::size_t k = 0; k < 3; ++k) {
            along += unit * (targets[3 * i + k] - origin[k]) * moments[k].value();
            if (results.field != nullptr) results.field[3 * i + k] -= factor * moments[k].value();
        }
        if (results.potential != nullptr) results.potential[i] += factor * (along - 0.5 * moments[3].value());
    }
}

} // namespace farfield
