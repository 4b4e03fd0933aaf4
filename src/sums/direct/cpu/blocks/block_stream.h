// The sources of a block as the pair loop over blocks reads them: ranges of points copied one after the
// other. Only for sources compiled once for each instruction set.
#pragma once

#include "backend/simd/value.h"
#include "sums/direct/cpu/tiles.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace farfield {
namespace {

inline constexpr std::int64_t longest_chain = 128;

/// Pads lie outside of any frame, those of targets and of sources apart: never coincident, strength 0.
inline constexpr double far_away = 0x1p40;

/// The strengths of a column, and the sums of their potential.
FF_INLINE const void* strengths_of(const TilePoints& points, int column) {
    return column == 0 ? points.strength : points.strength_imaginary;
}
FF_INLINE double* potential_sums(const TileSums& sums, int column) {
    return column == 0 ? sums.potential : sums.potential_imaginary;
}

/// Where the stream stands in the list.
struct StreamCursor {
    std::int64_t source = 0;
    std::int64_t offset = 0;
};

template <class T, bool Mixed, int Dimension, int Columns>
struct SourceStream { // NOLINT(*-member-init): a kilobyte a call would be cleared for nothing
    static constexpr std::int64_t width = Ops<Value<T>>::width;
    /// Sources whose data and sums, eight numbers each, fit the first-level cache; fewer for narrow vectors,
    /// as a lane adds up at most `longest_chain` of them in the precision of the sum.
    static constexpr std::int64_t size =
        std::min<std::int64_t>(sizeof(T) == 4 ? 768 : 512, longest_chain* width);
    /// Between arrays: a few cache lines more, so that their elements i do not compete for one set of it.
    static constexpr std::int64_t stride = size + 48;

    alignas(64) T high[Dimension][stride];
    alignas(64) T low[Mixed ? Dimension : 1][Mixed ? stride : 1];
    alignas(64) T strength[Columns][stride];
    std::int64_t count = 0;
    std::int64_t first = 0; ///< place in the whole stream, in which the own block comes first

    /// Calls visit(source, offset in it, place in the stream, count) for up to a streamful from the cursor
    /// on.
    template <class Visit>
    static std::int64_t each_run(const BlockTile& tile, StreamCursor& cursor, Visit visit) {
        std::int64_t filled = 0;
        while (filled < size && cursor.source < tile.source_count) {
            const auto& source = tile.sources_of_block[cursor.source];
            const auto run = std::min<std::int64_t>(source.range.size() - cursor.offset, size - filled);
            visit(source, cursor.offset, filled, run);
            filled += run;
            cursor.offset += run;
            if (cursor.offset == source.range.size()) cursor = {cursor.source + 1, 0};
        }
        return filled;
    }

    /// Not inlined: it is compiled once for all loops over the same kind of stream.
    [[gnu::noinline]] void fill(const BlockTile& tile, StreamCursor& cursor) {
        first += count;
        count =
            each_run(tile, cursor,
                     [&](const BlockSource& source, std::int64_t offset, std::int64_t at, std::int64_t run) {
                         copy_run(tile.sources, source.range.begin + offset, at, run);
                     });
        for (auto i = count; i < padded(); ++i) {
            for (int k = 0; k < Dimension; ++k) {
                high[k][i] = static_cast<T>(far_away);
                if constexpr (Mixed) low[k][i] = T(0);
            }
            for (auto& column : strength) column[i] = T(0);
        }
    }

    [[nodiscard]] std::int64_t padded() const { return (count + width - 1) / width * width; }

private:
    static void copy(const void* from, std::int64_t index, std::int64_t run, T* to) {
        std::copy_n(static_cast<const T*>(from) + index, run, to);
    }

    void copy_run(const TilePoints& sources, std::int64_t index, std::int64_t at, std::int64_t run) {
        for (int k = 0; k < Dimension; ++k) {
            copy(sources.high[k], index, run, high[k] + at);
            if constexpr (Mixed) copy(sources.low[k], index, run, low[k] + at);
        }
        for (int c = 0; c < Columns; ++c) copy(strengths_of(sources, c), index, run, strength[c] + at);
    }
};

} // namespace
} // namespace farfield
