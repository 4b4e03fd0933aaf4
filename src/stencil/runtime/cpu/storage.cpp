// Memory of the cpu target.
#include "stencil/runtime/cpu/storage.h"

#include "backend/threads/parallel.h"
#include "stencil/ir/row_evaluator.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace farfield::stencil::cpu {
namespace {

constexpr std::int64_t line = 64;          // bytes of a line of the caches
constexpr std::int64_t stagger = 9 * line; // between the starts of buffers

std::int64_t round_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

// Rows start on lines, an odd number of lines apart: neighbouring rows use different sets of the caches.
std::int64_t pitch_of(std::int64_t bytes) { return round_up(bytes, 2 * line) + line; }

// Whether so much of the rows is never touched that they are worth taking apart.
bool has_gaps(const Extents& extents, std::int64_t length) {
    std::int64_t touched = 0;
    for (const auto& part : extents) touched += part.last - part.first;
    return 20 * touched < 19 * length * static_cast<std::int64_t>(extents.size());
}

} // namespace

// Memory from the system, in large pages where it has them, all 0.
struct Storage::Block {
    explicit Block(std::size_t bytes) : size(bytes) {
        data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (data == MAP_FAILED)
            throw IoError(fmt::format(
                "{} bytes of memory for the fields are not to be had; make the grid smaller", bytes));
#ifdef MADV_HUGEPAGE
        madvise(data, size, MADV_HUGEPAGE); // advice only
#endif
    }
    ~Block() { munmap(data, size); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    void* data = nullptr;
    std::size_t size = 0;
};

std::byte* Rows::outside(std::int64_t y, std::int64_t z) const {
    const auto row = ir::bounded_index(y, rows, row_boundary);
    const auto plane = ir::bounded_index(z, planes, plane_boundary);
    return row < 0 || plane < 0 ? zeros : at(row, plane);
}

Storage::Storage(const ir::Program& program, int threads, const std::vector<Extents>& extents)
    : program_(program), threads_(threads) {
    std::int64_t longest = 1;
    std::int64_t count = 0;
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const auto& buffer = program.buffers[b];
        const auto& shape = program.grids[buffer.grid].shape;
        const auto size = static_cast<std::int64_t>(value_size(static_cast<int>(b)));
        longest = std::max(longest, shape[0] * size);
        auto& copies = places_.emplace_back();
        for (int copy = 0; copy < buffer.copies; ++copy) {
            Place place;
            place.length = buffer.axis < 0 ? shape[0] : shape[buffer.axis];
            if (buffer.axis < 0) {
                place.rows = shape[1];
                place.planes = shape[2];
            }
            place.pitch = pitch_of(place.length * size);
            const auto rank = program.grids[buffer.grid].rank;
            place.slab = buffer.axis < 0 ? place.pitch * (rank == 3 ? place.rows : 1) : 0;
            auto used = place.pitch * place.rows * place.planes;
            if (!extents.empty() && has_gaps(extents[b], place.length))
                used = take_apart(place, size, extents[b], rank);
            const auto start = count++ % 7 * stagger;
            constexpr std::int64_t huge_page = std::int64_t{1} << 21;
            const auto bytes = start + used + line;
            auto& block = blocks_.emplace_back(std::make_unique<Block>(
                static_cast<std::size_t>(bytes >= huge_page ? round_up(bytes, huge_page) : bytes)));
            place.base = static_cast<std::byte*>(block->data) + start;
            copies.push_back(place);
            // The thread that first touches a page decides which memory it lies in.
            parallel_own(threads_, [&](std::int64_t piece) {
                const auto from = used * piece / threads_, to = used * (piece + 1) / threads_;
                std::memset(place.base + from, 0, static_cast<std::size_t>(to - from));
            });
        }
    }
    auto& block = blocks_.emplace_back(std::make_unique<Block>(static_cast<std::size_t>(longest + 2 * line)));
    zeros_ = static_cast<std::byte*>(block->data) + line;
}

Storage::~Storage() = default;

std::size_t Storage::value_size(int buffer) const {
    return program_.buffers[buffer].precision == Precision::single_precision ? sizeof(float) : sizeof(double);
}

