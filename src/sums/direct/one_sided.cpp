// One-sided pair loop: a register tile of targets, sources broadcast one after the other. Compiled once for
// each instruction set. Sums of `source_block` sources are kept in the precision of the sum and then added to
// doubles, so that the rounding error does not grow with the number of sources.
#include "backend/simd/value.h"
#include "math/pack.h"
#include "sums/direct/pair_values.h"

#include <algorithm>

namespace farfield {
namespace {

constexpr std::int64_t source_block = 256;
constexpr int target_vectors = 2;

template <class Formula, class T, bool Mixed, int Wanted>
class OneSidedLoop {
    using V = Pack<Value<T>, target_vectors>;
    using O = Ops<V>;
    static constexpr int width = O::width;
    static constexpr bool potential_wanted = (Wanted & potential_only) != 0;
    static constexpr bool field_wanted = (Wanted & field_only) != 0;

    struct Sums {
        V potential = O::set(T(0));
        V field[3] = {O::set(T(0)), O::set(T(0)), O::set(T(0))};
    };

    struct Totals {
        double potential[width] = {};
        double field[3][width] = {};
    };

    const OneSidedTile& tile_;
    const V softening2_;

    // With `Diagonal` the source numbered `first_target` + lane is left out for that lane.
    template <bool Diagonal>
    FF_INLINE void add_sources(const Position<V, Mixed>& x, std::int64_t first_target, std::int64_t begin,
                               std::int64_t end, Sums& sums) const {
        const auto broadcast = [](const T* p) FF_INLINE_LAMBDA { return O::set(*p); };
        const auto* strengths = static_cast<const T*>(tile_.sources.strength);
        for (auto j = begin; j < end; ++j) {
            const auto y = read_position<V, Mixed, T>(tile_.sources, j, broadcast);
            V d[3];
            subtract(x, y, d);
            const V r2 = square_distance(d, softening2_);
            const V q = O::set(strengths[j]);
            auto terms = Formula::template of_source<potential_wanted>(r2, q);
            const auto own = static_cast<T>(j - first_target);
            if constexpr (potential_wanted) {
                if constexpr (Diagonal) terms.potential = O::without_lane(terms.potential, own);
                sums.potential = sums.potential + terms.potential;
            }
            if constexpr (Diagonal) terms.weight = O::without_lane(terms.weight, own);
            if constexpr (field_wanted)
                for (int k = 0; k < 3; ++k) sums.field[k] = O::fma(terms.weight, d[k], sums.field[k]);
        }
    }

    FF_INLINE static void add(const V& value, double* totals) {
        alignas(64) T numbers[width];
        O::store(numbers, value);
        for (int k = 0; k < width; ++k) totals[k] += static_cast<double>(numbers[k]);
    }

    static void add(const Sums& sums, Totals& totals) {
        if constexpr (potential_wanted) add(sums.potential, totals.potential);
        if constexpr (field_wanted)
            for (int k = 0; k < 3; ++k) add(sums.field[k], totals.field[k]);
    }

    void run_targets(std::int64_t first) const {
        const auto x = read_position<V, Mixed, T>(tile_.targets, first,
                                                  [](const T* p) FF_INLINE_LAMBDA { return O::load(p); });
        Totals totals;
        for (auto begin = tile_.source_begin; begin < tile_.source_end; begin += source_block) {
            const auto end = std::min(begin + source_block, tile_.source_end);
            Sums sums;
            if (tile_.self) {
                const auto own_begin = std::clamp(first, begin, end);
                const auto own_end = std::clamp(first + width, begin, end);
                add_sources<false>(x, first, begin, own_begin, sums);
                add_sources<true>(x, first, own_begin, own_end, sums);
                add_sources<false>(x, first, own_end, end, sums);
            } else {
                add_sources<false>(x, first, begin, end, sums);
            }
            add(sums, totals);
        }
        using Factors = typename Formula::template Factors<Value<T>, potential_wanted>;
        const auto count = std::min<std::int64_t>(width, tile_.target_end - first);
        for (std::int64_t k = 0; k < count; ++k) {
            if constexpr (potential_wanted)
                tile_.sums.potential[first + k] = Factors::potential * totals.potential[k];
            if constexpr (field_wanted)
                for (int c = 0; c < 3; ++c)
                    tile_.sums.field[c][first + k] = Factors::weight * totals.field[c][k];
        }
    }

public:
    explicit OneSidedLoop(const OneSidedTile& tile)
        : tile_(tile), softening2_(O::set(static_cast<T>(tile.softening2))) {}

    void run() const {
        for (auto first = tile_.target_begin; first < tile_.target_end; first += width) run_targets(first);
    }
};

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_one_sided)(farfield::Precision precision, farfield::LoopOutputs outputs,
                                           const farfield::OneSidedTile* tile) {
    farfield::with_types(precision, outputs, [&](auto number, auto mixed, auto wanted) {
        farfield::OneSidedLoop<farfield::InverseDistance, decltype(number), decltype(mixed)::value,
                               decltype(wanted)::value>(*tile)
            .run();
    });
}
