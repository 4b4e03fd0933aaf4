// The pair loop of one target block with all its sources, over any pair formula. A few targets (`Group`) sit
// in registers, broadcast, together with their sums, a vector each; sources stream by as vectors. So a
// block's tail costs at most Group − 1 targets, and the sources of a whole list, copied one after the other,
// end in one vector that is not full. In a mutual loop the sources' sums stream by as well. A source that
// includes this is compiled once for each instruction set.
//
// A formula has a `dimension`, `columns` (numbers of a strength), Factors and `of_unit<with_potential>(r²)`:
// what a strength is multiplied by in the potential, and what multiplies x − y in the field. One that
// `takes_long` has one loop, which asks whether pairs are left out; others have one loop with and one
// without. A strength of two columns is complex: it has two potentials, and turns x − y. A formula that is
// made of a number has a core of that size.
#pragma once

#include "backend/simd/lane_totals.h"
#include "backend/simd/value.h"
#include "math/pack.h"
#include "sums/direct/cpu/blocks/block_stream.h"
#include "sums/direct/cpu/pair_values.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace farfield {
namespace {

inline constexpr std::int64_t flush_after =
    256; ///< targets that add to a streaming sum in the precision of the sum

template <class T, bool Mixed, int Wanted, bool Mutual, class Formula, int Group>
class BlockLoop {
    using V = Value<T>;
    static constexpr int group = Group;
    using P = Pack<V, group>;
    using O = Ops<V>;
    static constexpr int dimension = Formula::dimension;
    static constexpr int columns = Formula::columns;
    static constexpr std::int64_t width = O::width;
    static constexpr bool potential_wanted = (Wanted & potential_only) != 0;
    static constexpr bool field_wanted = (Wanted & field_only) != 0;
    /// Beside a long formula it is not felt.
    static constexpr bool asks_of_each_vector = Formula::template takes_long<potential_wanted>;
    using Factors = typename Formula::template Factors<V, potential_wanted>;
    static constexpr double potential_factor = Factors::potential;
    static constexpr double field_factor = Factors::weight;

    /// Which pairs of a vector of sources with the targets in registers are left out.
    enum class Left { none, itself, itself_and_before };

    /// The sources, and in a mutual loop what they get.
    struct Stream : SourceStream<T, Mixed, dimension, columns> { // NOLINT(*-member-init): as that
        static constexpr bool keeps_potential = Mutual && potential_wanted;
        static constexpr bool keeps_field = Mutual && field_wanted;
        alignas(64) T potential[columns][keeps_potential ? Stream::stride : 1];
        alignas(64) T field[dimension][keeps_field ? Stream::stride : 1];

        void clear_sums() {
            if constexpr (keeps_potential)
                for (auto& column : potential) std::fill_n(column, this->padded(), T(0));
            if constexpr (keeps_field)
                for (auto& component : field) std::fill_n(component, this->padded(), T(0));
        }
    };

    struct Targets {
        Position<P, Mixed> x;
        P strength[columns];
    };

    struct Sums {
        P potential[columns];
        P field[dimension];

        FF_INLINE Sums() { // NOLINT(*-member-init): filled here
            for (auto& sum : potential) sum = P::all(O::set(T(0)));
            for (auto& sum : field) sum = P::all(O::set(T(0)));
        }
    };

    const BlockTile& tile_;
    const P softening2_;
    const Formula formula_;

    // Of a core size, if it has one.
    static Formula formula_of(const BlockTile& tile) {
        if constexpr (std::is_constructible_v<Formula, double>)
            return Formula(tile.sigma);
        else
            return {};
    }

    FF_INLINE Targets targets_from(std::int64_t place) const {
        Targets targets; // NOLINT(*-member-init): filled below
        const auto count = std::min<std::int64_t>(group, tile_.block.size() - place);
        const auto index = tile_.block.begin + place;
        const auto value = [&](const void* values, std::int64_t g, double pad) {
            return O::set(g < count ? static_cast<const T*>(values)[index + g] : static_cast<T>(pad));
        };
        for (int g = 0; g < group; ++g) {
            for (int k = 0; k < dimension; ++k) {
                targets.x.high[k].v[g] = value(tile_.targets.high[k], g, -far_away);
                if constexpr (Mixed) targets.x.low[k].v[g] = value(tile_.targets.low[k], g, 0.0);
            }
            for (int c = 0; c < columns && Mutual; ++c)
                targets.strength[c].v[g] = value(strengths_of(tile_.targets, c), g, 0.0);
        }
        return targets;
    }