std::int64_t Storage::take_apart(Place& place, std::int64_t size, const Extents& extents, int rank) {
    const auto unit = line / size; // so that a cell lies at the same place of a line in all rows
    const auto rows_of_slab = rank == 3 ? place.rows : 1;
    std::int64_t at = 0;
    std::int64_t slab_start = 0;
    place.slab = 0;
    for (std::size_t row = 0; row < extents.size(); ++row) {
        auto part = extents[row];
        if (part.last <= part.first) part = {0, 0};
        part.first -= part.first % unit;
        place.parts.push_back(part);
        place.starts.push_back(at - part.first * size);
        if (part.last > part.first) at += pitch_of((part.last - part.first) * size);
        if ((static_cast<std::int64_t>(row) + 1) % rows_of_slab != 0) continue;
        place.slab = std::max(place.slab, at - slab_start);
        slab_start = at;
    }
    for (const auto& part : place.parts) {
        place.others.push_back(at);
        at += (place.length - (part.last - part.first)) * size;
    }
    return round_up(at, line);
}

Storage::Pieces Storage::pieces(const Place& place, std::int64_t row, std::int64_t size) {
    if (place.parts.empty()) return {{{{0, place.length}, place.base + row * place.pitch}, {}, {}}};
    const auto& part = place.parts[row];
    auto* others = place.base + place.others[row];
    return {{{{0, part.first}, others},
             {part, place.base + place.starts[row] + part.first * size},
             {{part.last, place.length}, others + part.first * size}}};
}

Rows Storage::rows(int buffer, int copy) const {
    const auto& b = program_.buffers[buffer];
    const auto& place = places_[buffer][copy];
    const auto size = static_cast<std::int64_t>(value_size(buffer));
    const auto& shape = program_.grids[b.grid].shape;
    Rows rows;
    rows.base = place.base;
    rows.rows = shape[1];
    rows.planes = shape[2];
    rows.row_boundary = b.boundary[1];
    rows.plane_boundary = b.boundary[2];
    rows.zeros = zeros_;
    if (b.axis < 0) {
        rows.row_pitch = place.pitch;
        rows.plane_pitch = place.pitch * place.rows;
        if (!place.starts.empty()) rows.starts = place.starts.data();
    } else if (b.axis == 1) {
        rows.row_pitch = size;
    } else if (b.axis == 2) {
        rows.plane_pitch = size;
    }
    return rows;
}

std::int64_t Storage::slab_bytes(int buffer) const {
    return places_[buffer][0].slab * program_.buffers[buffer].copies;
}

template <class T>
void Storage::read_as(const Place& place, std::span<double> values) const {
    parallel_for(threads_, place.rows * place.planes, [&](std::int64_t row) {
        for (const auto& [cells, at] : pieces(place, row, sizeof(T)))
            std::copy_n(reinterpret_cast<const T*>(at), cells.last - cells.first,
                        values.begin() + row * place.length + cells.first);
    });
}

template <class T>
void Storage::write_cells(const Place& place, std::int64_t row, std::int64_t first,
                          std::span<const double> values) {
    const auto last = first + static_cast<std::int64_t>(values.size());
    for (const auto& [cells, at] : pieces(place, row, sizeof(T))) {
        const auto from = std::max(first, cells.first), to = std::min(last, cells.last);
        if (from < to)
            std::transform(values.begin() + (from - first), values.begin() + (to - first),
                           reinterpret_cast<T*>(at) + (from - cells.first),
                           [](double value) { return static_cast<T>(value); });
    }
}

template <class T>
void Storage::write_as(const Place& place, std::span<const double> values) {
    parallel_for(threads_, place.rows * place.planes, [&](std::int64_t row) {
        write_cells<T>(place, row, 0,
                       values.subspan(static_cast<std::size_t>(row * place.length),
                                      static_cast<std::size_t>(place.length)));
    });
}

void Storage::read(int buffer, int copy, std::span<double> values) const {
    const auto& place = places_[buffer][copy];
    if (value_size(buffer) == sizeof(float))
        read_as<float>(place, values);
    else
        read_as<double>(place, values);
}

void Storage::write(int buffer, int copy, std::span<const double> values) {
    const auto& place = places_[buffer][copy];
    if (value_size(buffer) == sizeof(float))
        write_as<float>(place, values);
    else
        write_as<double>(place, values);
}

void Storage::write_row(int buffer, int copy, std::int64_t row, std::int64_t first,
                        std::span<const double> values) {
    const auto& place = places_[buffer][copy];
    if (value_size(buffer) == sizeof(float))
        write_cells<float>(place, row, first, values);
    else
        write_cells<double>(place, row, first, values);
}

} // namespace farfield::stencil::cpu
