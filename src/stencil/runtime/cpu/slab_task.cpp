// Tasks: which rows a kernel needs, and one slab of its work.
#include "stencil/runtime/cpu/slab_task.h"

#include "stencil/ir/reduction.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace farfield::stencil::cpu {
namespace {

constexpr std::size_t most_slots_on_stack = 64;

std::int64_t results_in_row(const ir::Program& program, const ir::Record& record) {
    switch (record.reduction) {
    case Reduction::value:
        return 1;
    case Reduction::max:
    case Reduction::min:
        return 2;
    default:
        return ir::atoms_in_row(program.grids[record.grid].shape[0]);
    }
}

} // namespace

SlabTask::SlabTask(const ir::Program& program, const ir::Kernel& kernel, const codegen::RowFunction& function,
                   Mask mask, const jit::SharedObject& code)
    : program_(&program), grid_(kernel.grid), mask_(codegen::mask_for(mask, kernel)), cells_(kernel.cells),
      carries_(kernel.carries) {
    std::erase_if(carries_, [](const ir::Carry& carry) { return carry.cells->empty(); });
    for (const auto& store : kernel.stores)
        if (store.other_copy) swapped_.push_back(store.buffer);
    std::sort(swapped_.begin(), swapped_.end());
    swapped_.erase(std::unique(swapped_.begin(), swapped_.end()), swapped_.end());
    prepare(function, code);
}

SlabTask::SlabTask(const ir::Program& program, const ir::Record& record, const codegen::RowFunction& function,
                   Mask mask, const jit::SharedObject& code)
    : program_(&program), grid_(record.grid), mask_(codegen::mask_for_record(mask, record.reduction)),
      record_(true), out_per_row_(results_in_row(program, record)), cells_(record.cells) {
    prepare(function, code);
}

void SlabTask::prepare(const codegen::RowFunction& function, const jit::SharedObject& code) {
    slots_ = function.slots;
    function_ = code.function<codegen::RowFunctionPointer>(function.name);
    const auto& grid = program_->grids[grid_];
    rank_ = grid.rank;
    inner_rows_ = {0, grid.shape[1]};
    inner_planes_ = {0, grid.shape[2]};
    const auto narrow = [](IndexRange& range, std::int64_t cells, int offset) {
        range.first = std::max<std::int64_t>(range.first, -offset);
        range.last = std::min<std::int64_t>(range.last, cells - offset);
    };
    for (const auto& slot : slots_) {
        narrow(inner_rows_, grid.shape[1], slot.row_offset);
        narrow(inner_planes_, grid.shape[2], slot.plane_offset);
        const auto& buffer = program_->buffers[slot.buffer];
        const int offset = rank_ == 3 ? slot.plane_offset : rank_ == 2 ? slot.row_offset : 0;
        const auto boundary = buffer.boundary[std::max(rank_ - 1, 0)];
        if (rank_ > 1 && offset != 0 && boundary == Boundary::periodic) around_ = true;
        // Reflected and repeated rows lie on the other side, no further away.
        const bool folded = boundary == Boundary::mirror || boundary == Boundary::clamp;
        const int reach = std::abs(offset);
        accesses_.push_back(
            {slot.buffer, folded ? -reach : offset, folded ? reach : offset, slot.other_copy, slot.stored});
    }
    auto box = cells_->bounds();
    slabs_ = {0, 0};
    const int axis = rank_ - 1;
    if (!cells_->empty())
        slabs_ = rank_ == 1 ? IndexRange{0, 1} : IndexRange{box.first[axis], box.last[axis]};
    for (const auto& carry : carries_) {
        accesses_.push_back({carry.buffer, 0, 0, false, false});
        accesses_.push_back({carry.buffer, 0, 0, true, true});
        box = carry.cells->bounds();
        const auto range = rank_ == 1 ? IndexRange{0, 1} : IndexRange{box.first[axis], box.last[axis]};
        slabs_ = slabs_.first == slabs_.last
                     ? range
                     : IndexRange{std::min(slabs_.first, range.first), std::max(slabs_.last, range.last)};
    }
    if (mask_ == Mask::branch || mask_ == Mask::select || mask_ == Mask::multiply)
        make_mask(function.mask_precision);
}

