// Pairs of Gaussians, compiled once for each instruction set: targets side by side in registers, sources one
// after the other. Sums of some hundred terms are added up in double.
#include "backend/simd/lane_totals.h"
#include "backend/simd/value.h"
#include "sums/direct/gauss/gauss_tile.h"
#include "sums/kernels/gauss_term.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace farfield {
namespace {

/// Terms of a sum in the type of the loop.
constexpr std::int64_t gauss_block = 256;

template <class T, bool mixed, int D, int K, bool with_gradient>
class GaussLoop {
    using V = Value<T>;
    static constexpr int columns = with_gradient ? 1 + D : 1; ///< numbers a target and vector
    const GaussTile& tile_;
    const T* source_[D];
    const T* source_low_[D];
    const T* strength_[K];

    static const T* numbers(const void* values) { return static_cast<const T*>(values); }

    /// N registers of targets, and their sums.
    template <int N>
    struct Group {
        using P = Pack<V, N>;
        static constexpr int lanes = Ops<P>::width;
        std::int64_t first;
        P x[D], low[D];
        P sums[K][columns];
        double totals[K][columns][lanes] = {};
        std::int64_t pending = 0; ///< terms in `sums`

        FF_INLINE Group(const GaussTile& tile, std::int64_t at) : first(at) { // NOLINT(*-member-init)
            for (int k = 0; k < D; ++k) {
                x[k] = Ops<P>::load(numbers(tile.targets.high[k]) + at);
                if constexpr (mixed) low[k] = Ops<P>::load(numbers(tile.targets.low[k]) + at);
            }
            clear();
        }
        FF_INLINE void clear() {
            for (auto& vector : sums)
                for (auto& sum : vector) sum = Ops<P>::set(T(0));
        }
        FF_INLINE void flush() {
            alignas(64) T values[K][columns][lanes];
            for (int v = 0; v < K; ++v)
                for (int c = 0; c < columns; ++c) Ops<P>::store(values[v][c], sums[v][c]);
            add_scaled(&values[0][0][0], 1.0, K * columns * lanes, &totals[0][0][0]);
            clear();
            pending = 0;
        }
    };

    template <int N>
    FF_INLINE void add_source(const GaussTerm<V, N>& term, std::int64_t j, bool own, Group<N>& group) const {
        using P = Pack<V, N>;
        using O = Ops<P>;
        P d[D];
        P r2; // NOLINT(*-member-init): filled below
        for (int k = 0; k < D; ++k) {
            d[k] = group.x[k] - O::set(source_[k][j]);
            if constexpr (mixed) d[k] = d[k] + (group.low[k] - O::set(source_low_[k][j]));
            r2 = k == 0 ? d[k] * d[k] : O::fma(d[k], d[k], r2);
        }
        P weight = term(r2);
        if (own) weight = O::without_lane(weight, static_cast<T>(j - group.first));
        for (int v = 0; v < K; ++v) {
            if constexpr (!with_gradient) {
                group.sums[v][0] = O::fma(O::set(strength_[v][j]), weight, group.sums[v][0]);
            } else {
                const P weighted = O::set(strength_[v][j]) * weight;
                group.sums[v][0] = group.sums[v][0] + weighted;
                for (int k = 0; k < D; ++k)
                    group.sums[v][1 + k] = O::fma(weighted, d[k], group.sums[v][1 + k]);
            }
        }
    }

    template <int N>
    FF_INLINE void add_sources(const GaussTerm<V, N>& term, std::int64_t begin, std::int64_t end, bool own,
                               Group<N>& group) const {
        while (begin < end) {
            const auto stop = std::min(end, begin + gauss_block - group.pending);
            for (auto j = begin; j < stop; ++j) add_source<N>(term, j, own, group);
            group.pending += stop - begin;
            begin = stop;
            if (group.pending == gauss_block) group.flush();
        }
    }

