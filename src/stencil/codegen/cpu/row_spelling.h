// How loads and stores of a row function are written: its slots, their names, and the index along the row.
#pragma once

#include "stencil/codegen/cpu/row_functions.h"
#include "stencil/codegen/named_numbers.h"
#include "stencil/ir/unique_names.h"

#include <map>
#include <string>
#include <vector>

namespace farfield::stencil::codegen {

class RowSpelling : public Spelling {
public:
    RowSpelling(const ir::Program& program, int grid) : program_(program), grid_(program.grids[grid]) {}

    /// Adds the slots that `code` loads from, and names for its uniforms.
    void add_loads(const ir::Code& code);
    /// Adds the slot of a store; returns its number.
    int add_store(const ir::Store& store);
    /// Adds the slot of the cell's value before the kernel; returns its number.
    int add_old(int buffer);
    const std::vector<Slot>& slots() const { return slots_; }
    const std::string& slot_name(int slot) const { return names_[slot]; }
    /// Declares a pointer for each slot, one a line.
    std::vector<std::string> declarations() const;
    /// A name that no slot has.
    std::string name(std::string_view wanted) { return taken_.unique(wanted); }

    /// Cells x with low ≤ x < n − high have all neighbours along the row that a boundary would replace.
    long long low() const { return low_; }
    long long high() const { return high_; }
    /// From here on loads look where they are.
    void set_edge(bool edge) { edge_ = edge; }

    std::string load(const ir::Node& node) const override;
    Precision precision_of(int buffer) const override { return program_.buffers[buffer].precision; }
    std::string cell(int axis) const override { return std::string(1, "xyz"[axis]); }
    std::string value_name(const ir::Node& load) const override {
        return codegen::value_name(program_.buffers[load.index], load, grid_);
    }
    UniqueNames names() const override { return taken_; }
    std::string uniform(int index) const override { return uniforms_.at(index); }
    std::string constant(int index) const override { return constant_text(program_, index); }

private:
    static Slot slot_of(const ir::Buffer& buffer, const ir::Node& node);
    int find(const Slot& slot) const;
    int add(const Slot& slot);

    const ir::Program& program_;
    const ir::Grid& grid_;
    UniqueNames taken_;
    std::vector<Slot> slots_;
    std::vector<std::string> names_;
    std::map<int, std::string> uniforms_;
    long long low_ = 0;
    long long high_ = 0;
    bool edge_ = false;
};

/// Index functions for boundaries along the row.
std::string_view boundary_functions();
/// What marks loops without dependences, and the sum of an atom of a record.
std::string_view loop_text();

} // namespace farfield::stencil::codegen
