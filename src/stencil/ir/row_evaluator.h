// Computes code over a piece of a row on the host, exactly as ir.h says: what rasterising, initial values and
// the interpreter are made of.
#pragma once

#include "stencil/ir/ir.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield::stencil::ir {

/// Values that loads read: x fastest, without gaps; for a buffer along one axis one value an index.
struct BufferView {
    Shape shape = {1, 1, 1}; ///< of the grid
    int axis = -1;
    Precision precision = Precision::double_precision;
    std::array<Boundary, 3> boundary = {};
    const void* values = nullptr; ///< double or float
};

/// Of `Buffer::values`, which are float64 whatever the precision of the buffer.
BufferView view_of_values(const Program& program, const Buffer& buffer);

/// Where an access to index i of n cells along an axis reads: 0 to n − 1; −1: the value is 0 (`zero`);
/// −2: nowhere (no boundary).
std::int64_t bounded_index(std::int64_t i, std::int64_t n, Boundary boundary);

/// Code over up to `most` cells of a row. Nodes that are the same in all cells or in all cells of a row are
/// computed once. An access outside a grid without a boundary gives NaN.
class RowEvaluator {
public:
    static constexpr std::int64_t most = 256;

    /// @param code kept by reference. @param buffers those that loads name by index; may be shorter where
    /// none are loaded. Both must outlive the evaluator.
    RowEvaluator(const Shape& shape, const Code& code, std::span<const BufferView> buffers = {},
                 std::span<const double> uniforms = {});

    /// Computes cells [first, first + count) of row r = i_1 + shape[1]·i_2, count ≤ most.
    void compute(std::int64_t row, std::int64_t first, std::int64_t count, double t = 0,
                 std::int64_t step = 0);
    /// Forgets what was computed: needed where the values behind buffers or uniforms changed.
    void reset() {
        row_ = -1;
        ready_ = false;
    }

    // The values of a node of that type, `count` of the last call.
    std::span<const double> real64(int node) const { return values<double>(node); }
    std::span<const float> real32(int node) const { return values<float>(node); }
    std::span<const std::int64_t> integer(int node) const { return values<std::int64_t>(node); }
    std::span<const std::uint8_t> truth(int node) const { return values<std::uint8_t>(node); }

private:
    enum class Varies : std::uint8_t { never, with_row, with_cell };
    struct Slot {
        std::vector<std::byte> bytes; // `most` values of up to 8 bytes
    };

    template <class T>
    std::span<const T> values(int node) const {
        return {reinterpret_cast<const T*>(slots_[static_cast<std::size_t>(node)].bytes.data()),
                static_cast<std::size_t>(count_)};
    }
    template <class T>
    T* data(int node) {
        return reinterpret_cast<T*>(slots_[static_cast<std::size_t>(node)].bytes.data());
    }
    void classify();
    void compute_level(Varies level, std::int64_t first, std::int64_t count);
    void fill(int node);
    void compute_node(int index, std::int64_t first, std::int64_t count);
    void leaf(int index, std::int64_t first, std::int64_t count);
    void load(int index, std::int64_t first, std::int64_t count);
    template <class T>
    void load_as(int index, std::int64_t first, std::int64_t count);
    void convert(int index, std::int64_t count);
    void to_truth(int index, std::int64_t count);
    template <class T>
    void real_operation(int index, std::int64_t count);
    void integer_operation(int index, std::int64_t count);

    Shape shape_;
    const Code* code_;
    std::span<const BufferView> buffers_;
    std::span<const double> uniforms_;
    std::vector<Varies> varies_;
    std::vector<int> by_level_[3];
    std::vector<Slot> slots_;
    std::int64_t row_ = -1;
    std::int64_t count_ = 0;
    bool ready_ = false; // nodes that never vary are computed for t_, step_
    double t_ = 0;
    std::int64_t step_ = 0;
};

/// The value of an operation on constants, as a constant: operands are constants of the types it needs.
Node evaluate_constant(const Node& node, std::span<const Node> operands);

} // namespace farfield::stencil::ir
