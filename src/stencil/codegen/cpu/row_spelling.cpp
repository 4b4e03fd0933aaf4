// Slots of a row function and the texts of its loads.
#include "stencil/codegen/cpu/row_spelling.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace farfield::stencil::codegen {
namespace {

std::string offset_name(char axis, int offset) {
    if (offset == 0) return {};
    return fmt::format("_{}{}{}", axis, offset < 0 ? 'm' : 'p', std::abs(offset));
}

std::string index_text(int offset) {
    if (offset == 0) return "x";
    return fmt::format("x {} {}", offset < 0 ? '-' : '+', std::abs(offset));
}

} // namespace

Slot RowSpelling::slot_of(const ir::Buffer& buffer, const ir::Node& node) {
    Slot slot;
    slot.buffer = node.index;
    if (buffer.kind != ir::BufferKind::array || buffer.axis == 1) slot.row_offset = node.offsets[1];
    if (buffer.kind != ir::BufferKind::array || buffer.axis == 2) slot.plane_offset = node.offsets[2];
    return slot;
}

int RowSpelling::find(const Slot& slot) const {
    for (std::size_t i = 0; i < slots_.size(); ++i)
        if (slots_[i].buffer == slot.buffer && slots_[i].row_offset == slot.row_offset &&
            slots_[i].plane_offset == slot.plane_offset && slots_[i].other_copy == slot.other_copy)
            return static_cast<int>(i);
    return -1;
}

int RowSpelling::add(const Slot& slot) {
    if (const int known = find(slot); known >= 0) return known;
    const auto& name = program_.buffers[slot.buffer].name;
    slots_.push_back(slot);
    names_.push_back(taken_.unique(name + offset_name('y', slot.row_offset) +
                                   offset_name('z', slot.plane_offset) + (slot.other_copy ? "_next" : "")));
    return static_cast<int>(slots_.size()) - 1;
}

void RowSpelling::add_loads(const ir::Code& code) {
    for (const auto& node : code.nodes) {
        if (node.op == ir::Op::uniform && !uniforms_.contains(node.index))
            uniforms_[node.index] = taken_.unique(uniform_name(program_, node.index));
        if (node.op != ir::Op::load) continue;
        const auto& buffer = program_.buffers[node.index];
        add(slot_of(buffer, node));
        const bool along_row = buffer.kind != ir::BufferKind::array || buffer.axis == 0;
        if (!along_row || buffer.boundary[0] == Boundary::none) continue;
        low_ = std::max(low_, static_cast<long long>(-node.offsets[0]));
        high_ = std::max(high_, static_cast<long long>(node.offsets[0]));
    }
}

int RowSpelling::add_store(const ir::Store& store) {
    Slot slot;
    slot.buffer = store.buffer;
    slot.other_copy = store.other_copy;
    const int number = add(slot);
    slots_[number].stored = true;
    return number;
}

int RowSpelling::add_old(int buffer) {
    Slot slot;
    slot.buffer = buffer;
    return add(slot);
}

std::vector<std::string> RowSpelling::declarations() const {
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        const auto type = type_name(precision_of(slots_[i].buffer));
        const auto* qualifier = slots_[i].stored ? "" : "const ";
        lines.push_back(fmt::format("{0}{1}* __restrict const {2} = static_cast<{0}{1}*>(call->at[{3}]);",
                                    qualifier, type, names_[i], i));
    }
    return lines;
}

std::string RowSpelling::load(const ir::Node& node) const {
    const auto& buffer = program_.buffers[node.index];
    const int slot = find(slot_of(buffer, node));
    if (slot < 0) throw InternalError("a load without a slot");
    const auto& name = names_[slot];
    if (buffer.kind == ir::BufferKind::array && buffer.axis != 0) return fmt::format("*{}", name);
    const auto index = index_text(node.offsets[0]);
    if (!edge_ || node.offsets[0] == 0) return fmt::format("{}[{}]", name, index);
    const auto cells = grid_.shape[0];
    switch (buffer.boundary[0]) {
    case Boundary::none:
        return fmt::format("{}[{}]", name, index);
    case Boundary::zero:
        return fmt::format("value_or_zero({}, {}, {})", name, index, cells);
    case Boundary::periodic:
        return fmt::format("{}[periodic({}, {})]", name, index, cells);
    case Boundary::mirror:
        return fmt::format("{}[mirrored({}, {})]", name, index, cells);
    default:
        return fmt::format("{}[clamped({}, {})]", name, index, cells);
    }
}

std::string_view boundary_functions() {
    return R"(// The cell that an index outside 0 to n - 1 stands for.
inline long long periodic(long long i, long long n) { return (i % n + n) % n; }
inline long long mirrored(long long i, long long n) { return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i; }
inline long long clamped(long long i, long long n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
template <class T>
inline T value_or_zero(const T* row, long long i, long long n) {
    return i < 0 || i >= n ? T(0) : row[i];
}
)";
}

std::string_view loop_text() {
    return R"text(#if defined(__clang__)
#define FF_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#define FF_VECTOR FF_INDEPENDENT
#else
#define FF_INDEPENDENT _Pragma("GCC ivdep")
// Of a short loop with a condition: vectors with masks, not the cells one after the other.
#define FF_VECTOR _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif
#define FF_NOINLINE __attribute__((noinline))
#define FF_INLINE __attribute__((always_inline))

inline long long clamped_to(long long i, long long least, long long most) {
    return i < least ? least : i > most ? most : i;
}
inline double sum_of_atom(const double* v) {
    double l[8] = {};
    for (int g = 0; g < 8; ++g)
        for (int i = 0; i < 8; ++i) l[i] += v[8 * g + i];
    return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]));
}
)text";
}

} // namespace farfield::stencil::codegen
