// Mutual pair loop: each pair is computed once and acts on both. A few points j sit in registers together
// with their sums, a vector each; the points i and their sums stream by, vectors from the first-level cache.
// Lanes are only added up once for a j and a whole block of i, so the loop has no shuffles. Compiled once for
// each instruction set.
#include "backend/simd/value.h"
#include "math/pack.h"
#include "sums/direct/pair_values.h"

#include <algorithm>
#include <iterator>

namespace farfield {
namespace {

constexpr int group = vector_registers > 16 ? 4 : 2; ///< points j in registers
constexpr std::int64_t flush_after = 256;            ///< sources summed in the precision of the sum

template <class Formula, class T, bool Mixed, int Wanted>
class MutualLoop {
    using V = Value<T>;
    using P = Pack<V, group>;
    using O = Ops<V>;
    static constexpr bool potential_wanted = (Wanted & potential_only) != 0;
    static constexpr bool field_wanted = (Wanted & field_only) != 0;
    using Factors = typename Formula::template Factors<V, potential_wanted>;

    struct Block {
        alignas(64) T potential[potential_wanted ? mutual_block : 1];
        alignas(64) T field[3][field_wanted ? mutual_block : 1];
    };

    struct Sums {
        P potential = P::all(O::set(T(0)));
        P field[3] = {P::all(O::set(T(0))), P::all(O::set(T(0))), P::all(O::set(T(0)))};
    };

    const MutualTile& tile_;
    const P softening2_;

    FF_INLINE static P each(const T* p) {
        P out;
        for (int g = 0; g < group; ++g) out.v[g] = O::set(p[g]);
        return out;
    }

    static void clear(Block& block) {
        if constexpr (potential_wanted)
            std::fill(std::begin(block.potential), std::end(block.potential), T(0));
        if constexpr (field_wanted)
            for (auto& component : block.field) std::fill(std::begin(component), std::end(component), T(0));
    }

    // All points i with the `group` points from j on: sums of i in `block`, of j returned.
    FF_INLINE void add_group(std::int64_t j, Block& block, Sums& own) const {
        const auto* strengths = static_cast<const T*>(tile_.points.strength);
        const auto y = read_position<P, Mixed, T>(tile_.points, j, each);
        const P qj = each(strengths + j);
        const auto all = [](const T* p) FF_INLINE_LAMBDA { return P::all(O::load(p)); };
        for (auto i = tile_.i_begin; i < tile_.i_end; i += O::width) {
            const auto at = i - tile_.i_begin;
            const auto x = read_position<P, Mixed, T>(tile_.points, i, all);
            const P qi = all(strengths + i);
            P d[3];
            subtract(x, y, d);
            const P r2 = square_distance(d, softening2_);
            const auto terms = Formula::template of_unit<potential_wanted>(r2);
            if constexpr (potential_wanted) {
                V sum = O::load(block.potential + at);
                for (int g = 0; g < group; ++g) sum = O::fma(terms.potential.v[g], qj.v[g], sum);
                O::store(block.potential + at, sum);
                own.potential = Ops<P>::fma(terms.potential, qi, own.potential);
            }
            if constexpr (field_wanted) {
                const P on_i = terms.weight * qj;
                const P on_j = terms.weight * qi;
                for (int k = 0; k < 3; ++k) {
                    V sum = O::load(block.field[k] + at);
                    for (int g = 0; g < group; ++g) sum = O::fma(on_i.v[g], d[k].v[g], sum);
                    O::store(block.field[k] + at, sum);
                }
                for (int k = 0; k < 3; ++k) own.field[k] = Ops<P>::fma(on_j, d[k], own.field[k]);
            }
        }
    }

    // d points from j to i, so j gets the opposite of its sum.
    FF_INLINE void add_to_j(const Sums& own, std::int64_t j) const {
        const auto count = static_cast<int>(std::min<std::int64_t>(group, tile_.j_end - j));
        for (int g = 0; g < count; ++g) {
            if constexpr (potential_wanted)
                tile_.sums.potential[j + g] +=
                    Factors::potential * static_cast<double>(O::sum(own.potential.v[g]));
            if constexpr (field_wanted)
                for (int k = 0; k < 3; ++k)
                    tile_.sums.field[k][j + g] -=
                        Factors::weight * static_cast<double>(O::sum(own.field[k].v[g]));
        }
    }

    static void flush(const T* block, double factor, std::int64_t count, double* totals) {
        for (std::int64_t k = 0; k < count; ++k) totals[k] += factor * static_cast<double>(block[k]);
    }

    void add_to_i(const Block& block) const {
        const auto count = tile_.i_end - tile_.i_begin;
        if constexpr (potential_wanted)
            flush(block.potential, Factors::potential, count, tile_.sums.potential + tile_.i_begin);
        if constexpr (field_wanted)
            for (int k = 0; k < 3; ++k)
                flush(block.field[k], Factors::weight, count, tile_.sums.field[k] + tile_.i_begin);
    }

public:
    explicit MutualLoop(const MutualTile& tile)
        : tile_(tile), softening2_(P::all(O::set(static_cast<T>(tile.softening2)))) {}

    void run() const {
        Block block; // NOLINT(*-member-init): cleared below
        for (auto begin = tile_.j_begin; begin < tile_.j_end; begin += flush_after) {
            clear(block);
            const auto end = std::min(begin + flush_after, tile_.j_end);
            for (auto j = begin; j < end; j += group) {
                Sums own;
                add_group(j, block, own);
                add_to_j(own, j);
            }
            add_to_i(block);
        }
    }
};

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_mutual)(farfield::Precision precision, farfield::LoopOutputs outputs,
                                        const farfield::MutualTile* tile) {
    farfield::with_types(precision, outputs, [&](auto number, auto mixed, auto wanted) {
        farfield::MutualLoop<farfield::InverseDistance, decltype(number), decltype(mixed)::value,
                             decltype(wanted)::value>(*tile)
            .run();
    });
}
