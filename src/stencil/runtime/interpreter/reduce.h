// One value of a record from the values of its cells, as ir/reduction.h says.
#pragma once

#include "stencil/ir/ir.h"
#include "stencil/ir/reduction.h"

#include <array>
#include <cstdint>
#include <vector>

namespace farfield::stencil {

/// Rows come in order, and the cells of a row in order.
class Reducer {
public:
    /// @param record kept by reference. @param rows takes what each row gives, as RecordSink has it, and
    /// leaves no result; null: none.
    explicit Reducer(const ir::Record& record, std::vector<double>* rows = nullptr);
    void begin_row();
    void add(std::int64_t cell, double value);
    void end_row();
    /// NaN for no cells, where it is not a sum.
    double result() const;

private:
    void finish_atoms_before(std::int64_t atom);

    const ir::Record* record_;
    std::vector<double>* rows_;
    std::array<double, ir::atom_lanes> lanes_ = {};
    std::int64_t atom_ = 0; ///< of the row, being filled
    ir::TreeSum sum_;
    double chosen_ = 0; ///< of a value, minimum or maximum
    bool any_ = false;
};

} // namespace farfield::stencil
