// Steps come in batches: the clock of all their steps is sent ahead, then the
// kernels follow each other without the host.
#include "stencil/runtime/cuda/device_executor.h"

#include "stencil/ir/reduction.h"
#include "stencil/runtime/initial_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace farfield::stencil::cuda {

namespace {

using codegen::cuda::ArgumentKind;
using codegen::cuda::BufferLayout;

constexpr std::int64_t longest_batch = 256;

std::uint64_t bits(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// Calls put(place in the buffer, value) for a row's piece.
void store(const BufferLayout& layout, std::vector<char>& content, std::int64_t row, std::int64_t first,
           std::span<const double> values) {
    char* at = content.data() + (row * layout.pitch + first) * layout.value_bytes;
    if (layout.value_bytes == 8) {
        std::memcpy(at, values.data(), values.size_bytes());
        return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto narrow = static_cast<float>(values[i]);
        std::memcpy(at + 4 * i, &narrow, 4);
    }
}

/// Rows of a buffer at the same distance from each other.
struct Run {
    std::ptrdiff_t start = 0; ///< bytes from the start of the buffer
    PitchedRows rows;
};

/// Calls visit(run) for the runs that hold the cells of a box, in their order.
template <class Visit>
void each_run(const BufferLayout& layout, const ir::Shape& shape, const ir::CellBox& cells,
              const Visit& visit) {
    const auto width = cells.last[0] - cells.first[0];
    const auto run = [&](std::int64_t row, std::int64_t rows) {
        const auto bytes_of = [&](std::int64_t count) {
            return static_cast<std::size_t>(count * layout.value_bytes);
        };
        visit(Run{(row * layout.pitch + cells.first[0]) * layout.value_bytes,
                  {.count = rows, .width = bytes_of(width), .pitch = bytes_of(layout.pitch)}});
    };
    if (cells.first[1] == 0 && cells.last[1] == shape[1])
        return run(cells.first[2] * shape[1], (cells.last[2] - cells.first[2]) * shape[1]);
    for (auto z = cells.first[2]; z < cells.last[2]; ++z)
        run(cells.first[1] + shape[1] * z, cells.last[1] - cells.first[1]);
}

bool starts_at_zero(const ir::Buffer& buffer) {
    if (buffer.initial.nodes.empty()) return false; // its values are given
    const auto& result = buffer.initial.nodes[static_cast<std::size_t>(buffer.initial.result)];
    return result.op == ir::Op::constant && std::bit_cast<std::uint64_t>(result.real) == 0 &&
           result.integer == 0;
}

} // namespace

DeviceExecutor::DeviceExecutor(std::shared_ptr<const ir::Program> program, const ExecutorOptions& options,
                               std::unique_ptr<Machine> machine)
    : Executor(std::move(program)), plan_(codegen::cuda::plan_program(*program_, options)),
      machine_(std::move(machine)), uniforms_(*program_) {
    preparation_.compile_seconds = machine_->load(plan_);
    preparation_.cached = preparation_.compile_seconds == 0;
    preparation_.description = "cuda, " + machine_->description() + ", " + plan_.description;
    const auto include = [this](std::int64_t every) {
        // beyond the longest batch a common period is of no use
        if (period_ <= longest_batch) period_ = std::lcm(period_, every);
    };
    for (const auto& pass : plan_.passes) include(pass.every);
    for (const auto& record : plan_.records) include(record.every);
    for (const auto& kernel : program_->kernels) include(kernel.every);
    const auto whole = std::lcm(period_ <= longest_batch ? period_ : 1, 2 * plan_.steps_a_pass);
    batch_ = whole > longest_batch ? longest_batch : longest_batch / whole * whole;
    allocate();
    for (std::size_t b = 0; b < program_->buffers.size(); ++b) fill(static_cast<int>(b));
    record_rows_.resize(program_->records.size());
    record_atoms_.resize(program_->records.size());
}

void DeviceExecutor::allocate() {
    for (const auto& layout : plan_.buffers) {
        Copies copies;
        for (int c = 0; c < layout.copies; ++c) copies.memory[c] = machine_->allocate(layout.bytes());
        copies_.push_back(copies);
    }
    for (const auto& table : plan_.tables) {
        tables_.push_back(machine_->allocate(std::max<std::size_t>(table.bytes.size(), 1)));
        machine_->upload(tables_.back(), table.bytes.data(), table.bytes.size());
    }
    for (const auto& scratch : plan_.scratch) {
        const std::vector<double> content(static_cast<std::size_t>(scratch.values), scratch.initial);
        scratch_.push_back(machine_->allocate(content.size() * sizeof(double)));
        machine_->upload(scratch_.back(), content.data(), content.size() * sizeof(double));
    }
    for (std::size_t r = 0; r < plan_.records.size(); ++r)
        series_memory_.push_back(machine_->allocate(static_cast<std::size_t>(batch_) * sizeof(double)));
    clock_ = machine_->allocate(static_cast<std::size_t>(batch_ * plan_.clock_row) * sizeof(double));
}

void DeviceExecutor::upload_all_copies(int buffer, const std::vector<char>& content) {
    for (void* memory : copies_[static_cast<std::size_t>(buffer)].memory)
        if (memory != nullptr) machine_->upload(memory, content.data(), content.size());
}

void DeviceExecutor::fill(int buffer) {
    const auto& layout = plan_.buffers[static_cast<std::size_t>(buffer)];
    if (starts_at_zero(program_->buffers[static_cast<std::size_t>(buffer)])) {
        for (void* memory : copies_[static_cast<std::size_t>(buffer)].memory)
            if (memory != nullptr) machine_->clear(memory, layout.bytes());
        return;
    }
    std::vector<char> content(layout.bytes(), 0);
    initial_values(*program_, buffer,
                   [&](std::int64_t row, std::int64_t first, std::span<const double> values) {
                       store(layout, content, row, first, values);
                   });
    upload_all_copies(buffer, content);
}

void DeviceExecutor::write(int buffer, std::span<const double> values) {
    const auto& layout = plan_.buffers.at(static_cast<std::size_t>(buffer));
    std::vector<char> content(layout.bytes(), 0);
    for (std::int64_t row = 0; row < layout.rows; ++row)
        store(layout, content, row, 0,
              values.subspan(static_cast<std::size_t>(row * layout.width),
                             static_cast<std::size_t>(layout.width)));
    upload_all_copies(buffer, content);
}

void DeviceExecutor::read(int buffer, std::span<double> values) {
    const auto& layout = plan_.buffers.at(static_cast<std::size_t>(buffer));
    const auto& copies = copies_[static_cast<std::size_t>(buffer)];
    std::vector<char> content(layout.bytes());
    machine_->download(content.data(), copies.memory[copies.current], content.size());
    for (std::int64_t row = 0; row < layout.rows; ++row) {
        const char* from = content.data() + row * layout.pitch * layout.value_bytes;
        double* to = values.data() + row * layout.width;
        for (std::int64_t i = 0; i < layout.width; ++i) {
            float narrow = 0;
            if (layout.value_bytes == 8) {
                std::memcpy(to + i, from + 8 * i, 8);
            } else {
                std::memcpy(&narrow, from + 4 * i, 4);
                to[i] = static_cast<double>(narrow);
            }
        }
    }
}

BoundLaunch DeviceExecutor::bind(const codegen::cuda::Launch& launch, std::int64_t row, std::int64_t steps,
                                 const Schedule& schedule) {
    BoundLaunch bound;
    bound.launch = &launch;
    for (const auto& argument : launch.arguments) {
        const auto i = static_cast<std::size_t>(argument.index);
        switch (argument.kind) {
        case ArgumentKind::current:
            bound.values.push_back(bits(copies_[i].memory[schedule.current[i]]));
            break;
        case ArgumentKind::other:
            bound.values.push_back(bits(copies_[i].memory[1 - schedule.current[i]]));
            break;
        case ArgumentKind::table:
            bound.values.push_back(bits(tables_[i]));
            break;
        case ArgumentKind::scratch:
            bound.values.push_back(bits(scratch_[i]));
            break;
        case ArgumentKind::clock:
            bound.values.push_back(bits(static_cast<double*>(clock_) + row * plan_.clock_row));
            break;
        case ArgumentKind::steps:
            bound.values.push_back(static_cast<std::uint64_t>(steps));
            break;
        case ArgumentKind::series:
            bound.values.push_back(bits(static_cast<double*>(series_memory_[i]) + schedule.recorded[i]));
            break;
        case ArgumentKind::number:
            bound.values.push_back(static_cast<std::uint64_t>(argument.index));
            break;
        }
    }
    return bound;
}

DeviceExecutor::Schedule DeviceExecutor::schedule(std::int64_t start, std::int64_t count) {
    Schedule schedule;
    for (const auto& copies : copies_) schedule.current.push_back(copies.current);
    schedule.recorded.assign(plan_.records.size(), 0);
    for (std::int64_t row = 0; row < count;) {
        auto steps = std::min(plan_.steps_a_pass, count - row);
        // a pass ends where a record falls due that it does not take itself
        for (const auto& record : plan_.records)
            if (!record.launches.empty())
                steps = std::min(steps, record.every - (start + row) % record.every);
        for (const auto& pass : plan_.passes) {
            if ((start + row) % pass.every != 0) continue;
            for (const auto& launch : pass.launches)
                schedule.launches.push_back(bind(launch, row, steps, schedule));
            for (const int b : pass.swapped) schedule.current[static_cast<std::size_t>(b)] ^= 1;
        }
        row += steps;
        for (std::size_t r = 0; r < plan_.records.size(); ++r) {
            const auto& record = plan_.records[r];
            const auto due = (start + row) / record.every - (start + row - steps) / record.every;
            const auto launches = leaves_rows(r) ? 1 : record.launches.size(); // the first makes the atoms
            if ((start + row) % record.every == 0)
                for (const auto& launch : std::span(record.launches).first(launches))
                    schedule.launches.push_back(bind(launch, row - 1, 1, schedule));
            if (!leaves_rows(r)) schedule.recorded[r] += due;
        }
    }
    return schedule;
}

void DeviceExecutor::set_clock(std::int64_t start, std::int64_t count) {
    std::vector<double> rows;
    rows.reserve(static_cast<std::size_t>(count * plan_.clock_row));
    for (std::int64_t s = start; s < start + count; ++s) {
        rows.push_back(static_cast<double>(s) * program_->dt);
        rows.push_back(static_cast<double>(s));
        const auto values = uniforms_.at(s);
        rows.insert(rows.end(), values.begin(), values.end());
    }
    machine_->upload(clock_, rows.data(), rows.size() * sizeof(double));
}

void DeviceExecutor::collect(const Schedule& schedule) {
    for (std::size_t r = 0; r < schedule.recorded.size(); ++r) {
        if (schedule.recorded[r] == 0) continue;
        std::vector<double> values(static_cast<std::size_t>(schedule.recorded[r]));
        machine_->download(values.data(), series_memory_[r], values.size() * sizeof(double));
        if (record_sink_)
            deliver_values(static_cast<int>(r), values);
        else
            series_[r].insert(series_[r].end(), values.begin(), values.end());
    }
}

// Of a sum or an extremum, which other ranks have a part of.
bool DeviceExecutor::leaves_rows(std::size_t record) const {
    return record_sink_ && program_->records[record].reduction != Reduction::value;
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
        const auto* on_gpu =
            static_cast<const double*>(scratch_[static_cast<std::size_t>(plan_.records[r].atoms)]);
        machine_->download(atoms.data() + begin, on_gpu + begin,
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
        machine_->download_rows(to, memory + run.start, run.rows);
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
                machine_->upload_rows(static_cast<std::byte*>(copies_[b].memory[c]) + run.start, from,
                                      run.rows);
        from += run.rows.bytes();
    });
}

