// The code of a kernel at one cell as a linear function of the fields around it, with everything that does
// not change during the run taken at its value there.
#pragma once

#include "stencil/ir/ir.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace farfield::stencil {

using Cell = std::array<std::int64_t, 3>;

/// factor · field(cell + offsets)
struct Term {
    int buffer = -1;
    std::array<int, 3> offsets = {};
    double factor = 0;
};

struct Form {
    enum class Kind {
        known,  ///< a number
        free,   ///< does not depend on the variables, but on the time or on what is not known
        linear, ///< a sum of terms and something free
        opaque  ///< anything else
    };
    Kind kind = Kind::opaque;
    double value = 0;        ///< of known
    std::vector<Term> terms; ///< of linear: each variable and offset once
};

/// Freezes codes at cells of one grid.
class Freezer {
public:
    /// @param variables for each buffer whether it changes at this place.
    Freezer(const ir::Program& program, int grid, const Cell& cell, std::vector<bool> variables);

    /// A form for each node.
    std::vector<Form> forms(const ir::Code& code);
    /// What a buffer that never changes holds in the cell at hand plus offsets; those of other cells where a
    /// boundary says so, the nearest cell where nothing does.
    double constant_value(int buffer, const std::array<int, 3>& offsets);

private:
    Form form(const ir::Code& code, const ir::Node& node, const std::vector<Form>& earlier, const Cell& cell);
    Form load(const ir::Node& node, const Cell& cell);
    double value_in(int buffer, Cell cell);

    const ir::Program& program_;
    const ir::Grid& grid_;
    Cell cell_;
    std::vector<bool> variables_;
    std::map<std::pair<int, Cell>, double> known_; ///< values of constant buffers
};

} // namespace farfield::stencil
