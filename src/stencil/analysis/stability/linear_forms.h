// The code of a kernel at one cell, as a linear function of the fields around that cell. Buffers that do not
// change during the run are replaced by their values at the cell: their coefficients are frozen there.
#pragma once

#include "stencil/ir/ir.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace farfield::stencil {

using Cell = std::array<std::int64_t, 3>;

/// factor · (value of `buffer` at the cell plus `offsets`)
struct Term {
    int buffer = -1;
    std::array<int, 3> offsets = {};
    double factor = 0;
};

/// What is known of the value of one node. The variables are the buffers that kernels around the cell write.
struct LinearForm {
    enum class Kind {
        known,  ///< the number `value`
        free,   ///< a value that is not known, but does not depend on the variables; the time is one
        linear, ///< the sum of `terms` and something free
        opaque  ///< anything else
    };
    Kind kind = Kind::opaque;
    double value = 0;        ///< of known
    std::vector<Term> terms; ///< of linear: one for each variable and offset
};

/// Finds the linear forms of codes at one cell of a grid.
class Lineariser {
public:
    /// @param variables by buffer: whether it is one.
    Lineariser(const ir::Program& program, int grid, const Cell& cell, std::vector<bool> variables);

    /// The form of each node.
    std::vector<LinearForm> forms(const ir::Code& code);
    /// The value at the cell plus `offsets` of a buffer that never changes. Outside the grid it is what the
    /// boundary says; without a boundary, it is the value of the nearest cell.
    double constant_value(int buffer, const std::array<int, 3>& offsets);

private:
    LinearForm form(const ir::Node& node, const std::vector<LinearForm>& earlier, const Cell& cell);
    LinearForm load(const ir::Node& node, const Cell& cell);
    double value_in(int buffer, Cell cell);

    const ir::Program& program_;
    const ir::Grid& grid_;
    Cell cell_;
    std::vector<bool> variables_;
    std::map<std::pair<int, Cell>, double> known_; ///< values of constant buffers
};

} // namespace farfield::stencil
