#include "sums/direct/cpu/scalar_rungs.h"

#include "sums/kernels/inverse_distance.h"

#include <algorithm>
#include <vector>

namespace farfield {
namespace {

template <class T, bool Mixed>
struct Body {
    T high[3];
    T low[Mixed ? 3 : 1];
    T strength;
};

template <class T>
struct Sums {
    T potential = T(0);
    T field[3] = {T(0), T(0), T(0)};
};

template <class T, bool Mixed>
std::vector<Body<T, Mixed>> gather_bodies(const TilePoints& points, bool with_strength) {
    std::vector<Body<T, Mixed>> bodies(static_cast<std::size_t>(points.count));
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        for (int k = 0; k < 3; ++k) {
            bodies[i].high[k] = static_cast<const T*>(points.high[k])[i];
            if constexpr (Mixed) bodies[i].low[k] = static_cast<const T*>(points.low[k])[i];
        }
        bodies[i].strength = with_strength ? static_cast<const T*>(points.strength)[i] : T(0);
    }
    return bodies;
}

template <class T>
void store(const OneSidedTile& tile, LoopOutputs outputs, std::int64_t i, const Sums<T>& sums) {
    if ((outputs & potential_only) != 0) tile.sums.potential[i] = static_cast<double>(sums.potential);
    if ((outputs & field_only) != 0)
        for (int k = 0; k < 3; ++k) tile.sums.field[k][i] = static_cast<double>(sums.field[k]);
}

template <class T>
void add_pair(const T d[3], T strength, T softening2, Sums<T>& sums) {
    const T r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening2;
    const auto terms = InverseDistance::written_down(r2, strength);
    sums.potential += terms.potential;
    for (int k = 0; k < 3; ++k) sums.field[k] += terms.weight * d[k];
}

/// Tells `watch` of every 256 targets; true once the sum is to be given up.
bool gives_up(const OneSidedTile& tile, std::int64_t target, WorkWatch* watch) {
    constexpr std::int64_t often = 256;
    if (watch == nullptr || target % often != 0) return false;
    watch->done(static_cast<double>(often) * static_cast<double>(tile.source_end - tile.source_begin));
    return watch->stopped();
}

template <class T, bool Mixed>
void naive(LoopOutputs outputs, const OneSidedTile& tile, WorkWatch* watch) {
    const auto targets = gather_bodies<T, Mixed>(tile.targets, false);
    const auto sources = gather_bodies<T, Mixed>(tile.sources, true);
    const T softening2 = static_cast<T>(tile.softening2);
    for (auto i = tile.target_begin; i < tile.target_end && !gives_up(tile, i, watch); ++i) {
        const auto& x = targets[static_cast<std::size_t>(i)];
        Sums<T> sums;
        for (auto j = tile.source_begin; j < tile.source_end; ++j) {
            if (tile.self && i == j) continue;
            const auto& y = sources[static_cast<std::size_t>(j)];
            T d[3];
            for (int k = 0; k < 3; ++k) {
                d[k] = x.high[k] - y.high[k];
                if constexpr (Mixed) d[k] = d[k] + (x.low[k] - y.low[k]);
            }
            add_pair(d, y.strength, softening2, sums);
        }
        store(tile, outputs, i, sums);
    }
}

constexpr int lanes = 16;

template <class T>
struct LaneSums {
    T potential[lanes] = {};
    T field[3][lanes] = {};
};

/// Targets `first` … `first` + lanes − 1 (padding makes them all readable) and sources [begin, end), none of
/// which is one of the targets. The loop over lanes has no branch and no sum across lanes: the compiler may
/// put it into vectors and still has to keep every bit.
template <class T, bool Mixed>
void add_lanes(const OneSidedTile& tile, std::int64_t first, std::int64_t begin, std::int64_t end,
               LaneSums<T>& sums) {
    const auto column = [](const void* p) { return static_cast<const T*>(p); };
    const T softening2 = static_cast<T>(tile.softening2);
    T x[3][lanes];
    T xl[3][lanes] = {};
    for (int k = 0; k < 3; ++k)
        for (int lane = 0; lane < lanes; ++lane) {
            x[k][lane] = column(tile.targets.high[k])[first + lane];
            if constexpr (Mixed) xl[k][lane] = column(tile.targets.low[k])[first + lane];
        }
    LaneSums<T> own = sums;
    for (auto j = begin; j < end; ++j) {
        const T q = column(tile.sources.strength)[j];
        T y[3];
        T yl[3] = {};
        for (int k = 0; k < 3; ++k) {
            y[k] = column(tile.sources.high[k])[j];
            if constexpr (Mixed) yl[k] = column(tile.sources.low[k])[j];
        }
        for (int lane = 0; lane < lanes; ++lane) {
            T d[3];
            for (int k = 0; k < 3; ++k) {
                d[k] = x[k][lane] - y[k];
                if constexpr (Mixed) d[k] = d[k] + (xl[k][lane] - yl[k]);
            }
            const T r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + softening2;
            const auto terms = InverseDistance::written_down(r2, q);
            own.potential[lane] += terms.potential;
            for (int k = 0; k < 3; ++k) own.field[k][lane] += terms.weight * d[k];
        }
    }
    sums = own;
}

template <class T, bool Mixed>
void soa(LoopOutputs outputs, const OneSidedTile& tile, WorkWatch* watch) {
    for (auto first = tile.target_begin; first < tile.target_end && !gives_up(tile, first, watch);
         first += lanes) {
        LaneSums<T> sums;
        const auto count = std::min<std::int64_t>(lanes, tile.target_end - first);
        // Sources before, among and after the targets, so that each target meets them in index order.
        const auto own_begin = tile.self ? first : tile.source_end;
        const auto own_end = tile.self ? first + count : tile.source_end;
        add_lanes<T, Mixed>(tile, first, tile.source_begin, own_begin, sums);
        for (auto j = own_begin; j < own_end; ++j) {
            LaneSums<T> with = sums;
            add_lanes<T, Mixed>(tile, first, j, j + 1, with);
            const auto skipped = j - first;
            with.potential[skipped] = sums.potential[skipped];
            for (int k = 0; k < 3; ++k) with.field[k][skipped] = sums.field[k][skipped];
            sums = with;
        }
        add_lanes<T, Mixed>(tile, first, own_end, tile.source_end, sums);
        for (int lane = 0; lane < count; ++lane)
            store(tile, outputs, first + lane,
                  Sums<T>{sums.potential[lane],
                          {sums.field[0][lane], sums.field[1][lane], sums.field[2][lane]}});
    }
}

} // namespace

void naive_sum(Precision precision, LoopOutputs outputs, const OneSidedTile& tile, WorkWatch* watch) {
    if (precision == Precision::float32) naive<float, false>(outputs, tile, watch);
    if (precision == Precision::float64) naive<double, false>(outputs, tile, watch);
    if (precision == Precision::mixed) naive<float, true>(outputs, tile, watch);
}

void soa_sum(Precision precision, LoopOutputs outputs, const OneSidedTile& tile, WorkWatch* watch) {
    if (precision == Precision::float32) soa<float, false>(outputs, tile, watch);
    if (precision == Precision::float64) soa<double, false>(outputs, tile, watch);
    if (precision == Precision::mixed) soa<float, true>(outputs, tile, watch);
}

} // namespace farfield
