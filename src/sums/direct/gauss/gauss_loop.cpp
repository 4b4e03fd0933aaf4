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

/// Registers of targets at a time: more would not leave room for their sums.
constexpr int most_side_by_side(int dimension, int vectors) {
    if (vectors > 1) return 1;
    return dimension <= 3 && vector_registers > 16 ? 4 : 2;
}

/// Sums of a group of targets at most: of four vectors of strengths, or of four registers.
template <class T>
inline constexpr int most_numbers = (1 + most_dimensions) * 4 * Ops<Value<T>>::width;
static_assert(gauss_vectors_at_once == 4);

/// Some registers of targets, and their sums, lanes after lanes.
template <class T>
struct GaussGroup { // NOLINT(*-member-init): as many numbers as there are lanes are filled by load
    int lanes = 0;
    std::int64_t first = 0;
    int numbers = 0;          ///< sums in all
    std::int64_t pending = 0; ///< terms in `sums`
    alignas(64) T x[most_dimensions * 4 * Ops<Value<T>>::width];
    alignas(64) T low[most_dimensions * 4 * Ops<Value<T>>::width];
    alignas(64) T sums[most_numbers<T>];
    double totals[most_numbers<T>];

    void flush() {
        add_scaled(sums, 1.0, numbers, totals);
        std::fill_n(sums, numbers, T(0));
        pending = 0;
    }
};

/// What the innermost loop reads of the sources.
template <class T>
struct GaussSources {
    const T* x[most_dimensions];
    const T* low[most_dimensions];
    const T* strength[gauss_vectors_at_once];
    double sigma;
};

template <class T>
using AddRun = void (*)(const GaussSources<T>&, std::int64_t begin, std::int64_t end, GaussGroup<T>&);

/// Sources [begin, end) with N registers of targets: the innermost loop, with the sums in registers. It alone
/// is compiled for each number of dimensions, vectors and registers; all around it is compiled once for each
/// type.
template <class T, bool mixed, int D, int K, bool with_gradient, int N>
[[gnu::noinline]] void add_run(const GaussSources<T>& sources, std::int64_t begin, std::int64_t end,
                               GaussGroup<T>& group) {
    using V = Value<T>;
    using P = Pack<V, N>;
    using O = Ops<P>;
    constexpr int columns = with_gradient ? 1 + D : 1; // numbers a target and vector
    const GaussTerm<V, N> term(sources.sigma);
    P x[D], low[D], sums[K][columns]; // NOLINT(*-member-init): filled below
    for (int k = 0; k < D; ++k) {
        x[k] = O::load(group.x + k * O::width);
        if constexpr (mixed) low[k] = O::load(group.low + k * O::width);
    }
    for (int v = 0; v < K; ++v)
        for (int c = 0; c < columns; ++c) sums[v][c] = O::load(group.sums + (v * columns + c) * O::width);
    for (auto j = begin; j < end; ++j) {
        P d[D];
        P r2; // NOLINT(*-member-init): filled below
        for (int k = 0; k < D; ++k) {
            d[k] = x[k] - O::set(sources.x[k][j]);
            if constexpr (mixed) d[k] = d[k] + (low[k] - O::set(sources.low[k][j]));
            r2 = k == 0 ? d[k] * d[k] : O::fma(d[k], d[k], r2);
        }
        const P weight = term(r2);
        for (int v = 0; v < K; ++v) {
            if constexpr (!with_gradient) {
                sums[v][0] = O::fma(O::set(sources.strength[v][j]), weight, sums[v][0]);
            } else {
                const P weighted = O::set(sources.strength[v][j]) * weight;
                sums[v][0] = sums[v][0] + weighted;
                for (int k = 0; k < D; ++k) sums[v][1 + k] = O::fma(weighted, d[k], sums[v][1 + k]);
            }
        }
    }
    for (int v = 0; v < K; ++v)
        for (int c = 0; c < columns; ++c) O::store(group.sums + (v * columns + c) * O::width, sums[v][c]);
}

/// The innermost loops for 1, 2 and 4 registers of targets; null where fewer are used.
template <class T>
struct GaussRuns {
    AddRun<T> one, two, four;
};

template <class T, bool mixed, int D, int K, bool with_gradient>
GaussRuns<T> runs_of() {
    constexpr int most = most_side_by_side(D, K);
    GaussRuns<T> runs{&add_run<T, mixed, D, K, with_gradient, 1>, nullptr, nullptr};
    if constexpr (most >= 2) runs.two = &add_run<T, mixed, D, K, with_gradient, 2>;
    if constexpr (most >= 4) runs.four = &add_run<T, mixed, D, K, with_gradient, 4>;
    return runs;
}