    // Zeros where a source is not to act on a target: sources are numbered from `first_source`, targets from
    // `first_target` in the same stream.
    template <Left left>
    FF_INLINE static void leave_out(P& value, std::int64_t first_source, std::int64_t first_target) {
        for (int g = 0; g < group; ++g) {
            const V number = O::lanes(T(0));
            const V target = O::set(static_cast<T>(first_target + g - first_source));
            if constexpr (left == Left::itself)
                value.v[g] = O::select(number == target, O::set(T(0)), value.v[g]);
            else
                value.v[g] = O::select(number <= target, O::set(T(0)), value.v[g]);
        }
    }

    FF_INLINE P difference(const Position<P, Mixed>& x, const Position<P, Mixed>& y, P d[dimension]) const {
        if constexpr (dimension == 3) {
            subtract(x, y, d);
            return square_distance(d, softening2_);
        } else {
            subtract_in_plane(x, y, d);
            return Ops<P>::fma(d[0], d[0], d[1] * d[1]);
        }
    }

    /// Vectors of the stream, by the places where they begin.
    struct Section {
        std::int64_t begin = 0, end = 0;
        [[nodiscard]] bool has(std::int64_t i) const { return i >= begin && i < end; }
    };

    // Sources [begin, end) of the stream with the targets that have the place `target` in the stream. Where
    // the loop asks of each vector, pairs are left out of those in `meets` alone.
    template <Left left>
    FF_INLINE void add(const Targets& targets, std::int64_t target, Stream& stream, std::int64_t begin,
                       std::int64_t end, Sums& own, Section meets = {}) const {
        for (auto i = begin; i < end; i += width) {
            Position<P, Mixed> y; // NOLINT(*-member-init): filled below
            for (int k = 0; k < dimension; ++k) {
                y.high[k] = P::all(O::load(stream.high[k] + i));
                if constexpr (Mixed) y.low[k] = P::all(O::load(stream.low[k] + i));
            }
            P strength[columns];
            for (int c = 0; c < columns; ++c) strength[c] = P::all(O::load(stream.strength[c] + i));
            P d[dimension];
            const P r2 = difference(targets.x, y, d);
            auto terms = formula_.template of_unit<potential_wanted>(r2);
            if constexpr (left != Left::none)
                if (!asks_of_each_vector || meets.has(i)) {
                    leave_out<left>(terms.potential, stream.first + i, target);
                    leave_out<left>(terms.weight, stream.first + i, target);
                }
            if constexpr (potential_wanted)
                for (int c = 0; c < columns; ++c) {
                    own.potential[c] = Ops<P>::fma(terms.potential, strength[c], own.potential[c]);
                    if constexpr (Mutual)
                        add_to_stream(terms.potential, targets.strength[c], stream.potential[c] + i);
                }
            if constexpr (field_wanted && columns == 1)
                add_field(targets, strength, terms.weight, d, stream, i, own);
            if constexpr (field_wanted && columns == 2)
                add_turned(targets, strength, terms.weight, d, stream, i, own);
        }
    }

    FF_INLINE static void add_field(const Targets& targets, const P* strength, const P& weight, const P* d,
                                    Stream& stream, std::int64_t i, Sums& own) {
        const P on_target = weight * strength[0];
        if constexpr (Mutual) {
            const P on_source = weight * targets.strength[0];
            for (int k = 0; k < dimension; ++k) add_to_stream(on_source, d[k], stream.field[k] + i);
        }
        for (int k = 0; k < dimension; ++k) own.field[k] = Ops<P>::fma(on_target, d[k], own.field[k]);
    }

    // (a + ib)/z = (a x + b y + i (b x − a y))/|z|², the conjugate of which is the field.
    FF_INLINE static void add_turned(const Targets& targets, const P* strength, const P& weight, const P* d,
                                     Stream& stream, std::int64_t i, Sums& own) {
        using Q = Ops<P>;
        const P x = weight * d[0];
        const P y = weight * d[1];
        own.field[0] = Q::fma(strength[0], x, Q::fma(strength[1], y, own.field[0]));
        own.field[1] = Q::fma(strength[0], y, Q::fnma(strength[1], x, own.field[1]));
        if constexpr (Mutual) {
            add_to_stream(targets.strength[0], x, stream.field[0] + i);
            add_to_stream(targets.strength[1], y, stream.field[0] + i);
            add_to_stream(targets.strength[0], y, stream.field[1] + i);
            take_from_stream(targets.strength[1], x, stream.field[1] + i);
        }
    }

