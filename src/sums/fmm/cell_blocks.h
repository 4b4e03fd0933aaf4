// What cells in lanes take in place of lists of senders (M2L): cells of eight octants of at most 64 parents,
// and the children of those parents and of the parents around them, which send to them.
#pragma once

#include "sums/expansions/loops.h"
#include "sums/fmm/operators.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace farfield {

/// Where the sources of some parents' cells lie for CellBlockTask.
///
/// In a block of 4³ parents lane x + 4(y + 4z) is the parent there. Each octant has for each function rows of
/// four numbers along x, by shift along x, z and y: a vector along x and y then is one piece of memory for
/// each shift. Of listed parents, each octant has for each function and each shift a number a lane.
struct CellBlockSources {
    int separation = 1;
    int functions = 0;
    bool listed = false;
    int lanes = cell_block_lanes; ///< of listed parents; a multiple of 16

    /// Parents along an axis of a block, with those around.
    [[nodiscard]] int side() const { return cell_block_side + 2 * separation; }
    [[nodiscard]] int shifts() const { return 2 * separation + 1; }
    [[nodiscard]] std::int64_t plane() const {
        return std::int64_t{cell_block_side} * (listed ? cell_block_side : side());
    }
    [[nodiscard]] std::int64_t shift() const { return plane() * side(); } ///< of a block
    [[nodiscard]] std::int64_t function() const {
        return listed ? std::int64_t{lanes} * shifts() * shifts() * shifts() : shift() * shifts();
    }
    [[nodiscard]] std::int64_t octant() const { return function() * functions; }
    [[nodiscard]] std::int64_t numbers() const { return octant() * 8; }
    /// In a block, the parent at x, y, z from the corner of all.
    [[nodiscard]] std::size_t parent(int x, int y, int z) const {
        const int place = x + side() * (y + side() * z);
        return static_cast<std::size_t>(place);
    }
    /// Of the children of an octant of parents at this place among a parent's neighbours: the first function
    /// at lane 0.
    [[nodiscard]] std::int64_t place(int octant, int neighbour) const;
};

/// Numbers that cells in lanes need while they are served.
std::int64_t cell_block_numbers(int separation, int functions, int size);

/// Cells of one level that are served together.
struct CellGroup {
    enum class Way : std::uint8_t {
        block,     ///< of a block of parents, in lanes
        listed,    ///< of parents that lie anywhere, in lanes
        one_by_one ///< FmmPasses::translate_block
    };
    Way way = Way::one_by_one;
    std::vector<std::int32_t> cells;
};

/// The mirror images that each level and octant of targets has senders at.
template <class T>
class CellBlockSenders {
public:
    CellBlockSenders(const FmmOperators<T>& operators, int separation);

    /// Those of which one sender at least is there: `there` by octant and a parent's neighbour.
    [[nodiscard]] std::vector<CellBlockImages> images(int level, int octant, const CellBlockSources& layout,
                                                      const std::vector<char>& there) const;
    [[nodiscard]] CellBlockSources layout(CellGroup::Way way, std::int64_t parents = cell_block_lanes) const {
        return {.separation = separation_,
                .functions = functions_,
                .listed = way == CellGroup::Way::listed,
                .lanes = static_cast<int>((parents + 15) / 16 * 16)};
    }
    [[nodiscard]] bool any(int level) const { return !of(level)[0].empty(); }
    /// For a cell of a level, as for one of octant 0.
    [[nodiscard]] double multiply_adds(int level) const;
    /// The way that costs least for cells of which lanes so computed hold so many, of so many parents. A pure
    /// function of its arguments: no clock and no cost table decides which sums are taken.
    [[nodiscard]] double cost(int level, CellGroup::Way way, std::int64_t cells, std::int64_t computed_lanes,
                              std::int64_t parents) const;

private:
    /// Columns as CellBlockImages has them.
    struct Columns {
        std::vector<std::int32_t> of_all;
        std::array<std::int32_t, parities> count{};
    };
    /// Mirror images without their places, and where they come from.
    struct Senders {
        CellBlockImages images;
        struct From {
            int octant = 0, neighbour = 0;
        };
        std::array<From, parities> from{};
    };
    using ByOctant = std::array<std::vector<Senders>, 8>;
    static Columns columns_of(const TranslateTask& translation, int free);
    void add_images(const OffsetClass& of, const TranslateTask& translation, bool one_by_one,
                    std::map<int, Columns>& columns, ByOctant& out);
    [[nodiscard]] std::optional<typename Senders::From> sender(int octant,
                                                               const std::array<int, 3>& offset) const;
    template <class Levels>
    static const auto& of_level(const Levels& levels, int level) {
        return levels[std::min(static_cast<std::size_t>(level), levels.size() - 1)];
    }
    [[nodiscard]] const ByOctant& of(int level) const { return of_level(images_, level); }

    int separation_, functions_;
    std::vector<ByOctant> images_;                             ///< by level, the last for all deeper
    std::vector<std::vector<std::map<int, Columns>>> columns_; ///< by level, class and free axes
    struct Work {
        double lane = 0.0, cell = 0.0;
    };
    std::vector<Work> work_; ///< by level
};

/// Lanes that a loop of this instruction set computes where these are wanted.
int computed_lanes(std::uint64_t wanted, Isa isa, bool wide);

extern template class CellBlockSenders<float>;
extern template class CellBlockSenders<double>;

} // namespace farfield
