// What other ranks need of a rank's GPU: rows of records, cells of a box, and memory that they read.
#include "stencil/ir/reduction.h"
#include "stencil/runtime/cuda/device_executor.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace farfield::stencil::cuda {
namespace {

using codegen::cuda::BufferLayout;

/// Rows at the same distance from each other, from cell x of row y of plane z on.
struct Run {
    std::array<std::int64_t, 3> first{};
    PitchedRows rows;

    /// Bytes from the start of a buffer's memory.
    std::ptrdiff_t start(const BufferLayout& layout) const {
        return layout.place(first[1], first[2]) + first[0] * layout.value_bytes;
    }
};

/// What an offer says of a buffer: parts have other rows, and their plans other copies.
struct Offered {
    std::int64_t copies, first_row, first_plane, rows;
};

/// Calls visit(run) for the runs that hold the cells of a box, in their order.
template <class Visit>
void each_run(const BufferLayout& layout, const ir::Shape& shape, const ir::CellBox& cells,
              const Visit& visit) {
    const auto bytes_of = [&](std::int64_t count) {
        return static_cast<std::size_t>(count * layout.value_bytes);
    };
    const auto run = [&](std::int64_t z, std::int64_t rows) {
        visit(Run{{cells.first[0], cells.first[1], z},
                  {.count = rows,
                   .width = bytes_of(cells.last[0] - cells.first[0]),
                   .pitch = bytes_of(layout.pitch)}});
    };
    const auto rows = cells.last[1] - cells.first[1];
    if (rows == shape[1]) // all who have these cells have whole planes
        return run(cells.first[2], (cells.last[2] - cells.first[2]) * rows);
    for (auto z = cells.first[2]; z < cells.last[2]; ++z) run(z, rows);
}

/// Calls visit(bytes from the run's start, bytes) for its pieces that lie in one stretch of memory: whole
/// rows together, with what lies between them, which is nobody's.
template <class Visit>
void each_piece(const BufferLayout& layout, const Run& run, const Visit& visit) {
    const auto& [count, width, pitch] = run.rows;
    if (width == static_cast<std::size_t>(layout.width * layout.value_bytes))
        return visit(std::ptrdiff_t{0}, static_cast<std::size_t>(count - 1) * pitch + width);
    for (std::int64_t row = 0; row < count; ++row) visit(row * static_cast<std::ptrdiff_t>(pitch), width);
}

} // namespace

// Of a sum or an extremum, which other ranks have a part of.
bool DeviceExecutor::leaves_rows(std::size_t record) const {
    return (record_sink_ || !program_->held.empty()) &&
           program_->records[record].reduction != Reduction::value;
}

// As many as there are to the next step that a sink gets rows after: the following steps overwrite them.
std::int64_t DeviceExecutor::steps_to_rows() const {
    auto steps = batch_;
    for (std::size_t r = 0; r < plan_.records.size(); ++r)
        if (leaves_rows(r)) steps = std::min(steps, plan_.records[r].every - step_ % plan_.records[r].every);
    return steps;
}

void DeviceExecutor::deliver_values(int record, std::span<const double> values) {
    const auto& cells = *program_->records[static_cast<std::size_t>(record)].cells;
    const auto& cell = cells.bounds().first;
    auto& rows = record_rows_[static_cast<std::size_t>(record)];
    rows.resize(static_cast<std::size_t>(cells.rows()));
    for (const double value : values) {
        rows[static_cast<std::size_t>(cell[1] + cells.shape()[1] * cell[2])] = value;
        record_sink_(record, 1, rows);
    }
}

void DeviceExecutor::deliver_rows() {
    for (std::size_t r = 0; r < plan_.records.size(); ++r) {
        if (!leaves_rows(r) || step_ % plan_.records[r].every != 0) continue;
        const auto& record = program_->records[r];
        const auto per_row = ir::atoms_in_row(record.cells->shape()[0]);
        auto& atoms = record_atoms_[r];
        atoms.resize(static_cast<std::size_t>(record.cells->rows() * per_row));
        const auto& [first, last] = record.cells->bounds();
        const auto rows_of_plane = record.cells->shape()[1];
        const auto begin = (first[1] + rows_of_plane * first[2]) * per_row;
        const auto end = (last[1] + rows_of_plane * (last[2] - 1)) * per_row;
        const auto scratch = static_cast<std::size_t>(plan_.records[r].atoms);
        const auto* on_gpu = static_cast<const double*>(scratch_[scratch]);
        machine_->download(atoms.data() + begin, on_gpu + (begin - plan_.scratch[scratch].first),
                           static_cast<std::size_t>(end - begin) * sizeof(double));
        const auto number = static_cast<int>(r);
        if (record.reduction != Reduction::max && record.reduction != Reduction::min) {
            record_sink_(number, per_row, atoms);
            continue;
        }
        auto& rows = record_rows_[r];
        rows.assign(static_cast<std::size_t>(2 * record.cells->rows()), 0.0);
        for (std::int64_t row = 0; row < record.cells->rows(); ++row) {
            if (record.cells->row(row).empty()) continue;
            const auto of_row = std::span(atoms).subspan(static_cast<std::size_t>(row * per_row),
                                                         static_cast<std::size_t>(per_row));
            auto best = of_row.front();
            for (const double value : of_row.subspan(1))
                if ((record.reduction == Reduction::max ? value > best : value < best) || std::isnan(value))
                    best = value;
            rows[static_cast<std::size_t>(2 * row)] = best;
            rows[static_cast<std::size_t>(2 * row) + 1] = 1.0;
        }
        record_sink_(number, 2, rows);
    }
}