const ir::Shape& DeviceExecutor::shape_of(int buffer) const {
    const auto grid = program_->buffers[static_cast<std::size_t>(buffer)].grid;
    return program_->grids[static_cast<std::size_t>(grid)].shape;
}

// How many copies each buffer has, a byte each, then the handles of all: plans of parts differ.
std::vector<std::byte> DeviceExecutor::offer() {
    std::vector<std::byte> counts, handles;
    for (std::size_t b = 0; b < copies_.size(); ++b) {
        counts.push_back(static_cast<std::byte>(plan_.buffers[b].copies));
        for (int c = 0; c < plan_.buffers[b].copies; ++c) {
            const auto handle = machine_->handle_of(copies_[b].memory[c]);
            if (handle.empty()) return {};
            handles.insert(handles.end(), handle.begin(), handle.end());
        }
    }
    counts.insert(counts.end(), handles.begin(), handles.end());
    return counts;
}

bool DeviceExecutor::open(int peer, std::span<const std::byte> offer) {
    if (offer.empty()) return false;
    const auto counts = offer.first(copies_.size());
    auto handles = offer.subspan(counts.size());
    std::size_t all = 0;
    for (const auto count : counts) all += std::to_integer<std::size_t>(count);
    const auto bytes = handles.size() / all;
    auto& opened = of_peers_[peer];
    opened.assign(copies_.size(), {});
    for (std::size_t b = 0; b < copies_.size(); ++b)
        for (std::size_t c = 0; c < std::to_integer<std::size_t>(counts[b]); ++c) {
            opened[b].at(c) = machine_->open(handles.first(bytes));
            handles = handles.subspan(bytes);
            if (opened[b].at(c) == nullptr) return false;
        }
    return true;
}

