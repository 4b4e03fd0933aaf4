// Pair loop of field and jerk, in double: a register tile of targets, sources broadcast one after the other.
// Compiled once for each instruction set.
#include "backend/simd/value.h"
#include "math/pack.h"
#include "sums/direct/pair_values.h"

#include <algorithm>

namespace farfield {
namespace {

constexpr int target_vectors = 2;

template <class Formula>
class JerkLoop {
    using V = Pack<Value<double>, target_vectors>;
    using O = Ops<V>;
    static constexpr int width = O::width;

    struct Sums {
        V potential = O::set(0.0);
        V field[3] = {O::set(0.0), O::set(0.0), O::set(0.0)};
        V jerk[3] = {O::set(0.0), O::set(0.0), O::set(0.0)};
    };

    struct Motion {
        Position<V, false> x;
        V v[3];
    };

    using Factors = typename Formula::template Factors<V, true>;
    const JerkTile& tile_;
    const V softening2_;

    template <class Read>
    FF_INLINE Motion motion(std::int64_t index, Read read) const {
        Motion out; // NOLINT(*-member-init): filled below
        out.x = read_position<V, false, double>(tile_.points, index, read);
        for (int k = 0; k < 3; ++k) out.v[k] = read(tile_.velocity[k] + index);
        return out;
    }

    // With `Diagonal` the source numbered `first` + lane is left out for that lane.
    template <bool Diagonal>
    FF_INLINE void add_sources(const Motion& own, std::int64_t first, std::int64_t begin, std::int64_t end,
                               Sums& sums) const {
        const auto broadcast = [](const double* p) FF_INLINE_LAMBDA { return O::set(*p); };
        for (auto j = begin; j < end; ++j) {
            const auto other = motion(j, broadcast);
            V d[3];
            subtract(own.x, other.x, d);
            const V r2 = square_distance(d, softening2_);
            const V q = O::set(static_cast<const double*>(tile_.points.strength)[j]);
            V v[3];
            for (int k = 0; k < 3; ++k) v[k] = own.v[k] - other.v[k];
            const V rv = O::fma(d[0], v[0], O::fma(d[1], v[1], d[2] * v[2]));
            auto [terms, radial] = Formula::of_moving_source(r2, q, rv);
            if constexpr (Diagonal) {
                const auto lane = static_cast<double>(j - first);
                terms.potential = O::without_lane(terms.potential, lane);
                terms.weight = O::without_lane(terms.weight, lane);
                radial = O::without_lane(radial, lane);
            }
            sums.potential = sums.potential + terms.potential;
            for (int k = 0; k < 3; ++k) {
                sums.field[k] = O::fma(terms.weight, d[k], sums.field[k]);
                sums.jerk[k] = O::fma(terms.weight, O::fnma(radial, d[k], v[k]), sums.jerk[k]);
            }
        }
    }

    void store(const V& value, double scale, std::int64_t first, double* out) const {
        double numbers[width];
        O::store(numbers, value);
        const auto count = std::min<std::int64_t>(width, tile_.target_end - first);
        for (std::int64_t k = 0; k < count; ++k) out[first + k] = scale * numbers[k];
    }

public:
    explicit JerkLoop(const JerkTile& tile) : tile_(tile), softening2_(O::set(tile.softening2)) {}

    void run() const {
        for (auto first = tile_.target_begin; first < tile_.target_end; first += width) {
            const auto own = motion(first, [](const double* p) FF_INLINE_LAMBDA { return O::load(p); });
            const auto n = tile_.points.count;
            const auto own_end = std::min<std::int64_t>(first + width, n);
            Sums sums;
            add_sources<false>(own, first, 0, first, sums);
            add_sources<true>(own, first, first, own_end, sums);
            add_sources<false>(own, first, own_end, n, sums);
            store(sums.potential, Factors::potential, first, tile_.potential);
            for (int k = 0; k < 3; ++k) {
                store(sums.field[k], Factors::weight, first, tile_.field[k]);
                store(sums.jerk[k], Factors::weight, first, tile_.jerk[k]);
            }
        }
    }
};

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_jerk)(const farfield::JerkTile* tile) {
    farfield::JerkLoop<farfield::InverseDistance>(*tile).run();
}