void DeviceExecutor::read_cells(int buffer, const ir::CellBox& cells, std::span<std::byte> values) {
    const auto b = static_cast<std::size_t>(buffer);
    const auto& layout = plan_.buffers[b];
    const auto* memory = static_cast<const std::byte*>(copies_[b].memory[copies_[b].current]);
    auto* to = values.data();
    each_run(layout, shape_of(buffer), cells, [&](const Run& run) {
        machine_->download_rows(to, memory + run.start(layout), run.rows);
        to += run.rows.bytes();
    });
}

void DeviceExecutor::write_cells(int buffer, const ir::CellBox& cells, std::span<const std::byte> values,
                                 bool all_copies) {
    const auto b = static_cast<std::size_t>(buffer);
    const auto& layout = plan_.buffers[b];
    const auto* from = values.data();
    each_run(layout, shape_of(buffer), cells, [&](const Run& run) {
        for (int c = 0; c < layout.copies; ++c)
            if (all_copies || c == copies_[b].current)
                machine_->upload_rows(static_cast<std::byte*>(copies_[b].memory[c]) + run.start(layout), from,
                                      run.rows);
        from += run.rows.bytes();
    });
}

const ir::Shape& DeviceExecutor::shape_of(int buffer) const {
    const auto grid = program_->buffers[static_cast<std::size_t>(buffer)].grid;
    return program_->grids[static_cast<std::size_t>(grid)].shape;
}

// What is offered of each buffer, then the handles of all copies.
std::vector<std::byte> DeviceExecutor::offer() {
    std::vector<Offered> offered;
    std::vector<std::byte> handles;
    for (std::size_t b = 0; b < copies_.size(); ++b) {
        const auto& layout = plan_.buffers[b];
        offered.push_back({layout.copies, layout.first_row, layout.first_plane, layout.rows});
        for (int c = 0; c < layout.copies; ++c) {
            const auto handle = machine_->handle_of(copies_[b].memory[c]);
            if (handle.empty()) return {};
            handles.insert(handles.end(), handle.begin(), handle.end());
        }
    }
    const auto bytes = std::as_bytes(std::span(offered));
    handles.insert(handles.begin(), bytes.begin(), bytes.end());
    return handles;
}

bool DeviceExecutor::open(int peer, std::span<const std::byte> offer) {
    if (offer.empty()) return false;
    std::vector<Offered> offered(copies_.size());
    std::memcpy(offered.data(), offer.data(), offered.size() * sizeof(Offered));
    auto handles = offer.subspan(offered.size() * sizeof(Offered));
    std::size_t all = 0;
    for (const auto& buffer : offered) all += static_cast<std::size_t>(buffer.copies);
    const auto bytes = handles.size() / all;
    auto& opened = of_peers_[peer];
    opened.assign(copies_.size(), {});
    for (std::size_t b = 0; b < copies_.size(); ++b) {
        auto& layout = opened[b].layout = plan_.buffers[b];
        layout.first_row = offered[b].first_row;
        layout.first_plane = offered[b].first_plane;
        layout.rows = offered[b].rows;
        for (std::size_t c = 0; c < static_cast<std::size_t>(offered[b].copies); ++c) {
            auto*& memory = opened[b].memory.at(c);
            memory = machine_->open(handles.first(bytes));
            handles = handles.subspan(bytes);
            if (memory == nullptr) return false;
        }
    }
    return true;
}

void DeviceExecutor::close() {
    for (const auto& [peer, buffers] : of_peers_)
        for (const auto& buffer : buffers)
            for (void* memory : buffer.memory)
                if (memory != nullptr) machine_->close(memory);
    of_peers_.clear();
}

std::vector<std::int32_t> DeviceExecutor::current_copies() const {
    std::vector<std::int32_t> out;
    for (const auto& copies : copies_) out.push_back(copies.current);
    return out;
}

void DeviceExecutor::take(int peer, int buffer, const ir::CellBox& cells, int copy) {
    const auto b = static_cast<std::size_t>(buffer);
    const auto& layout = plan_.buffers[b];
    const auto& theirs = of_peers_.at(peer)[b];
    const auto* from = static_cast<const std::byte*>(theirs.memory[static_cast<std::size_t>(copy)]);
    auto* to = static_cast<std::byte*>(copies_[b].memory[copies_[b].current]);
    each_run(layout, shape_of(buffer), cells, [&](const Run& run) {
        each_piece(layout, run, [&](std::ptrdiff_t next, std::size_t bytes) {
            machine_->copy(to + run.start(layout) + next, from + run.start(theirs.layout) + next, bytes);
        });
    });
}

void DeviceExecutor::each_stretch(int buffer, const ir::CellBox& cells,
                                  const std::function<void(std::span<std::byte>)>& visit) {
    const auto b = static_cast<std::size_t>(buffer);
    const auto& layout = plan_.buffers[b];
    auto* memory = static_cast<std::byte*>(copies_[b].memory[copies_[b].current]);
    each_run(layout, shape_of(buffer), cells, [&](const Run& run) {
        each_piece(layout, run, [&](std::ptrdiff_t next, std::size_t bytes) {
            visit({memory + run.start(layout) + next, bytes});
        });
    });
}

} // namespace farfield::stencil::cuda
