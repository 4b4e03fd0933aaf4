// One kernel or record of a program, ready to run on the CPU. A task knows its compiled row function, its
// cells, and which buffers it reads and writes. It works slab by slab: on the rows of a 2D grid, the planes
// of a 3D one, or the whole of a 1D one.
#pragma once

#include "backend/jit/shared_object.h"
#include "stencil/codegen/cpu/row_call.h"
#include "stencil/codegen/cpu/row_functions.h"
#include "stencil/runtime/cpu/storage.h"
#include "stencil/runtime/cpu/wavefront.h"

#include <memory>
#include <vector>

namespace farfield::stencil::cpu {

/// By buffer: the number of its current copy, 0 or 1.
using Copies = std::vector<int>;

/// The address of the row that a slot (codegen::Slot) stands for, when the task works on row y of plane z. It
/// is origin + y·row_pitch + z·plane_pitch or, if `starts` is set, origin + starts[y + rows·z]. Only for rows
/// inside the grid.
struct RowAddress {
    std::byte* origin = nullptr;
    std::int64_t row_pitch = 0;
    std::int64_t plane_pitch = 0;
    const std::int64_t* starts = nullptr;
};

/// The memory that a task reads and writes while the same copies are current.
struct TaskMemory {
    std::vector<RowAddress> addresses; ///< by slot
    std::vector<Rows> slots;           ///< by slot: also rows outside the grid
    std::vector<Rows> carries; ///< two for each carry: the copy that is read, the copy that is written
};

class SlabTask {
public:
    SlabTask(const ir::Program& program, const ir::Kernel& kernel, const codegen::RowFunction& function,
             Mask mask, const jit::SharedObject& code);
    SlabTask(const ir::Program& program, const ir::Record& record, const codegen::RowFunction& function,
             Mask mask, const jit::SharedObject& code);

    int grid() const { return grid_; }
    /// Adds the number of the task's cells in each slab to `slabs`.
    void add_cells(std::vector<std::int64_t>& slabs) const;
    /// The slabs in which the task has cells.
    const IndexRange& slabs() const { return slabs_; }
    bool empty() const { return cells_->empty() && carries_.empty(); }
    /// How many numbers a record leaves for each row; see reduce_rows.
    std::int64_t out_per_row() const { return out_per_row_; }

    /// The task as an entry of a wavefront's sequence, if `current` copies are current.
    Entry entry(const Copies& current) const;
    /// The task's memory, if `current` copies are current.
    TaskMemory locate(const Storage& storage, const Copies& current) const;
    /// Makes the copies current that the kernel has written.
    void swap(Copies& current) const;
    /// Sets `touched` for each buffer that the task reads or writes.
    void add_buffers(std::vector<bool>& touched) const;

    /// Works on slabs first to last − 1.
    /// @param of_step the arguments of the row function that are the same in all rows
    /// @param out where a record leaves the numbers of all rows; null for kernels
    void run(std::int64_t first, std::int64_t last, const codegen::RowCall& of_step, double* out,
             const TaskMemory& memory) const;

private:
    /// In slab s the task touches slabs s + first to s + last of one copy of a buffer.
    struct Access {
        int buffer = -1;
        int first = 0;
        int last = 0;
        bool other = false; ///< the copy that is not current
        bool writes = false;
    };

    void prepare(const codegen::RowFunction& function, const jit::SharedObject& code);
    void make_mask(Precision precision);
    template <class T>
    void fill_mask();
    void run_slab(std::int64_t slab, codegen::RowCall& call, void** at, double* out,
                  const TaskMemory& memory) const;
    void run_row(std::int64_t y, std::int64_t z, codegen::RowCall& call, void** at, double* out,
                 const TaskMemory& memory) const;
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
    bool around_ = false; ///< some access along the last axis is periodic
    // The rows and planes for which the rows of all slots lie inside the grid.
    IndexRange inner_rows_;
    IndexRange inner_planes_;
    IndexRange slabs_;
    codegen::RowFunctionPointer* function_ = nullptr;
    std::vector<std::byte> mask_values_; ///< one for each cell of the bounding box, or none
    std::int64_t mask_size_ = 1;         ///< bytes of one
};

} // namespace farfield::stencil::cpu