/// All around the innermost loop.
template <class T>
class GaussLoop {
    static constexpr std::int64_t width = Ops<Value<T>>::width;
    const GaussTile& tile_;
    GaussSources<T> sources_;
    GaussRuns<T> runs_;
    bool mixed_;
    int columns_;

    static const T* numbers(const void* values) { return static_cast<const T*>(values); }

    void load(GaussGroup<T>& group) const {
        for (int k = 0; k < tile_.dimension; ++k) {
            std::copy_n(numbers(tile_.targets.high[k]) + group.first, group.lanes, group.x + k * group.lanes);
            if (mixed_)
                std::copy_n(numbers(tile_.targets.low[k]) + group.first, group.lanes,
                            group.low + k * group.lanes);
        }
        std::fill_n(group.sums, group.numbers, T(0));
        std::fill_n(group.totals, group.numbers, 0.0);
    }

    void add_sources(AddRun<T> add, std::int64_t begin, std::int64_t end, GaussGroup<T>& group) const {
        while (begin < end) {
            const auto stop = std::min(end, begin + gauss_block - group.pending);
            add(sources_, begin, stop, group);
            group.pending += stop - begin;
            begin = stop;
            if (group.pending == gauss_block) group.flush();
        }
    }

    /// Source j is a target of the group too, which it does not act on: there that target is moved so far
    /// away that the Gaussian is exactly 0.
    void add_own(AddRun<T> add, std::int64_t j, GaussGroup<T>& group) const {
        T& x = group.x[j - group.first];
        const T there = std::exchange(x, std::copysign(T(far_from_gaussians), -x));
        add_sources(add, j, j + 1, group);
        x = there;
    }

    /// The sources of a range in three parts; targets of the group are in the middle one.
    void add_range(AddRun<T> add, const BlockRange& range, GaussGroup<T>& group) const {
        const std::int64_t end = range.end;
        const std::int64_t first = tile_.without_own ? group.first : end;
        const auto from = std::clamp<std::int64_t>(first, range.begin, end);
        const auto to = std::clamp<std::int64_t>(first + group.lanes, range.begin, end);
        add_sources(add, range.begin, from, group);
        for (auto j = from; j < to; ++j) add_own(add, j, group);
        add_sources(add, to, end, group);
    }

    void store(const GaussGroup<T>& group) const {
        const double factor = -1.0 / (tile_.sigma * tile_.sigma);
        const auto count = std::min<std::int64_t>(group.lanes, tile_.block.end - group.first);
        for (int v = 0; v < tile_.vectors; ++v) {
            const double* totals = group.totals + v * columns_ * group.lanes;
            if (tile_.potential[v] != nullptr)
                add_scaled(totals, 1.0, count, tile_.potential[v] + group.first);
            for (int k = 0; k + 1 < columns_ && tile_.gradient[v][0] != nullptr; ++k)
                add_scaled(totals + (1 + k) * group.lanes, factor, count, tile_.gradient[v][k] + group.first);
        }
    }

    void run_group(AddRun<T> add, int registers, std::int64_t first) const {
        GaussGroup<T> group; // NOLINT(*-member-init): filled by load
        group.lanes = registers * Ops<Value<T>>::width;
        group.first = first;
        group.numbers = tile_.vectors * columns_ * group.lanes;
        load(group);
        for (std::int64_t r = 0; r < tile_.range_count; ++r) add_range(add, tile_.ranges[r], group);
        group.flush();
        store(group);
    }

public:
    GaussLoop(const GaussTile& tile, const GaussRuns<T>& runs, bool mixed, bool gradient)
        : tile_(tile), sources_{{}, {}, {}, tile.sigma}, runs_(runs), mixed_(mixed),
          columns_(gradient ? 1 + tile.dimension : 1) {
        for (int k = 0; k < tile.dimension; ++k) {
            sources_.x[k] = numbers(tile.sources.high[k]);
            sources_.low[k] = numbers(tile.sources.low[k]);
        }
        for (int v = 0; v < tile.vectors; ++v)
            sources_.strength[v] =
                numbers(tile.strengths[v] != nullptr ? tile.strengths[v] : tile.strengths[0]);
    }

    void run() const {
        auto first = std::int64_t{tile_.block.begin};
        if (runs_.four != nullptr)
            for (; tile_.block.end - first > 3 * width; first += 4 * width) run_group(runs_.four, 4, first);
        if (runs_.two != nullptr)
            for (; tile_.block.end - first > width; first += 2 * width) run_group(runs_.two, 2, first);
        for (; first < tile_.block.end; first += width) run_group(runs_.one, 1, first);
    }
};

template <class T, bool mixed, int D, int K>
void run_gauss(const GaussTile& tile, bool gradient) {
    const auto runs = gradient ? runs_of<T, mixed, D, K, true>() : runs_of<T, mixed, D, K, false>();
    GaussLoop<T>(tile, runs, mixed, gradient).run();
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
