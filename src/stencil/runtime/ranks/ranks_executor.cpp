#include "stencil/runtime/ranks/ranks_executor.h"

#include "backend/comm/communicator_access.h"
#include "stencil/runtime/ranks/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace farfield::stencil::ranks {
namespace {

constexpr int to_first_tag = 2, from_first_tag = 3;        // rim_exchange.cpp has others
constexpr std::int64_t most_bytes = std::int64_t{1} << 26; // of a message of a whole field's values

/// Calls visit(box) for parts of a box of at most `most` cells or a row, in their order in memory.
template <class Visit>
void for_each_chunk(const ir::CellBox& box, std::int64_t most, Visit&& visit) {
    if (box.empty()) return;
    const auto row = box.last[0] - box.first[0], rows = box.last[1] - box.first[1];
    const auto rows_a_chunk = std::clamp<std::int64_t>(most / row, 1, rows);
    const auto planes_a_chunk = rows_a_chunk < rows ? 1 : std::max<std::int64_t>(1, most / (row * rows));
    for (auto z = box.first[2]; z < box.last[2]; z += planes_a_chunk)
        for (auto y = box.first[1]; y < box.last[1]; y += rows_a_chunk)
            visit(ir::CellBox{{box.first[0], y, z},
                              {box.last[0], std::min(y + rows_a_chunk, box.last[1]),
                               std::min(z + planes_a_chunk, box.last[2])}});
}

/// Calls visit(place of the row in the grid, place in the box, cells) for the rows of a box.
template <class Visit>
void for_each_row(const ir::CellBox& box, const ir::Shape& shape, Visit&& visit) {
    std::int64_t place = 0;
    const auto cells = box.last[0] - box.first[0];
    for (auto z = box.first[2]; z < box.last[2]; ++z)
        for (auto y = box.first[1]; y < box.last[1]; ++y, place += cells)
            visit(box.first[0] + shape[0] * (y + shape[1] * z), place, cells);
}

template <class T>
void put_as(const ir::CellBox& box, const ir::Shape& shape, const std::vector<std::byte>& from,
            std::span<double> values) {
    for_each_row(box, shape, [&](std::int64_t at, std::int64_t place, std::int64_t cells) {
        const auto* numbers = reinterpret_cast<const T*>(from.data()) + place;
        std::copy_n(numbers, cells, values.begin() + at);
    });
}

template <class T>
void get_as(const ir::CellBox& box, const ir::Shape& shape, std::span<const double> values,
            std::vector<std::byte>& to) {
    for_each_row(box, shape, [&](std::int64_t at, std::int64_t place, std::int64_t cells) {
        auto* numbers = reinterpret_cast<T*>(to.data()) + place;
        std::transform(values.begin() + at, values.begin() + at + cells, numbers,
                       [](double value) { return static_cast<T>(value); });
    });
}

} // namespace

RanksExecutor::RanksExecutor(std::shared_ptr<const ir::Program> program, const Communicator& communicator,
                             const MakeExecutor& make, int steps_wanted, MpiGpu mpi_gpu)
    : Executor(std::move(program)), communicator_(communicator),
      transport_(*CommunicatorAccess::transport(communicator_)),
      divisions_(divide(*program_, transport_.size())),
      steps_a_pass_(ranks::steps_a_pass(*program_, divisions_, steps_wanted)),
      halos_(halos_of(*program_, static_cast<int>(steps_a_pass_))),
      plan_(plan_exchange(*program_, divisions_, halos_, transport_.rank())),
      of_rank_(part_of(*program_, divisions_, halos_, transport_.rank())), part_(make(of_rank_.program)),
      recorded_(program_->records.size()), preparation_(part_->preparation()), mpi_gpu_(mpi_gpu) {
    for (const auto& record : program_->records)
        record_parts_.emplace_back(record, divisions_[static_cast<std::size_t>(record.grid)]);
    part_->leave_records_to([this](int number, std::int64_t per_row, const std::vector<double>& rows) {
        const auto r = static_cast<std::size_t>(of_rank_.records[static_cast<std::size_t>(number)]);
        record_parts_[r].append(transport_.rank(), per_row, rows, recorded_[r]);
    });
    const auto of_part = part_->steps_a_pass();
    if (of_part <= steps_a_pass_) steps_a_pass_ -= steps_a_pass_ % of_part;
    preparation_.description += fmt::format("; {} ranks", transport_.size());
}

const ir::CellBox& RanksExecutor::block(int buffer, int rank) const {
    const auto grid = program_->buffers[static_cast<std::size_t>(buffer)].grid;
    return divisions_[static_cast<std::size_t>(grid)].blocks[static_cast<std::size_t>(rank)];
}

std::vector<ir::CellBox> RanksExecutor::held(int buffer, int rank) const {
    const auto g = static_cast<std::size_t>(program_->buffers[static_cast<std::size_t>(buffer)].grid);
    return grown(block(buffer, rank), halos_.held[g], program_->grids[g].shape, halos_.wraps[g]);
}

std::int64_t RanksExecutor::value_size(int buffer) const {
    const auto precision = program_->buffers[static_cast<std::size_t>(buffer)].precision;
    return precision == Precision::single_precision ? sizeof(float) : sizeof(double);
}

void RanksExecutor::advance(std::int64_t count) {
    if (!exchange_) agree();
    while (count > 0) {
        const auto steps = std::min(count, steps_a_pass_);
        if (!rims_are_right_) exchange_->bring();
        part_->advance(steps);
        rims_are_right_ = false;
        step_ += steps;
        count -= steps;
    }
    collect_records();
}