void SlabTask::make_mask(Precision precision) {
    if (mask_ == Mask::branch)
        fill_mask<unsigned char>();
    else if (precision == Precision::single_precision)
        fill_mask<float>();
    else
        fill_mask<double>();
}

template <class T>
void SlabTask::fill_mask() {
    mask_size_ = sizeof(T);
    const auto& box = cells_->bounds();
    if (cells_->empty()) return;
    mask_values_.resize(static_cast<std::size_t>(box.count()) * sizeof(T));
    auto* values = reinterpret_cast<T*>(mask_values_.data());
    for (auto z = box.first[2]; z < box.last[2]; ++z)
        for (auto y = box.first[1]; y < box.last[1]; ++y) {
            for (const auto& span : cells_->row(y + cells_->shape()[1] * z))
                std::fill(values + (span.first - box.first[0]), values + (span.last - box.first[0]), T(1));
            values += box.last[0] - box.first[0];
        }
}

Entry SlabTask::entry(const Copies& current) const {
    Entry entry;
    entry.around = around_;
    entry.first_slab = slabs_.first;
    entry.last_slab = slabs_.last;
    for (const auto& access : accesses_) {
        if (!program_->buffers[access.buffer].written) continue;
        const int copy = access.other ? 1 - current[access.buffer] : current[access.buffer];
        entry.touches.push_back({2 * access.buffer + copy, access.first, access.last, access.writes});
    }
    return entry;
}

TaskMemory SlabTask::locate(const Storage& storage, const Copies& current) const {
    TaskMemory memory;
    memory.slots.reserve(slots_.size());
    memory.addresses.reserve(slots_.size());
    for (const auto& slot : slots_) {
        const int now = current[slot.buffer];
        const auto& rows =
            memory.slots.emplace_back(storage.rows(slot.buffer, slot.other_copy ? 1 - now : now));
        if (rows.starts != nullptr)
            memory.addresses.push_back(
                {rows.base, 0, 0, rows.starts + slot.row_offset + slot.plane_offset * rows.rows});
        else
            memory.addresses.push_back(
                {rows.base + slot.row_offset * rows.row_pitch + slot.plane_offset * rows.plane_pitch,
                 rows.row_pitch, rows.plane_pitch, nullptr});
    }
    for (const auto& carry : carries_) {
        const int now = current[carry.buffer];
        memory.carries.push_back(storage.rows(carry.buffer, now));
        memory.carries.push_back(storage.rows(carry.buffer, 1 - now));
    }
    return memory;
}

void SlabTask::swap(Copies& current) const {
    for (const int buffer : swapped_) current[buffer] = 1 - current[buffer];
}

void SlabTask::add_cells(std::vector<std::int64_t>& slabs) const {
    const auto rows = rank_ == 3 ? cells_->shape()[1] : 1;
    for (std::int64_t row = 0; row < cells_->rows(); ++row)
        for (const auto& span : cells_->row(row)) slabs[row / rows] += span.last - span.first;
}

void SlabTask::add_buffers(std::vector<bool>& touched) const {
    for (const auto& access : accesses_) touched[access.buffer] = true;
}

void SlabTask::run(std::int64_t first, std::int64_t last, const codegen::RowCall& of_step, double* out,
                   const TaskMemory& memory) const {
    codegen::RowCall call; // all that row functions read is set here or for the row
    call.uniforms = of_step.uniforms;
    call.t = of_step.t;
    call.step = of_step.step;
    std::array<void*, most_slots_on_stack> few; // NOLINT: filled for each row as far as it is read
    std::vector<void*> many;
    void** at = few.data();
    if (slots_.size() > few.size()) {
        many.resize(slots_.size());
        at = many.data();
    }
    call.at = at;
    for (auto slab = first; slab < last; ++slab) run_slab(slab, call, at, out, memory);
}

