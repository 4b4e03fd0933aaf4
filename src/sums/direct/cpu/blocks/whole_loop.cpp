// The pair loop of one target block with all its sources for what is rare: second derivatives and
// dipoles. Targets are lanes, sources are broadcast one after the other. Compiled once for each instruction
// set. Sums of `chain` sources are kept in the precision of the sum and then added to doubles.
#include "backend/simd/lane_totals.h"
#include "backend/simd/value.h"
#include "math/pack.h"
#include "sums/direct/cpu/pair_values.h"
#include "sums/kernels/inverse_distance_whole.h"

#include <algorithm>

namespace farfield {
namespace {

constexpr std::int64_t chain = 256;

template <class T, bool Mixed, bool Dipoles, bool Hessian, class Formula>
class WholeLoop {
    using V = Pack<Value<T>, 1>;
    using O = Ops<V>;
    using Sums = WholeSums<V>;
    static constexpr int width = O::width;
    static constexpr int numbers = Hessian ? Sums::numbers : 4;

    /// A lane beyond the block's end repeats its last target.
    struct Targets {
        alignas(64) T high[3][width];
        alignas(64) T low[Mixed ? 3 : 1][width];
    };

    struct Totals {
        double of[numbers][width] = {};
    };

    const BlockTile& tile_;
    const V softening2_;

    Position<V, Mixed> targets_from(std::int64_t place) const {
        Targets targets; // NOLINT(*-member-init): filled below
        for (std::int64_t lane = 0; lane < width; ++lane) {
            const auto index =
                tile_.block.begin + std::min<std::int64_t>(place + lane, tile_.block.size() - 1);
            for (int k = 0; k < 3; ++k) {
                targets.high[k][lane] = static_cast<const T*>(tile_.targets.high[k])[index];
                if constexpr (Mixed)
                    targets.low[k][lane] = static_cast<const T*>(tile_.targets.low[k])[index];
            }
        }
        Position<V, Mixed> out; // NOLINT(*-member-init): filled below
        for (int k = 0; k < 3; ++k) {
            out.high[k] = O::load(targets.high[k]);
            if constexpr (Mixed) out.low[k] = O::load(targets.low[k]);
        }
        if constexpr (!Mixed) out.low[0] = O::set(T(0)); // never read; compilers cannot see that
        return out;
    }

    // With `Own` the source numbered `own` + lane is left out for that lane.
    template <bool Own>
    FF_INLINE void add_sources(const Position<V, Mixed>& x, std::int64_t begin, std::int64_t end,
                               std::int64_t own, Sums& sums) const {
        const auto broadcast = [](const T* p) FF_INLINE_LAMBDA { return O::set(*p); };
        const auto* strengths = static_cast<const T*>(tile_.sources.strength);
        for (auto j = begin; j < end; ++j) {
            const auto y = read_position<V, Mixed, T>(tile_.sources, j, broadcast);
            V d[3];
            subtract(x, y, d);
            V inverse = Formula::inverse(square_distance(d, softening2_));
            if constexpr (Own) inverse = O::without_lane(inverse, static_cast<T>(j - own));
            const V q = O::set(strengths[j]);
            if constexpr (Dipoles) {
                V p[3];
                for (int k = 0; k < 3; ++k)
                    p[k] = broadcast(static_cast<const T*>(tile_.sources.dipole[k]) + j);
                Formula::template add_both<Hessian>(d, inverse, q, p, sums);
            } else {
                Formula::template add_charge<Hessian>(d, inverse, q, sums);
            }
        }
    }

    static void add(const Sums& sums, Totals& totals) {
        alignas(64) T lanes[numbers][width];
        for (int n = 0; n < numbers; ++n) O::store(lanes[n], sums.all[n]);
        add_scaled(&lanes[0][0], 1.0, numbers * width, &totals.of[0][0]);
    }

    // `place` of the first target in the block.
    void add_range(const Position<V, Mixed>& x, BlockRange range, bool is_own, std::int64_t place,
                   Totals& totals) const {
        const std::int64_t own = range.begin + place;
        for (std::int64_t begin = range.begin; begin < range.end; begin += chain) {
            const auto end = std::min<std::int64_t>(begin + chain, range.end);
            Sums sums; // NOLINT(*-member-init): filled below
            for (auto& sum : sums.all) sum = O::set(T(0));
            const auto own_begin = is_own ? std::clamp(own, begin, end) : end;
            const auto own_end = is_own ? std::clamp(own + width, begin, end) : end;
            for (int part = 0; part < 2; ++part) { // before and after the own ones
                add_sources<false>(x, part == 0 ? begin : own_end, part == 0 ? own_begin : end, 0, sums);
                if (part == 0) add_sources<true>(x, own_begin, own_end, own, sums);
            }
            add(sums, totals);
        }
    }

    void add_to_targets(const Totals& totals, std::int64_t place) const {
        const auto count = std::min<std::int64_t>(width, tile_.block.size() - place);
        const auto add_number = [&](double* sums, int number, bool diagonal) {
            if (sums == nullptr) return;
            for (std::int64_t lane = 0; lane < count; ++lane) {
                const double trace = diagonal ? totals.of[numbers - 1][lane] : 0.0;
                sums[tile_.block.begin + place + lane] += totals.of[number][lane] - trace;
            }
        };
        add_number(tile_.sums.potential, 0, false);
        for (int k = 0; k < 3; ++k) add_number(tile_.sums.field[k], 1 + k, false);
        if constexpr (Hessian)
            for (int k = 0; k < 6; ++k) add_number(tile_.sums.hessian[k], 4 + k, k == 0 || k == 3 || k == 5);
    }

public:
    explicit WholeLoop(const BlockTile& tile)
        : tile_(tile), softening2_(O::set(static_cast<T>(tile.softening2))) {}

    void run() const {
        for (std::int64_t place = 0; place < tile_.block.size(); place += width) {
            const auto x = targets_from(place);
            Totals totals;
            for (std::int64_t s = 0; s < tile_.source_count; ++s)
                add_range(x, tile_.sources_of_block[s].range, tile_.own && s == 0, place, totals);
            add_to_targets(totals, place);
        }
    }
};

template <class T, bool Mixed>
void run_whole(const BlockTile& tile) {
    const bool hessian = tile.sums.hessian[0] != nullptr;
    if (tile.sources.dipole[0] == nullptr)
        WholeLoop<T, Mixed, false, true, WholeInverseDistance>(tile).run();
    else if (hessian)
        WholeLoop<T, Mixed, true, true, WholeInverseDistance>(tile).run();
    else
        WholeLoop<T, Mixed, true, false, WholeInverseDistance>(tile).run();
}

} // namespace
} // namespace farfield

extern "C" void FF_ISA_ENTRY(ff_whole)(farfield::Precision precision, const farfield::BlockTile* tile) {
    if (precision == farfield::Precision::float64)
        farfield::run_whole<double, false>(*tile);
    else if (precision == farfield::Precision::float32)
        farfield::run_whole<float, false>(*tile);
    else
        farfield::run_whole<float, true>(*tile);
}