    /// The sources of a range in three parts; targets of the group are in the middle one.
    template <int N>
    FF_INLINE void add_range(const GaussTerm<V, N>& term, const BlockRange& range, Group<N>& group) const {
        const std::int64_t end = range.end;
        const std::int64_t first = tile_.without_own ? group.first : end;
        const auto from = std::clamp<std::int64_t>(first, range.begin, end);
        const auto to = std::clamp<std::int64_t>(first + Group<N>::lanes, range.begin, end);
        for (int part = 0; part < 2; ++part) { // before and after the own ones
            add_sources<N>(term, part == 0 ? range.begin : to, part == 0 ? from : end, false, group);
            if (part == 0) add_sources<N>(term, from, to, true, group);
        }
    }

    template <int N>
    FF_INLINE void store(const Group<N>& group) const {
        const double factor = -1.0 / (tile_.sigma * tile_.sigma);
        const auto count = std::min<std::int64_t>(Group<N>::lanes, tile_.block.end - group.first);
        for (int v = 0; v < K; ++v) {
            if (tile_.potential[v] != nullptr)
                add_scaled(group.totals[v][0], 1.0, count, tile_.potential[v] + group.first);
            for (int k = 0; k < D && with_gradient && tile_.gradient[v][0] != nullptr; ++k)
                add_scaled(group.totals[v][(1 + k) % columns], factor, count,
                           tile_.gradient[v][k] + group.first);
        }
    }

    template <int N>
    void run_group(std::int64_t first) const {
        const GaussTerm<V, N> term(tile_.sigma);
        Group<N> group(tile_, first);
        for (std::int64_t r = 0; r < tile_.range_count; ++r) add_range<N>(term, tile_.ranges[r], group);
        group.flush();
        store<N>(group);
    }

public:
    explicit GaussLoop(const GaussTile& tile) : tile_(tile) { // NOLINT(*-member-init): filled below
        for (int k = 0; k < D; ++k) {
            source_[k] = numbers(tile.sources.high[k]);
            source_low_[k] = numbers(tile.sources.low[k]);
        }
        const void* any = tile.strengths[0];
        for (int v = 0; v < K; ++v)
            strength_[v] = numbers(tile.strengths[v] != nullptr ? tile.strengths[v] : any);
    }

    void run() const {
        // more targets side by side would not fit the registers
        constexpr int most = K > 1 ? 1 : D <= 3 && vector_registers > 16 ? 4 : 2;
        constexpr std::int64_t width = Ops<V>::width;
        auto first = std::int64_t{tile_.block.begin};
        for (; tile_.block.end - first > (most - 1) * width; first += most * width) run_group<most>(first);
        if constexpr (most > 2)
            for (; tile_.block.end - first > width; first += 2 * width) run_group<2>(first);
        for (; first < tile_.block.end; first += width) run_group<1>(first);
    }
};

template <class T, bool mixed, int D, int K>
void run_gauss(const GaussTile& tile, bool gradient) {
    if (gradient)
        GaussLoop<T, mixed, D, K, true>(tile).run();
    else
        GaussLoop<T, mixed, D, K, false>(tile).run();
}

template <class T, bool mixed, int D>
void run_gauss(const GaussTile& tile, bool gradient) {
    if (tile.dimension < D) {
        if constexpr (D > 1) run_gauss<T, mixed, D - 1>(tile, gradient);
    } else if (tile.vectors > 1) {
        run_gauss<T, mixed, D, gauss_vectors_at_once>(tile, gradient);
    } else {
        run_gauss<T, mixed, D, 1>(tile, gradient);
    }
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_gauss)(farfield::Precision precision, bool gradient,
                                       const farfield::GaussTile* tile) {
    constexpr int most = farfield::most_dimensions;
    if (precision == farfield::Precision::float64)
        farfield::run_gauss<double, false, most>(*tile, gradient);
    else if (precision == farfield::Precision::mixed)
        farfield::run_gauss<float, true, most>(*tile, gradient);
    else
        farfield::run_gauss<float, false, most>(*tile, gradient);
}