    FF_INLINE static void add_to_stream(const P& a, const P& b, T* sums) {
        V sum = O::load(sums);
        for (int g = 0; g < group; ++g) sum = O::fma(a.v[g], b.v[g], sum);
        O::store(sums, sum);
    }

    FF_INLINE static void take_from_stream(const P& a, const P& b, T* sums) {
        V sum = O::load(sums);
        for (int g = 0; g < group; ++g) sum = O::fnma(a.v[g], b.v[g], sum);
        O::store(sums, sum);
    }

    void add_to_targets(const Sums& own, std::int64_t place) const {
        const auto count = std::min<std::int64_t>(group, tile_.block.size() - place);
        const auto index = tile_.block.begin + place;
        for (std::int64_t g = 0; g < count; ++g) {
            if constexpr (potential_wanted)
                for (int c = 0; c < columns; ++c)
                    potential_sums(tile_.sums, c)[index + g] +=
                        potential_factor * static_cast<double>(O::sum(own.potential[c].v[g]));
            if constexpr (field_wanted)
                for (int k = 0; k < dimension; ++k)
                    tile_.sums.field[k][index + g] +=
                        field_factor * static_cast<double>(O::sum(own.field[k].v[g]));
        }
    }

    // d points from source to target, so the sources get the opposite of their sums.
    void add_to_sources(const Stream& stream, StreamCursor cursor) const {
        Stream::each_run(
            tile_, cursor,
            [&](const BlockSource& source, std::int64_t offset, std::int64_t at, std::int64_t count) {
                const auto& sums = source.apart ? tile_.sums_apart : tile_.sums;
                if constexpr (potential_wanted)
                    for (int c = 0; c < columns; ++c)
                        add_scaled(stream.potential[c] + at, potential_factor, count,
                                   potential_sums(sums, c) + source.sums_begin + offset);
                if constexpr (field_wanted)
                    for (int k = 0; k < dimension; ++k)
                        add_scaled(stream.field[k] + at, -field_factor, count,
                                   sums.field[k] + source.sums_begin + offset);
            });
    }

    void add_group(std::int64_t place, Stream& stream) const {
        constexpr auto left = Mutual ? Left::itself_and_before : Left::itself;
        const auto targets = targets_from(place);
        Sums own;
        // the vectors of the stream in which these targets meet themselves
        const auto bound = [&](std::int64_t at) {
            return tile_.own ? std::clamp<std::int64_t>(at / width * width - stream.first, 0, stream.count)
                             : 0;
        };
        const auto begin = bound(place);
        const auto end = bound(place + group + width - 1);
        if constexpr (asks_of_each_vector) {
            add<left>(targets, place, stream, Mutual ? begin : 0, stream.count, own, {begin, end});
        } else {
            for (int part = Mutual ? 1 : 0; part < 2; ++part) { // before and after their own vectors
                if (part == 1) add<left>(targets, place, stream, begin, end, own);
                add<Left::none>(targets, place, stream, part == 0 ? 0 : end, part == 0 ? begin : stream.count,
                                own);
            }
        }
        add_to_targets(own, place);
    }

public:
    explicit BlockLoop(const BlockTile& tile)
        : tile_(tile), softening2_(P::all(O::set(static_cast<T>(tile.softening2)))),
          formula_(formula_of(tile)) {}

    void run() const {
        Stream stream; // NOLINT(*-member-init): filled below
        StreamCursor cursor;
        while (cursor.source < tile_.source_count) {
            const auto before = cursor;
            stream.fill(tile_, cursor);
            for (std::int64_t first = 0; first < tile_.block.size(); first += flush_after) {
                const auto end = std::min<std::int64_t>(first + flush_after, tile_.block.size());
                stream.clear_sums();
                for (auto place = first; place < end; place += group) add_group(place, stream);
                if constexpr (Mutual) add_to_sources(stream, before);
            }
        }
    }
};

} // namespace
} // namespace farfield
