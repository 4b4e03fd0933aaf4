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
    return row < 0 || plane < 0 ? zeros : base + row * row_pitch + plane * plane_pitch;
}

Storage::Storage(const ir::Program& program, int threads) : program_(program), threads_(threads) {
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
            const auto start = count++ % 7 * stagger;
            constexpr std::int64_t huge_page = std::int64_t{1} << 21;
            const auto bytes = start + place.pitch * place.rows * place.planes + line;
            auto& block = blocks_.emplace_back(std::make_unique<Block>(
                static_cast<std::size_t>(bytes >= huge_page ? round_up(bytes, huge_page) : bytes)));
            place.base = static_cast<std::byte*>(block->data) + start;
            copies.push_back(place);
            // The thread that first touches a page decides which memory it lies in.
            parallel_own(threads_, [&](std::int64_t piece) {
                const auto part = place.pitch * place.rows * place.planes / threads_;
                std::memset(place.base + part * piece, 0, static_cast<std::size_t>(part));
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
    } else if (b.axis == 1) {
        rows.row_pitch = size;
    } else if (b.axis == 2) {
        rows.plane_pitch = size;
    }
    return rows;
}

std::int64_t Storage::slab_bytes(int buffer) const {
    const auto& b = program_.buffers[buffer];
    const auto& place = places_[buffer][0];
    if (b.axis >= 0) return 0;
    const auto rank = program_.grids[b.grid].rank;
    return place.pitch * (rank == 3 ? place.rows : 1) * b.copies;
}

template <class T>
void Storage::read_as(const Place& place, std::span<double> values) const {
    parallel_for(threads_, place.rows * place.planes, [&](std::int64_t row) {
        const auto* from = reinterpret_cast<const T*>(place.base + row * place.pitch);
        std::copy(from, from + place.length, values.begin() + row * place.length);
    });
}

template <class T>
void Storage::write_as(const Place& place, std::span<const double> values) {
    parallel_for(threads_, place.rows * place.planes, [&](std::int64_t row) {
        auto* to = reinterpret_cast<T*>(place.base + row * place.pitch);
        const auto from = values.begin() + row * place.length;
        std::transform(from, from + place.length, to, [](double value) { return static_cast<T>(value); });
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
    auto* start = place.base + row * place.pitch;
    if (value_size(buffer) == sizeof(float))
        std::transform(values.begin(), values.end(), reinterpret_cast<float*>(start) + first,
                       [](double value) { return static_cast<float>(value); });
    else
        std::copy(values.begin(), values.end(), reinterpret_cast<double*>(start) + first);
}

} // namespace farfield::stencil::cpu
