// How expressions of a kernel reach values in memory: indices, and what lies beyond the ends of the grid.
#pragma once

#include "stencil/codegen/cuda/writer.h"
#include "stencil/codegen/named_numbers.h"

namespace farfield::stencil::codegen::cuda {

/// The target's dialect for kernels whose loads come straight from memory: x, y, z are the cell's indices,
/// `at` its place in the buffers of the grid, `clock` the row of the step.
class DeviceSpelling : public Spelling {
public:
    /// @param bounds cells that the code is computed for; reads that stay inside the grid there need no test.
    DeviceSpelling(const ir::Program& program, int grid, const ir::CellBox& bounds)
        : program_(program), grid_(grid), bounds_(bounds) {}

    std::string load(const ir::Node& node) const override;
    Precision precision_of(int buffer) const override {
        return program_.buffers[static_cast<std::size_t>(buffer)].precision;
    }
    std::string cell(int axis) const override {
        return fmt::format("static_cast<long long>({})", "xyz"[axis]);
    }
    std::string value_name(const ir::Node& load) const override {
        return codegen::value_name(program_.buffers[static_cast<std::size_t>(load.index)], load,
                                   program_.grids[static_cast<std::size_t>(grid_)]);
    }
    // Nothing else in this code ends so.
    std::string local_name(const std::string& name) const override { return name + "_value"; }
    std::string uniform(int index) const override {
        return fmt::format("clock[{}]", uniform_place(program_, index));
    }
    std::string constant(int index) const override { return constant_text(program_, index); }
    std::string time() const override { return "clock[0]"; }
    std::string step() const override { return "static_cast<long long>(clock[1])"; }
    std::string_view intrinsic_prefix() const override { return "::"; }
    std::string_view infinity() const override { return "__longlong_as_double(0x7ff0000000000000LL)"; }
    std::string_view not_a_number() const override { return "__longlong_as_double(0x7ff8000000000000LL)"; }

    const ir::Program& program() const { return program_; }
    const ir::Shape& shape() const { return program_.grids[static_cast<std::size_t>(grid_)].shape; }
    /// Whether a read at this offset along an axis can leave the grid from a cell of the bounds.
    bool leaves(const ir::Node& node, int axis) const;

private:
    const ir::Program& program_;
    int grid_;
    ir::CellBox bounds_;
};

/// "x", "(x - 1)", or where that may leave the grid "around<512>(x - 1)".
std::string coordinate(int axis, int offset, Boundary boundary, bool leaves, std::int64_t cells);

/// Adds the buffers that a code reads to the parameters.
void add_reads(Parameters& parameters, const ir::Program& program, const ir::Code& code);

} // namespace farfield::stencil::codegen::cuda