// Parts may have been planned for different numbers of steps a pass.
void RanksExecutor::agree() {
    const auto all = comm::all_values(transport_, steps_a_pass_);
    steps_a_pass_ = *std::min_element(all.begin(), all.end());
    exchange_ = make_rim_exchange(transport_, *program_, plan_, *part_, mpi_gpu_);
    preparation_.description += fmt::format(", {} {} between exchanges {}", steps_a_pass_,
                                            steps_a_pass_ == 1 ? "step" : "steps", exchange_->name());
}

// Once for all steps of an advance: the ranks know of each other how many numbers they have.
void RanksExecutor::collect_records() {
    std::vector<std::int64_t> times(recorded_.size());
    std::vector<double> mine;
    for (std::size_t r = 0; r < recorded_.size(); ++r) {
        const auto every = program_->records[r].every;
        times[r] = step_ / every - collected_ / every;
        const bool has_none = std::find(of_rank_.records.begin(), of_rank_.records.end(),
                                        static_cast<int>(r)) == of_rank_.records.end();
        for (std::int64_t time = 0; has_none && time < times[r]; ++time)
            record_parts_[r].append_nothing(transport_.rank(), recorded_[r]);
        mine.insert(mine.end(), recorded_[r].begin(), recorded_[r].end());
        recorded_[r].clear();
    }
    collected_ = step_;
    const auto ranks = static_cast<std::size_t>(transport_.size());
    std::vector<std::int64_t> counts(ranks, 0);
    std::int64_t total = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        for (std::size_t r = 0; r < times.size(); ++r)
            counts[rank] += times[r] * record_parts_[r].count(static_cast<int>(rank));
        total += counts[rank];
    }
    if (total == 0) return;
    const auto all = comm::all_gathered(transport_, std::span<const double>(mine), counts);
    std::vector<std::size_t> next(ranks, 0); // in `all`
    for (std::size_t rank = 1; rank < ranks; ++rank)
        next[rank] = next[rank - 1] + static_cast<std::size_t>(counts[rank - 1]);
    std::vector<std::span<const double>> parts(ranks);
    for (std::size_t r = 0; r < times.size(); ++r)
        for (std::int64_t time = 0; time < times[r]; ++time) {
            for (std::size_t rank = 0; rank < ranks; ++rank) {
                const auto size = static_cast<std::size_t>(record_parts_[r].count(static_cast<int>(rank)));
                parts[rank] = std::span(all).subspan(next[rank], size);
                next[rank] += size;
            }
            series_[r].push_back(record_parts_[r].value(parts));
        }
}

const ir::Shape& RanksExecutor::shape(int buffer) const {
    const auto grid = program_->buffers[static_cast<std::size_t>(buffer)].grid;
    return program_->grids[static_cast<std::size_t>(grid)].shape;
}

// Rank by rank, on that rank and on rank 0, for pieces of its boxes: visit(rank, cells, their values).
template <class Boxes, class Visit>
void RanksExecutor::each_with_first(int buffer, const Boxes& boxes, const Visit& visit) {
    const auto size = value_size(buffer);
    std::vector<std::byte> bytes;
    for (int rank = 0; rank < transport_.size(); ++rank) {
        if (transport_.rank() != 0 && transport_.rank() != rank) continue;
        for (const auto& box : boxes(rank))
            for_each_chunk(box, most_bytes / size, [&](const ir::CellBox& chunk) {
                bytes.resize(static_cast<std::size_t>(chunk.count() * size));
                visit(rank, chunk, bytes);
            });
    }
}

void RanksExecutor::read_to_first(int buffer, std::span<double> values) {
    const bool single = value_size(buffer) == static_cast<std::int64_t>(sizeof(float));
    each_with_first(
        buffer, [&](int rank) { return std::array{block(buffer, rank)}; },
        [&](int rank, const ir::CellBox& chunk, std::vector<std::byte>& bytes) {
            if (transport_.rank() == rank) part_->read_cells(buffer, chunk, bytes);
            if (transport_.rank() != 0) return transport_.send(bytes, 0, to_first_tag)->wait();
            if (rank != 0) transport_.receive(bytes, rank, to_first_tag)->wait();
            single ? put_as<float>(chunk, shape(buffer), bytes, values)
                   : put_as<double>(chunk, shape(buffer), bytes, values);
        });
}

void RanksExecutor::read(int buffer, std::span<double> values) {
    read_to_first(buffer, values);
    constexpr std::size_t most = most_bytes / sizeof(double);
    for (std::size_t at = 0; at < values.size(); at += most)
        transport_.broadcast(comm::bytes_of(values.subspan(at, std::min(most, values.size() - at))), 0);
}

void RanksExecutor::write(int buffer, std::span<const double> values) { part_->write(buffer, values); }

// Rims as well, and all copies: cells that no kernel writes are alike in them.
void RanksExecutor::write_from_first(int buffer, std::span<const double> values) {
    const bool single = value_size(buffer) == static_cast<std::int64_t>(sizeof(float));
    each_with_first(
        buffer, [&](int rank) { return held(buffer, rank); },
        [&](int rank, const ir::CellBox& chunk, std::vector<std::byte>& bytes) {
            if (transport_.rank() == 0)
                single ? get_as<float>(chunk, shape(buffer), values, bytes)
                       : get_as<double>(chunk, shape(buffer), values, bytes);
            if (transport_.rank() != rank) return transport_.send(bytes, rank, from_first_tag)->wait();
            if (rank != 0) transport_.receive(bytes, 0, from_first_tag)->wait();
            part_->write_cells(buffer, chunk, bytes, true);
        });
}

void RanksExecutor::set_step(std::int64_t step) {
    step_ = collected_ = step;
    part_->set_step(step);
}

} // namespace farfield::stencil::ranks
