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

// Whether so much of the rows that are held is never touched that they are worth taking apart.
bool has_gaps(const ir::Program& program, int grid, const Extents& extents, std::int64_t length) {
    std::int64_t touched = 0;
    std::int64_t held = 0;
    for (std::size_t row = 0; row < extents.size(); ++row) {
        touched += extents[row].last - extents[row].first;
        if (ir::holds_row(program, grid, static_cast<std::int64_t>(row))) ++held;
    }
    return 20 * touched < 19 * length * held;
}

// Whether only some of a plane's rows are held: large pages would be there for the others, too.
bool holds_parts_of_planes(const ir::Program& program, int grid) {
    if (program.held.empty()) return false;
    const auto rows = program.grids[grid].shape[1];
    const auto& boxes = program.held[grid];
    return program.grids[grid].rank == 3 &&
           std::any_of(boxes.begin(), boxes.end(),
                       [&](const ir::CellBox& box) { return box.first[1] > 0 || box.last[1] < rows; });
}

} // namespace

// Memory from the system, in large pages where it has them, all 0.
struct Storage::Block {
    /// @param all whether all of it is used @param large whether large pages are
    Block(std::size_t bytes, bool all, bool large = true) : size(bytes) {
        const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (all ? 0 : MAP_NORESERVE);
        data = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (data == MAP_FAILED)
            throw IoError(fmt::format(
                "{} bytes of memory for the fields are not to be had; make the grid smaller", bytes));
#ifdef MADV_HUGEPAGE
        if (large) madvise(data, size, MADV_HUGEPAGE); // advice only
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
        auto& copies = layouts_.emplace_back();
        for (int copy = 0; copy < buffer.copies; ++copy) {
            Layout layout;
            layout.length = buffer.axis < 0 ? shape[0] : shape[buffer.axis];
            if (buffer.axis < 0) {
                layout.rows = shape[1];
                layout.planes = shape[2];
            }
            layout.pitch = pitch_of(layout.length * size);
            const auto rank = program.grids[buffer.grid].rank;
            layout.slab = buffer.axis < 0 ? layout.pitch * (rank == 3 ? layout.rows : 1) : 0;
            auto used = layout.pitch * layout.rows * layout.planes;
            if (!extents.empty() && has_gaps(program, buffer.grid, extents[b], layout.length))
                used = split_rows(layout, size, extents[b], rank);
            const auto start = count++ % 7 * stagger;
            constexpr std::int64_t huge_page = std::int64_t{1} << 21;
            const auto bytes = start + used + line;
            auto& block = blocks_.emplace_back(std::make_unique<Block>(
                static_cast<std::size_t>(bytes >= huge_page ? round_up(bytes, huge_page) : bytes),
                program.held.empty(), !holds_parts_of_planes(program, buffer.grid)));
            layout.base = static_cast<std::byte*>(block->data) + start;
            copies.push_back(layout);
            if (!program.held.empty()) continue; // memory that is never touched is never there
            // The thread that first touches a page decides which memory it lies in.
            parallel_own(threads_, [&](std::int64_t piece) {
                const auto from = used * piece / threads_, to = used * (piece + 1) / threads_;
                std::memset(layout.base + from, 0, static_cast<std::size_t>(to - from));
            });
        }
    }
    auto& block =
        blocks_.emplace_back(std::make_unique<Block>(static_cast<std::size_t>(longest + 2 * line), true));
    zeros_ = static_cast<std::byte*>(block->data) + line;
}

Storage::~Storage() = default;

std::size_t Storage::value_size(int buffer) const {
    return program_.buffers[buffer].precision == Precision::single_precision ? sizeof(float) : sizeof(double);
}

std::int64_t Storage::split_rows(Layout& layout, std::int64_t size, const Extents& extents, int rank) {
    const auto unit = line / size; // so that a cell lies at the same place of a line in all rows
    const auto rows_of_slab = rank == 3 ? layout.rows : 1;
    std::int64_t at = 0;
    std::int64_t slab_start = 0;
    layout.slab = 0;
    for (std::size_t row = 0; row < extents.size(); ++row) {
        auto part = extents[row];
        if (part.last <= part.first) part = {0, 0};
        part.first -= part.first % unit;
        layout.parts.push_back(part);
        layout.starts.push_back(at - part.first * size);
        if (part.last > part.first) at += pitch_of((part.last - part.first) * size);
        if ((static_cast<std::int64_t>(row) + 1) % rows_of_slab != 0) continue;
        layout.slab = std::max(layout.slab, at - slab_start);
        slab_start = at;
    }
    for (const auto& part : layout.parts) {
        layout.others.push_back(at);
        at += (layout.length - (part.last - part.first)) * size;
    }
    return round_up(at, line);
}

Storage::Pieces Storage::pieces(const Layout& layout, std::int64_t row, std::int64_t size) {
    if (layout.parts.empty()) return {{{{0, layout.length}, layout.base + row * layout.pitch}, {}, {}}};
    const auto& part = layout.parts[row];
    auto* others = layout.base + layout.others[row];
    return {{{{0, part.first}, others},
             {part, layout.base + layout.starts[row] + part.first * size},
             {{part.last, layout.length}, others + part.first * size}}};
}

