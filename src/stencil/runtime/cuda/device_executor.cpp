// Steps come in batches: the clock of all their steps is sent ahead, then the
// kernels follow each other without the host.
#include "stencil/runtime/cuda/device_executor.h"

#include "stencil/runtime/initial_values.h"

#include <farfield/error.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace farfield::stencil::cuda {

namespace {

using codegen::cuda::ArgumentKind;
using codegen::cuda::BufferLayout;

constexpr std::int64_t longest_batch = 256;

std::uint64_t bits(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// Where row 0 of plane 0 would lie. Nothing need be there: kernels touch the rows in memory.
std::uint64_t row_zero(const void* memory, const BufferLayout& layout) {
    return bits(memory) + static_cast<std::uint64_t>(layout.place(0, 0));
}

// A row's piece, from cell `first` on; `at` is the row's place.
void store(const BufferLayout& layout, char* at, std::int64_t first, std::span<const double> values) {
    at += first * layout.value_bytes;
    if (layout.value_bytes == 8) {
        std::memcpy(at, values.data(), values.size_bytes());
        return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto narrow = static_cast<float>(values[i]);
        std::memcpy(at + 4 * i, &narrow, 4);
    }
}

/// Calls visit(place, number of the first value in the grid) for the rows in memory.
template <class Visit>
void each_row(const BufferLayout& layout, const ir::Shape& shape, const Visit& visit) {
    for (auto z = layout.first_plane; z < layout.first_plane + layout.planes; ++z)
        for (auto y = layout.first_row; y < layout.first_row + layout.rows; ++y)
            visit(layout.place(y, z), static_cast<std::size_t>((y + shape[1] * z) * layout.width));
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
    const auto rows = shape_of(buffer)[1];
    initial_values(*program_, buffer,
                   [&](std::int64_t row, std::int64_t first, std::span<const double> values) {
                       store(layout, content.data() + layout.place(row % rows, row / rows), first, values);
                   });
    upload_all_copies(buffer, content);
}

void DeviceExecutor::write(int buffer, std::span<const double> values) {
    const auto& layout = plan_.buffers.at(static_cast<std::size_t>(buffer));
    std::vector<char> content(layout.bytes(), 0);
    each_row(layout, shape_of(buffer), [&](std::int64_t place, std::size_t first) {
        store(layout, content.data() + place, 0,
              values.subspan(first, static_cast<std::size_t>(layout.width)));
    });
    upload_all_copies(buffer, content);
}

void DeviceExecutor::read(int buffer, std::span<double> values) {
    const auto& layout = plan_.buffers.at(static_cast<std::size_t>(buffer));
    const auto& copies = copies_[static_cast<std::size_t>(buffer)];
    std::vector<char> content(layout.bytes());
    machine_->download(content.data(), copies.memory[copies.current], content.size());
    if (!program_->held.empty()) std::fill(values.begin(), values.end(), 0.0); // of rows that are elsewhere
    each_row(layout, shape_of(buffer), [&](std::int64_t place, std::size_t first) {
        const char* from = content.data() + place;
        double* to = values.data() + first;
        for (std::int64_t i = 0; i < layout.width; ++i) {
            float narrow = 0;
            if (layout.value_bytes == 8) {
                std::memcpy(to + i, from + 8 * i, 8);
            } else {
                std::memcpy(&narrow, from + 4 * i, 4);
                to[i] = static_cast<double>(narrow);
            }
        }
    });
}

BoundLaunch DeviceExecutor::bind(const codegen::cuda::Launch& launch, std::int64_t row, std::int64_t steps,
                                 const Schedule& schedule) {
    BoundLaunch bound;
    bound.launch = &launch;
    for (const auto& argument : launch.arguments) {
        const auto i = static_cast<std::size_t>(argument.index);
        switch (argument.kind) {
        case ArgumentKind::current:
            bound.values.push_back(row_zero(copies_[i].memory[schedule.current[i]], plan_.buffers[i]));
            break;
        case ArgumentKind::other:
            bound.values.push_back(row_zero(copies_[i].memory[1 - schedule.current[i]], plan_.buffers[i]));
            break;
        case ArgumentKind::table:
            bound.values.push_back(bits(tables_[i]));
            break;
        case ArgumentKind::scratch:
            bound.values.push_back(bits(scratch_[i]) -
                                   static_cast<std::uint64_t>(plan_.scratch[i].first) * sizeof(double));
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
        case ArgumentKind::first_block:
        case ArgumentKind::first_row:
        case ArgumentKind::end_row:
            throw InternalError("a plan by rows, which projects alone launch");
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
