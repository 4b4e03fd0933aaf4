// The target model: what the printers need to know of a target's C++ dialect. Everything else about an
// expression (order, precision, fused products) is fixed by the IR and printed alike for all.
#pragma once

#include "stencil/ir/ir.h"
#include "stencil/ir/unique_names.h"

#include <string>
#include <string_view>

namespace farfield::stencil::codegen {

class Spelling {
public:
    virtual ~Spelling() = default;

    /// The value at the cell plus node.offsets, in the buffer's own precision.
    virtual std::string load(const ir::Node& node) const = 0;
    /// The precision in which `load` gives the values of a buffer.
    virtual Precision precision_of(int buffer) const = 0;
    /// Index of the cell along an axis, 64 bits.
    virtual std::string cell(int axis) const = 0;
    /// Program::uniforms[index], float64.
    virtual std::string uniform(int index) const = 0;
    /// Program::constants[index]; empty: the number.
    virtual std::string constant(int /*index*/) const { return {}; }
    virtual std::string time() const { return "t"; }
    virtual std::string step() const { return "step"; }

    /// What a constant that holds the value of a load is called, "Hz_xm1"; made unique among `names`.
    virtual std::string value_name(const ir::Node& /*load*/) const { return "value"; }
    /// What a constant is called that holds a value with a name in the program; made unique among `names`.
    virtual std::string local_name(const std::string& name) const { return name; }
    /// The names that are taken where the code stands.
    virtual UniqueNames names() const { return {}; }

    /// Stands before fma, floor, ceil, sqrt, fabs; the float versions end in f.
    virtual std::string_view intrinsic_prefix() const { return "__builtin_"; }
    virtual std::string_view infinity() const { return "__builtin_inf()"; }
    virtual std::string_view not_a_number() const { return "__builtin_nan(\"\")"; }
};

/// "Hz_xm1_yp2" of a neighbour, "Hz_c" of the cell itself.
std::string value_name(const ir::Buffer& buffer, const ir::Node& load, const ir::Grid& grid);

/// C++ names of types; whole numbers have 64 bits everywhere.
std::string_view type_name(ir::ValueType type);
std::string_view type_name(Precision precision);

} // namespace farfield::stencil::codegen
