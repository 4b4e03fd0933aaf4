// What each rank has of a record in a step, and how the value becomes of them: the same bits as on one rank,
// because sums are made of whole subtrees of the tree over all atoms (ir/reduction.h).
#pragma once

#include "stencil/ir/ir.h"
#include "stencil/runtime/ranks/division.h"

#include <cstdint>
#include <span>
#include <vector>

namespace farfield::stencil::ranks {

class RecordParts {
public:
    RecordParts(const ir::Record& record, const Division& division); ///< the record is kept by reference

    /// The numbers that a rank has of a step: as many in each.
    [[nodiscard]] std::int64_t count(int rank) const { return counts_[static_cast<std::size_t>(rank)]; }
    /// Appends them. @param rows as RecordSink has them.
    void append(int rank, std::int64_t per_row, const std::vector<double>& rows,
                std::vector<double>& out) const;
    /// Those of a rank without a cell of the record.
    void append_nothing(int rank, std::vector<double>& out) const;
    /// The record's value. @param parts what each rank has of the step.
    [[nodiscard]] double value(const std::vector<std::span<const double>>& parts) const;

private:
    /// The sum of 2^level atoms from `first` on.
    struct Subtree {
        std::int64_t first = 0;
        int level = 0;
        int rank = 0;
        std::int64_t place = 0; ///< among the rank's numbers
    };
    void add_subtrees(int rank, const ir::CellBox& block);
    [[nodiscard]] double sum(const std::vector<std::span<const double>>& parts) const;
    [[nodiscard]] double extremum(const std::vector<std::span<const double>>& parts) const;

    const ir::Record* record_;
    std::vector<std::int64_t> counts_; ///< by rank
    std::vector<Subtree> subtrees_;    ///< of all ranks, in the order of the atoms
    int owner_ = 0;                    ///< of a value's cell
};

} // namespace farfield::stencil::ranks
