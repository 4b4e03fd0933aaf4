// What cells in lanes take in place of lists of senders (M2L): a block of 4³ parents has cells of eight
// octants, and all that send to them are children of the parents of the block and around it.
#pragma once

#include "sums/expansions/loops.h"
#include "sums/fmm/operators.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace farfield {

/// Where the sources of a block lie for CellBlockTask. Each octant of parents has for each function rows of
/// four numbers along x, by shift along x, z and y. A vector along x and y then is one piece of memory for
/// each shift.
struct CellBlockSources {
    int separation = 1;
    int functions = 0;

    /// Parents along an axis: the block and those around.
    [[nodiscard]] int side() const { return cell_block_side + 2 * separation; }
    [[nodiscard]] int shifts() const { return 2 * separation + 1; }
    [[nodiscard]] std::int64_t plane() const { return std::int64_t{cell_block_side} * side(); }
    [[nodiscard]] std::int64_t shift() const { return plane() * side(); }
    [[nodiscard]] std::int64_t function() const { return shift() * shifts(); }
    [[nodiscard]] std::int64_t octant() const { return function() * functions; }
    [[nodiscard]] std::int64_t numbers() const { return octant() * 8; }
    /// The parent at x, y, z from the corner of all.
    [[nodiscard]] std::size_t parent(int x, int y, int z) const {
        const int place = x + side() * (y + side() * z);
        return static_cast<std::size_t>(place);
    }
    /// Of the sender at an offset from cells of an octant: its first function at lane 0; none where its parent
    /// is no neighbour of theirs.
    [[nodiscard]] std::optional<std::int64_t> place(int octant, const std::array<int, 3>& offset) const;
};

/// Numbers that a block needs while its cells are served.
inline std::int64_t cell_block_numbers(int separation, int functions, int size) {
    return CellBlockSources{separation, functions}.numbers() + cell_block_scratch(size) +
           std::int64_t{cell_block_lanes} * functions;
}

/// The mirror images that each level and octant of targets has senders at.
template <class T>
class CellBlockSenders {
public:
    CellBlockSenders(const FmmOperators<T>& operators, int separation);

    [[nodiscard]] const CellBlockSources& sources() const { return sources_; }
    [[nodiscard]] const std::vector<CellBlockImages>& of(int level, int octant) const;
    /// For a cell of a level, as for one of octant 0.
    [[nodiscard]] double multiply_adds(int level) const;
    /// Lanes that are computed cost less than cells one after the other (FmmPasses::translate_block). A pure
    /// function of its arguments: no clock and no cost table decides which sums are taken.
    [[nodiscard]] bool pay(int level, std::int64_t computed_lanes, std::int64_t cells) const;

private:
    /// Columns as CellBlockImages has them.
    struct Columns {
        std::vector<std::int32_t> of_all;
        std::array<std::int32_t, parities> count{};
    };
    static Columns columns_of(const TranslateTask& translation, int free);
    void add_images(const OffsetClass& of, const TranslateTask& translation, bool one_by_one,
                    std::map<int, Columns>& columns, std::array<std::vector<CellBlockImages>, 8>& out);

    CellBlockSources sources_;
    /// By level, the last for all deeper.
    std::vector<std::array<std::vector<CellBlockImages>, 8>> images_;
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
