#include "sums/around/density_input.h"

#include "backend/cuda/host_copy.h"
#include "base/arrays.h"
#include "base/spelling.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace farfield {
namespace {

std::vector<double> read_rows(const ConstArrayView& view, int dimension, std::string_view what) {
    check_points(view, what, dimension);
    auto out = cuda::host_copy(view, view.shape[0], dimension);
    for (std::size_t i = 0; i < out.size(); ++i)
        if (!std::isfinite(out[i])) refuse_coordinate(what, static_cast<std::int64_t>(i), out[i], dimension);
    return out;
}

std::vector<double> read_weights(const ConstArrayView& view, std::int64_t n) {
    if (!is_there(view)) return std::vector<double>(static_cast<std::size_t>(n), 1.0);
    check_values(view, n, "weights");
    auto out = cuda::host_copy(view, n, 1);
    for (std::size_t i = 0; i < out.size(); ++i)
        if (!std::isfinite(out[i])) refuse_strength("weights", static_cast<std::int64_t>(i), out[i]);
    return out;
}

} // namespace

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
    if (!by_rule && !(sum.sigma > 0.0))
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
    out.dimension = static_cast<int>(
        std::clamp<std::int64_t>(given.points.ndim == 2 ? given.points.shape[1] : 1, 1, most_dimensions));
    out.self = !is_there(given.targets);
    out.points = read_rows(given.points, out.dimension, "points");
    out.weights = read_weights(given.weights, given.points.shape[0]);
    if (!out.self) out.targets = read_rows(given.targets, out.dimension, "targets");
    return out;
}

OtherWeights::OtherWeights(std::span<const double> weights, const WeightSums& sums)
    : weights_(weights), sums_(sums) {
    for (std::size_t i = 0; i < weights.size(); ++i)
        if (static_cast<std::int64_t>(i) != sums.heaviest) without_heaviest_ += weights[i];
    if (!(without_heaviest_ > 0))
        throw InvalidArgument(
            fmt::format("row {} has all the weight, and without itself the density there is "
                        "that of no points; leave {} out",
                        sums.heaviest, spelled("self_term", "exclude")));
}

} // namespace farfield
