// Pairs of Gaussians, compiled once for each instruction set: targets side by side in registers, sources one
// after the other. Sums of some hundred terms are added up in double.
#include "backend/simd/lane_totals.h"
#include "backend/simd/value.h"
#include "sums/direct/gauss/gauss_tile.h"
#include "sums/kernels/gauss_term.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace farfield {
namespace {

/// Terms of a sum in the type of the loop.
constexpr std::int64_t gauss_block = 256;

/// In the frame, where σ is about 1: Gaussians are 0 at this distance.
constexpr float far_from_gaussians = 1e18F;

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
        static constexpr int lanes = Ops<Pack<V, N>>::width;
        std::int64_t first;
        alignas(64) T x[D][lanes];
        alignas(64) T low[D][lanes];
        alignas(64) T sums[K][columns][lanes] = {};
        double totals[K][columns][lanes] = {};
        std::int64_t pending = 0; ///< terms in `sums`

        Group(const GaussTile& tile, std::int64_t at) : first(at) { // NOLINT(*-member-init)
            for (int k = 0; k < D; ++k) {
                std::copy_n(numbers(tile.targets.high[k]) + at, lanes, x[k]);
                if constexpr (mixed) std::copy_n(numbers(tile.targets.low[k]) + at, lanes, low[k]);
            }
        }
        void flush() {
            T* values = &sums[0][0][0];
            constexpr int count = K * columns * lanes;
            add_scaled(values, 1.0, count, &totals[0][0][0]);
            std::fill_n(values, count, T(0));
            pending = 0;
        }
    };

    /// Sources [begin, end), with the sums in registers. Not inlined: a second copy would double the time of
    /// compiling.
    template <int N>
    [[gnu::noinline]] void add_run(const GaussTerm<V, N>& term, std::int64_t begin, std::int64_t end,
                                   Group<N>& group) const {
        using P = Pack<V, N>;
        using O = Ops<P>;
        P x[D], low[D], sums[K][columns]; // NOLINT(*-member-init): filled below
        for (int k = 0; k < D; ++k) {
            x[k] = O::load(group.x[k]);
            if constexpr (mixed) low[k] = O::load(group.low[k]);
        }
        for (int v = 0; v < K; ++v)
            for (int c = 0; c < columns; ++c) sums[v][c] = O::load(group.sums[v][c]);
        for (auto j = begin; j < end; ++j) {
            P d[D];
            P r2; // NOLINT(*-member-init): filled below
            for (int k = 0; k < D; ++k) {
                d[k] = x[k] - O::set(source_[k][j]);
                if constexpr (mixed) d[k] = d[k] + (low[k] - O::set(source_low_[k][j]));
                r2 = k == 0 ? d[k] * d[k] : O::fma(d[k], d[k], r2);
            }
            const P weight = term(r2);
            for (int v = 0; v < K; ++v) {
                if constexpr (!with_gradient) {
                    sums[v][0] = O::fma(O::set(strength_[v][j]), weight, sums[v][0]);
                } else {
                    const P weighted = O::set(strength_[v][j]) * weight;
                    sums[v][0] = sums[v][0] + weighted;
                    for (int k = 0; k < D; ++k) sums[v][1 + k] = O::fma(weighted, d[k], sums[v][1 + k]);
                }
            }
        }
        for (int v = 0; v < K; ++v)
            for (int c = 0; c < columns; ++c) O::store(group.sums[v][c], sums[v][c]);
    }

    template <int N>
    void add_sources(const GaussTerm<V, N>& term, std::int64_t begin, std::int64_t end,
                     Group<N>& group) const {
        while (begin < end) {
            const auto stop = std::min(end, begin + gauss_block - group.pending);
            add_run<N>(term, begin, stop, group);
            group.pending += stop - begin;
            begin = stop;
            if (group.pending == gauss_block) group.flush();
        }
    }

    /// Source j is a target of the group too, which it does not act on: there that target is moved so far
    /// away that the Gaussian is exactly 0.
    template <int N>
    void add_own(const GaussTerm<V, N>& term, std::int64_t j, Group<N>& group) const {
        T& x = group.x[0][j - group.first];
        const T there = std::exchange(x, std::copysign(T(far_from_gaussians), -x));
        add_sources<N>(term, j, j + 1, group);
        x = there;
    }

    /// The sources of a range in three parts; targets of the group are in the middle one.
    template <int N>
    void add_range(const GaussTerm<V, N>& term, const BlockRange& range, Group<N>& group) const {
        const std::int64_t end = range.end;
        const std::int64_t first = tile_.without_own ? group.first : end;
        const auto from = std::clamp<std::int64_t>(first, range.begin, end);
        const auto to = std::clamp<std::int64_t>(first + Group<N>::lanes, range.begin, end);
        add_sources<N>(term, range.begin, from, group);
        for (auto j = from; j < to; ++j) add_own<N>(term, j, group);
        add_sources<N>(term, to, end, group);
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
