// Prints straight-line code of the IR as C++: a constant for each value that is used more than once, the rest
// as nested expressions with the parentheses that keep every rounding where the IR has it.
#pragma once

#include "stencil/codegen/spelling.h"

#include <span>
#include <string>
#include <vector>

namespace farfield::stencil::codegen {

/// Texts that must stand above the code.
struct Needs {
    bool portable = false;   ///< portable_functions()
    bool operations = false; ///< operation_functions()
    Needs& operator|=(const Needs& other);
};

/// A value wanted from a code.
struct Root {
    int node = -1;
    std::string name; ///< of the constant that holds it; empty: any text will do
};

struct PrintedCode {
    std::vector<std::string> lines;  ///< declarations of constants, in order, without indentation
    std::vector<std::string> values; ///< of each root: a name, or where Root::name is empty an expression
    Needs needs;
};

/// Only nodes that the roots need are printed. Roots with names are computed in `lines`, so that stores may
/// follow in any order.
PrintedCode print_code(const ir::Code& code, std::span<const Root> roots, const Spelling& spelling);

/// A number that reads back as the same bits.
std::string print_number(double value, ir::ValueType type, const Spelling& spelling);
/// A whole number that reads back as itself.
std::string whole_number(std::int64_t value);
/// print_number of one that is finite.
std::string finite_number(double value, ir::ValueType type);

/// Definitions of minimum, maximum, floor_divide, … as used by print_code; needs FF_HD and nothing else.
std::string_view operation_functions();

/// src/math/portable as one text without includes. It needs FF_HD and a namespace ff_std with uint32_t,
/// uint64_t, memcpy and sqrt, such as host_prelude() has; functions are farfield::portable::exp, ….
std::string_view portable_functions();

/// FF_HD and ff_std for a C++ compiler that has GCC's builtins.
std::string_view host_prelude();

} // namespace farfield::stencil::codegen