void DeviceExecutor::close() {
    for (const auto& [peer, buffers] : of_peers_)
        for (const auto& copies : buffers)
            for (void* memory : copies)
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
    const auto* from = static_cast<const std::byte*>(of_peers_.at(peer)[b][static_cast<std::size_t>(copy)]);
    auto* to = static_cast<std::byte*>(copies_[b].memory[copies_[b].current]);
    each_run(layout, shape_of(buffer), cells, [&](const Run& run) {
        const auto& [count, width, pitch] = run.rows;
        const bool whole = width == static_cast<std::size_t>(layout.width * layout.value_bytes);
        // with what lies between rows, which is nobody's
        const auto pieces = whole ? 1 : count;
        const auto bytes = whole ? static_cast<std::size_t>(count - 1) * pitch + width : width;
        for (std::int64_t row = 0; row < pieces; ++row) {
            const auto at = run.start + row * static_cast<std::ptrdiff_t>(pitch);
            machine_->copy(to + at, from + at, bytes);
        }
    });
}

void DeviceExecutor::advance(std::int64_t count) {
    while (count > 0) {
        const auto steps = std::min(count, steps_to_rows());
        set_clock(step_, steps);
        const bool repeats = steps == batch_ && period_ <= longest_batch;
        Key key{steps, period_ <= longest_batch ? step_ % period_ : 0, {}};
        for (const auto& copies : copies_) key.current.push_back(copies.current);
        const bool keep = period_ <= longest_batch && (schedules_.size() < 16 || schedules_.contains(key));
        Schedule once;
        if (!keep) once = schedule(step_, steps);
        if (keep && !schedules_.contains(key)) schedules_[key] = schedule(step_, steps);
        const Schedule& list = keep ? schedules_.at(key) : once;
        machine_->run(list.launches, repeats && keep);
        for (std::size_t b = 0; b < copies_.size(); ++b) copies_[b].current = list.current[b];
        collect(list);
        step_ += steps;
        count -= steps;
        if (record_sink_) deliver_rows();
    }
    machine_->synchronize();
}

} // namespace farfield::stencil::cuda
