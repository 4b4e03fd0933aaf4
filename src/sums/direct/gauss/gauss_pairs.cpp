#include "sums/direct/gauss/gauss_pairs.h"

#include "sums/direct/cpu/isa_function.h"

#include <algorithm>

namespace farfield {

GaussPairs::GaussPairs(const SumProblem& problem, Isa isa, int threads)
    : problem_(problem), isa_(isa), threads_(threads) {}

void GaussPairs::set_points(std::span<const double> sources, std::span<const double> targets,
                            const GaussFrame& frame, std::span<const std::int32_t> source_order,
                            std::span<const std::int32_t> target_order) {
    sigma_ = frame.sigma;
    const auto set = [&](auto& arrays) {
        const bool with_low = problem_.precision == Precision::mixed;
        arrays.sources.set(sources, problem_.dimension, frame, source_order, with_low, threads_);
        if (!problem_.self)
            arrays.targets.set(targets, problem_.dimension, frame, target_order, with_low, threads_);
    };
    if (is_wide(problem_.precision))
        set(doubles_);
    else
        set(floats_);
}

void GaussPairs::set_strengths(std::span<const double> strengths, std::int64_t vectors, int exponent,
                               std::span<const std::int32_t> source_order) {
    if (is_wide(problem_.precision))
        doubles_.strengths = gauss_strengths<double>(strengths, vectors, exponent, source_order, threads_);
    else
        floats_.strengths = gauss_strengths<float>(strengths, vectors, exponent, source_order, threads_);
}

template <class T>
void GaussPairs::add(const Arrays<T>& arrays, const BlockRange& block, std::span<const BlockRange> ranges,
                     GaussSums& sums) const {
    GaussTile tile{.dimension = problem_.dimension,
                   .targets = problem_.self ? arrays.sources.view() : arrays.targets.view(),
                   .sources = arrays.sources.view(),
                   .block = block,
                   .ranges = ranges.data(),
                   .range_count = static_cast<std::int64_t>(ranges.size()),
                   .without_own = problem_.without_own(),
                   .sigma = sigma_};
    const auto function = FF_ISA_FUNCTION(ff_gauss, isa_);
    for (std::int64_t first = 0; first < sums.vectors(); first += gauss_vectors_at_once) {
        const auto count = std::min<std::int64_t>(gauss_vectors_at_once, sums.vectors() - first);
        tile.vectors = count > 1 ? gauss_vectors_at_once : 1;
        for (std::int64_t v = 0; v < gauss_vectors_at_once; ++v) {
            const bool any = v < count;
            tile.strengths[v] = any ? arrays.strengths[static_cast<std::size_t>(first + v)].data() : nullptr;
            tile.potential[v] = any ? sums.potential(first + v) : nullptr;
            for (int k = 0; k < problem_.dimension; ++k)
                tile.gradient[v][k] = any ? sums.gradient(first + v, k) : nullptr;
        }
        function(problem_.precision, sums.with_gradient(), &tile);
    }
}

void GaussPairs::add(const BlockRange& block, std::span<const BlockRange> ranges, GaussSums& sums) const {
    if (is_wide(problem_.precision))
        add(doubles_, block, ranges, sums);
    else
        add(floats_, block, ranges, sums);
}

} // namespace farfield