void SlabTask::run_slab(std::int64_t slab, codegen::RowCall& call, void** at, double* out,
                        const TaskMemory& memory) const {
    if (rank_ < 3) {
        const auto y = rank_ == 2 ? slab : 0;
        run_row(y, 0, call, at, out, memory);
        if (!carries_.empty()) carry_row(y, y, 0, memory.carries);
        return;
    }
    const auto rows = cells_->shape()[1];
    const auto& box = cells_->bounds();
    for (auto y = box.first[1]; y < box.last[1]; ++y) run_row(y, slab, call, at, out, memory);
    if (carries_.empty()) return;
    for (std::int64_t y = 0; y < rows; ++y) carry_row(y + rows * slab, y, slab, memory.carries);
}

inline void SlabTask::run_row(std::int64_t y, std::int64_t z, codegen::RowCall& call, void** at, double* out,
                              const TaskMemory& memory) const {
    const auto row = y + cells_->shape()[1] * z;
    std::array<long long, 2> whole; // NOLINT: set where it is read
    if (mask_ == Mask::spans) {
        const auto spans = cells_->row(row);
        if (spans.empty()) return;
        static_assert(sizeof(ir::Interval) == 2 * sizeof(long long));
        call.spans = reinterpret_cast<const long long*>(spans.data());
        call.span_count = static_cast<long long>(spans.size());
    } else {
        const auto& box = cells_->bounds();
        if (y < box.first[1] || y >= box.last[1] || z < box.first[2] || z >= box.last[2]) return;
        whole = {box.first[0], box.last[0]};
        call.spans = whole.data();
        call.span_count = 1;
        const auto width = box.last[0] - box.first[0];
        const auto mask_row = (y - box.first[1]) + (box.last[1] - box.first[1]) * (z - box.first[2]);
        // Row functions index the mask by x; the value for x = 0 may lie before the array.
        if (!mask_values_.empty())
            call.mask = reinterpret_cast<const void*>(reinterpret_cast<std::intptr_t>(mask_values_.data()) +
                                                      (mask_row * width - box.first[0]) * mask_size_);
    }
    const auto count = slots_.size();
    if (y >= inner_rows_.first && y < inner_rows_.last && z >= inner_planes_.first &&
        z < inner_planes_.last) {
        const auto* addresses = memory.addresses.data();
        for (std::size_t i = 0; i < count; ++i)
            at[i] = addresses[i].origin + (addresses[i].starts != nullptr
                                               ? addresses[i].starts[row]
                                               : y * addresses[i].row_pitch + z * addresses[i].plane_pitch);
    } else {
        for (std::size_t i = 0; i < count; ++i)
            at[i] = memory.slots[i].at(y + slots_[i].row_offset, z + slots_[i].plane_offset);
    }
    call.y = y;
    call.z = z;
    if (record_) call.out = out + row * out_per_row_;
    function_(&call);
}

void SlabTask::carry_row(std::int64_t row, std::int64_t y, std::int64_t z,
                         const std::vector<Rows>& carries) const {
    for (std::size_t i = 0; i < carries_.size(); ++i) {
        const auto size = program_->buffers[carries_[i].buffer].precision == Precision::single_precision
                              ? static_cast<std::int64_t>(sizeof(float))
                              : static_cast<std::int64_t>(sizeof(double));
        const auto* from = carries[2 * i].at(y, z);
        auto* to = carries[2 * i + 1].at(y, z);
        for (const auto& span : carries_[i].cells->row(row))
            std::memcpy(to + span.first * size, from + span.first * size,
                        static_cast<std::size_t>((span.last - span.first) * size));
    }
}

} // namespace farfield::stencil::cpu