Rows Storage::rows(int buffer, int copy) const {
    const auto& b = program_.buffers[buffer];
    const auto& layout = layouts_[buffer][copy];
    const auto size = static_cast<std::int64_t>(value_size(buffer));
    const auto& shape = program_.grids[b.grid].shape;
    Rows rows;
    rows.base = layout.base;
    rows.rows = shape[1];
    rows.planes = shape[2];
    rows.row_boundary = b.boundary[1];
    rows.plane_boundary = b.boundary[2];
    rows.zeros = zeros_;
    if (b.axis < 0) {
        rows.row_pitch = layout.pitch;
        rows.plane_pitch = layout.pitch * layout.rows;
        if (!layout.starts.empty()) rows.starts = layout.starts.data();
    } else if (b.axis == 1) {
        rows.row_pitch = size;
    } else if (b.axis == 2) {
        rows.plane_pitch = size;
    }
    return rows;
}

std::int64_t Storage::slab_bytes(int buffer) const {
    return layouts_[buffer][0].slab * program_.buffers[buffer].copies;
}

template <class T>
void Storage::read_as(const Layout& layout, std::span<double> values) const {
    parallel_for(threads_, layout.rows * layout.planes, [&](std::int64_t row) {
        for (const auto& [cells, at] : pieces(layout, row, sizeof(T)))
            std::copy_n(reinterpret_cast<const T*>(at), cells.last - cells.first,
                        values.begin() + row * layout.length + cells.first);
    });
}

template <class T>
void Storage::write_cells(const Layout& layout, std::int64_t row, std::int64_t first,
                          std::span<const double> values) {
    const auto last = first + static_cast<std::int64_t>(values.size());
    for (const auto& [cells, at] : pieces(layout, row, sizeof(T))) {
        const auto from = std::max(first, cells.first), to = std::min(last, cells.last);
        if (from < to)
            std::transform(values.begin() + (from - first), values.begin() + (to - first),
                           reinterpret_cast<T*>(at) + (from - cells.first),
                           [](double value) { return static_cast<T>(value); });
    }
}

template <class T>
void Storage::write_as(const Layout& layout, int grid, std::span<const double> values) {
    parallel_for(threads_, layout.rows * layout.planes, [&](std::int64_t row) {
        if (layout.planes * layout.rows > 1 && !ir::holds_row(program_, grid, row)) return;
        write_cells<T>(layout, row, 0,
                       values.subspan(static_cast<std::size_t>(row * layout.length),
                                      static_cast<std::size_t>(layout.length)));
    });
}

void Storage::read(int buffer, int copy, std::span<double> values) const {
    const auto& layout = layouts_[buffer][copy];
    if (value_size(buffer) == sizeof(float))
        read_as<float>(layout, values);
    else
        read_as<double>(layout, values);
}

void Storage::write(int buffer, int copy, std::span<const double> values) {
    const auto& layout = layouts_[buffer][copy];
    if (value_size(buffer) == sizeof(float))
        write_as<float>(layout, program_.buffers[buffer].grid, values);
    else
        write_as<double>(layout, program_.buffers[buffer].grid, values);
}

void Storage::write_row(int buffer, int copy, std::int64_t row, std::int64_t first,
                        std::span<const double> values) {
    const auto& layout = layouts_[buffer][copy];
    if (value_size(buffer) == sizeof(float))
        write_cells<float>(layout, row, first, values);
    else
        write_cells<double>(layout, row, first, values);
}

template <class Visit>
void Storage::for_each_piece(int buffer, int copy, const ir::CellBox& cells, Visit&& visit) const {
    const auto& layout = layouts_[buffer][copy];
    const auto size = static_cast<std::int64_t>(value_size(buffer));
    std::int64_t offset = 0;
    for (auto z = cells.first[2]; z < cells.last[2]; ++z)
        for (auto y = cells.first[1]; y < cells.last[1]; ++y) {
            for (const auto& [piece, at] : pieces(layout, y + layout.rows * z, size)) {
                const auto from = std::max(cells.first[0], piece.first);
                const auto to = std::min(cells.last[0], piece.last);
                if (from < to)
                    visit(at + (from - piece.first) * size, offset + (from - cells.first[0]) * size,
                          static_cast<std::size_t>((to - from) * size));
            }
            offset += (cells.last[0] - cells.first[0]) * size;
        }
}

void Storage::read_cells(int buffer, int copy, const ir::CellBox& cells, std::span<std::byte> values) const {
    for_each_piece(buffer, copy, cells, [&](const std::byte* at, std::int64_t offset, std::size_t bytes) {
        std::memcpy(values.data() + offset, at, bytes);
    });
}

void Storage::write_cells(int buffer, int copy, const ir::CellBox& cells, std::span<const std::byte> values) {
    for_each_piece(buffer, copy, cells, [&](std::byte* at, std::int64_t offset, std::size_t bytes) {
        std::memcpy(at, values.data() + offset, bytes);
    });
}

} // namespace farfield::stencil::cpu
