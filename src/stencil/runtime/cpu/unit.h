// A kernel or record ready to run on the cpu: its compiled row function, its cells in the form of the mask
// strategy, and what it touches.
#pragma once

#include "backend/jit/shared_object.h"
#include "stencil/codegen/cpu/row_call.h"
#include "stencil/codegen/cpu/row_functions.h"
#include "stencil/runtime/cpu/storage.h"
#include "stencil/runtime/cpu/wavefront.h"

#include <memory>
#include <vector>

namespace farfield::stencil::cpu {

/// The copy of each buffer that is current.
using Copies = std::vector<int>;

/// Where a slot's row lies for row y of plane z, if it lies in the grid: origin + y·row_pitch +
/// z·plane_pitch or, where rows have starts of their own, origin + starts[y + rows·z].
struct Place {
    std::byte* origin = nullptr;
    std::int64_t row_pitch = 0;
    std::int64_t plane_pitch = 0;
    const std::int64_t* starts = nullptr;
};

/// A unit's memory, with the copies of a moment.
struct Located {
    std::vector<Place> places; ///< of the slots
    std::vector<Rows> slots;
    std::vector<Rows> carries; ///< from and to
};

class Unit {
public:
    Unit(const ir::Program& program, const ir::Kernel& kernel, const codegen::RowFunction& function,
         Mask mask, const jit::SharedObject& code);
    Unit(const ir::Program& program, const ir::Record& record, const codegen::RowFunction& function,
         Mask mask, const jit::SharedObject& code);

    int grid() const { return grid_; }
    /// Adds the cells of each slab.
    void add_cells(std::vector<std::int64_t>& slabs) const;
    /// The slabs that have cells.
    const Range& slabs() const { return slabs_; }
    bool empty() const { return cells_->empty() && carries_.empty(); }
    /// Values of the results of one row of a record.
    std::int64_t out_per_row() const { return out_per_row_; }

    /// What stands in the sequence when the copies are such.
    Entry entry(const Copies& current) const;
    /// Where its memory is then.
    Located locate(const Storage& storage, const Copies& current) const;
    /// After the kernel: the copies that change places.
    void swap(Copies& current) const;
    /// Buffers that it touches.
    void add_buffers(std::vector<bool>& touched) const;

    /// All cells of slabs first to last − 1. `of_step` holds what does not depend on the row; `out` the
    /// results of all rows.
    void run(std::int64_t first, std::int64_t last, const codegen::RowCall& of_step, double* out,
             const Located& located) const;

private:
    struct Access {
        int buffer = -1;
        int first = 0;
        int last = 0;
        bool other = false;
        bool writes = false;
    };

    void prepare(const codegen::RowFunction& function, const jit::SharedObject& code);
    void make_mask(Precision precision);
    template <class T>
    void fill_mask();
    void run_slab(std::int64_t slab, codegen::RowCall& call, void** at, double* out,
                  const Located& located) const;
    void run_row(std::int64_t y, std::int64_t z, codegen::RowCall& call, void** at, double* out,
                 const Located& located) const;
    void carry_row(std::int64_t row, std::int64_t y, std::int64_t z, const std::vector<Rows>& carries) const;

    const ir::Program* program_;
    int grid_ = -1;
    int rank_ = 1;
    Mask mask_;
    bool record_ = false;
    std::int64_t out_per_row_ = 0;
    std::shared_ptr<const ir::CellSet> cells_;
    std::vector<codegen::Slot> slots_;
    std::vector<ir::Carry> carries_;
    std::vector<int> swapped_;
    std::vector<Access> accesses_;
    bool around_ = false;
    // Rows y from the first to before the last have all rows of the slots in the grid, in planes likewise.
    Range inner_rows_;
    Range inner_planes_;
    Range slabs_;
    codegen::RowFunctionPointer* function_ = nullptr;
    std::vector<std::byte> mask_values_; ///< of the bounding box
    std::int64_t mask_size_ = 1;
};

} // namespace farfield::stencil::cpu
