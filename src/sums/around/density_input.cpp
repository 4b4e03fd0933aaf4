#include "sums/around/density_input.h"

#include "base/spelling.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <cstddef>

namespace farfield {
void check_density_options(const DensityPoints& given, const DensityOptions& options) {
    const auto& sum = options.sum;
    if (sum.kernel != Kernel::gauss)
        throw InvalidArgument(fmt::format("a density is a sum of Gaussians, and kernel '{}' is none; use {}",
                                          name_of(sum.kernel), spelled("kernel", "gauss")));
    const bool by_rule = options.bandwidth != BandwidthRule::sigma;
    if (by_rule && sum.sigma != 0.0)
        throw InvalidArgument(fmt::format("{} is given, and the rule '{}' finds a width of its own; leave "
                                          "one of them out",
                                          spelled("sigma", fmt::format("{}", sum.sigma)),
                                          name_of(options.bandwidth)));
    const bool own_widths = is_there(given.sigmas);
    if (own_widths && (by_rule || sum.sigma != 0.0))
        throw InvalidArgument(fmt::format("every point has a width sigma of its own; leave these, or {}, out",
                                          by_rule ? fmt::format("the rule '{}'", name_of(options.bandwidth))
                                                  : spelled("sigma", fmt::format("{}", sum.sigma))));
    if (!by_rule && !own_widths && !(sum.sigma > 0.0))
        throw InvalidArgument(fmt::format("a density with a given width needs {}, the width > 0; give it, or "
                                          "take the rule 'scott' or 'silverman'",
                                          spelled("sigma")));
    if (sum.self_term == SelfTerm::exclude && is_there(given.targets))
        throw InvalidArgument(fmt::format("{} leaves out each point at its own place and is for targets that "
                                          "are the points; leave it, or the targets, out",
                                          spelled("self_term", name_of(sum.self_term))));
}

DensityInput read_density_input(const DensityPoints& given) {
    DensityInput out;
    out.dimension = dimension_of(given.points);
    out.self = !is_there(given.targets);
    out.points = read_rows(given.points, out.dimension, "points");
    const auto n = given.points.shape[0];
    out.weights = is_there(given.weights) ? read_numbers(given.weights, n, "weights", 1)
                                          : std::vector<double>(static_cast<std::size_t>(n), 1.0);
    if (is_there(given.sigmas)) out.sigmas = read_numbers(given.sigmas, n, "sigmas", 1);
    if (!out.self) out.targets = read_rows(given.targets, out.dimension, "targets");
    return out;
}

OtherWeights::OtherWeights(std::span<const double> weights, const WeightSums& sums)
    : weights_(weights), sums_(sums) {
    for (std::size_t i = 0; i < weights.size(); ++i)
        if (static_cast<std::int64_t>(i) != sums.heaviest) without_heaviest_ += weights[i];
    constexpr long double least_share = 1e-290L; // of what a double holds beside all of it
    if (!(without_heaviest_ > least_share * sums.sum))
        throw InvalidArgument(
            fmt::format("row {} has all the weight, and without itself the density there is "
                        "that of no points; leave {} out",
                        sums.heaviest, spelled("self_term", "exclude")));
}

} // namespace farfield
