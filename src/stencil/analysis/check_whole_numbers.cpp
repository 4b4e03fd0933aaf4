// Whole numbers that are divided by 0 or leave 64 bits. They depend on cells, steps and constants alone, so
// that this is known before the run: ranges of values over all cells first and, if these leave a doubt, cell
// by cell.
#include "stencil/analysis/analysis.h"
#include "stencil/analysis/wording.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/ir/op_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace farfield::stencil {
namespace {

using ir::Op;
using ir::ValueType;
using Number = long double; // 64 bits of digits: exact for what is allowed

constexpr Number least_whole = -0x1p63L;
constexpr Number most_whole = 0x1p63L - 1;
constexpr Number last_step = 1e9L; // a run may always be prolonged

/// Of a whole number, or of a truth value, whose ends are 0 and 1 if it is not known.
struct ValueRange {
    Number low = 0;
    Number high = 1;
    bool holds(Number value) const { return low <= value && value <= high; }
    bool fits() const { return least_whole <= low && high <= most_whole; }
    bool known() const { return low == high; }
};

ValueRange ends_of(std::initializer_list<Number> values) { return {std::min(values), std::max(values)}; }

ValueRange quotient(ValueRange a, ValueRange b) {
    if (b.holds(0)) return {least_whole, most_whole}; // reported, or not reached
    const auto of = [](Number x, Number y) { return std::floor(x / y); };
    return ends_of({of(a.low, b.low), of(a.low, b.high), of(a.high, b.low), of(a.high, b.high)});
}

ValueRange remainder_of(ValueRange a, ValueRange b) {
    if (b.holds(0)) return {least_whole, most_whole};
    if (a.known() && b.known()) {
        const auto rest = a.low - b.low * std::floor(a.low / b.low);
        return {rest, rest};
    }
    return {std::min<Number>(0, b.low + 1), std::max<Number>(0, b.high - 1)};
}

ValueRange compared(Op op, ValueRange a, ValueRange b) {
    const auto known = [](bool value) { return ValueRange{value ? 1.0L : 0.0L, value ? 1.0L : 0.0L}; };
    const bool apart = a.high < b.low || b.high < a.low;
    const bool same = a.known() && b.known() && a.low == b.low;
    switch (op) {
    case Op::less:
        if (a.high < b.low || a.low >= b.high) return known(a.high < b.low);
        return {};
    case Op::less_equal:
        if (a.high <= b.low || a.low > b.high) return known(a.high <= b.low);
        return {};
    case Op::equal:
        return apart || same ? known(same) : ValueRange{};
    default:
        return apart || same ? known(apart) : ValueRange{};
    }
}

/// A node that has no value, in words.
using Fault = std::string;

class WholeNumbers {
public:
    WholeNumbers(const ir::Code& code, std::vector<int> roots)
        : code_(code), roots_(std::move(roots)), ranges_(code.nodes.size()), wanted_(code.nodes.size()) {}

    /// Whether anything here can go wrong.
    bool any() const {
        return std::any_of(code_.nodes.begin(), code_.nodes.end(), [](const ir::Node& node) {
            return node.type == ValueType::integer && node.in[0] >= 0;
        });
    }
    bool uses_axis(int axis) const {
        return std::any_of(code_.nodes.begin(), code_.nodes.end(),
                           [&](const ir::Node& node) { return node.op == Op::cell && node.index == axis; });
    }
    /// @param doubtful whether what depends on conditions that are not known counts.
    std::optional<Fault> fault(const std::array<ValueRange, 3>& cell, bool doubtful) {
        for (std::size_t i = 0; i < ranges_.size(); ++i) ranges_[i] = clipped(range_of(code_.nodes[i], cell));
        find_wanted(doubtful);
        for (std::size_t i = 0; i < ranges_.size(); ++i)
            if (wanted_[i])
                if (auto found = fault_of(code_.nodes[i], cell)) return found;
        return std::nullopt;
    }

private:
    const ValueRange& in(const ir::Node& node, int operand) const {
        return ranges_[static_cast<std::size_t>(node.in[static_cast<std::size_t>(operand)])];
    }
    static ValueRange clipped(ValueRange range) {
        return {std::clamp(range.low, least_whole, most_whole),
                std::clamp(range.high, least_whole, most_whole)};
    }
    ValueRange range_of(const ir::Node& node, const std::array<ValueRange, 3>& cell) const;
    ValueRange truth_of(const ir::Node& node) const;
    void find_wanted(bool doubtful);
    std::optional<Fault> fault_of(const ir::Node& node, const std::array<ValueRange, 3>& cell) const;

    const ir::Code& code_;
    std::vector<int> roots_;
    std::vector<ValueRange> ranges_;
    std::vector<bool> wanted_; // the value is used in this cell
};

ValueRange WholeNumbers::truth_of(const ir::Node& node) const {
    switch (node.op) {
    case Op::constant:
        return {static_cast<Number>(node.integer), static_cast<Number>(node.integer)};
    case Op::logical_and:
        return {std::min(in(node, 0).low, in(node, 1).low), std::min(in(node, 0).high, in(node, 1).high)};
    case Op::logical_or:
        return {std::max(in(node, 0).low, in(node, 1).low), std::max(in(node, 0).high, in(node, 1).high)};
    case Op::logical_not:
        return {1 - in(node, 0).high, 1 - in(node, 0).low};
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
        if (code_.nodes[static_cast<std::size_t>(node.in[0])].type == ValueType::integer)
            return compared(node.op, in(node, 0), in(node, 1));
        return {};
    default:
        return {};
    }
}

// As it would be without a limit of 64 bits.
ValueRange WholeNumbers::range_of(const ir::Node& node, const std::array<ValueRange, 3>& cell) const {
    if (node.type == ValueType::boolean) return truth_of(node);
    if (node.type != ValueType::integer) return {};
    if (node.op == Op::constant)
        return {static_cast<Number>(node.integer), static_cast<Number>(node.integer)};
    if (node.op == Op::step) return {0, last_step};
    if (node.op == Op::cell) return cell[static_cast<std::size_t>(node.index)];
    if (node.in[0] < 0) return {least_whole, most_whole};
    const auto a = in(node, 0);
    const auto b = node.in[1] >= 0 ? in(node, 1) : a;
    switch (node.op) {
    case Op::negate:
        return {-a.high, -a.low};
    case Op::abs:
        return {a.holds(0) ? 0 : std::min(std::abs(a.low), std::abs(a.high)),
                std::max(std::abs(a.low), std::abs(a.high))};
    case Op::add:
        return {a.low + b.low, a.high + b.high};
    case Op::subtract:
        return {a.low - b.high, a.high - b.low};
    case Op::multiply:
        if (node.in[0] == node.in[1] && a.holds(0)) return {0, std::max(a.low * a.low, a.high * a.high)};
        return ends_of({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    case Op::floor_divide:
        return quotient(a, b);
    case Op::remainder:
        return remainder_of(a, b);
    case Op::min:
        return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::max:
        return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::select: {
        const auto c = in(node, 2);
        if (a.known()) return a.low != 0 ? b : c;
        return {std::min(b.low, c.low), std::max(b.high, c.high)};
    }
    default:
        return {least_whole, most_whole};
    }
}

// Backwards: a branch that is not taken, and the right of `and` and `or` where the left decides, do not
// count.
void WholeNumbers::find_wanted(bool doubtful) {
    std::fill(wanted_.begin(), wanted_.end(), false);
    for (const int root : roots_) wanted_[static_cast<std::size_t>(root)] = true;
    for (std::size_t i = code_.nodes.size(); i-- > 0;) {
        if (!wanted_[i]) continue;
        const auto& node = code_.nodes[i];
        const auto want = [&](int operand) {
            const int index = node.in[static_cast<std::size_t>(operand)];
            if (index >= 0) wanted_[static_cast<std::size_t>(index)] = true;
        };
        want(0);
        const auto left = node.in[0] >= 0 ? in(node, 0) : ValueRange{};
        const auto counts = [&](Number value) { return left.known() ? left.low == value : doubtful; };
        const bool shortcut =
            node.op == Op::select || node.op == Op::logical_and || node.op == Op::logical_or;
        if (!shortcut || counts(node.op == Op::logical_or ? 0 : 1)) want(1);
        if (!shortcut || (node.op == Op::select && counts(0))) want(2);
    }
}

std::optional<Fault> WholeNumbers::fault_of(const ir::Node& node,
                                            const std::array<ValueRange, 3>& cell) const {
    if (node.type != ValueType::integer || node.in[0] < 0) return std::nullopt;
    if (node.op == Op::floor_divide || node.op == Op::remainder) {
        const auto divisor = in(node, 1);
        const auto* sign = node.op == Op::remainder ? "%" : "//";
        if (divisor.known() && divisor.low == 0) return fmt::format("the divisor of {} is 0", sign);
        if (divisor.holds(0))
            return fmt::format("the divisor of {} lies between {} and {}, and may be 0", sign,
                               static_cast<std::int64_t>(divisor.low),
                               static_cast<std::int64_t>(divisor.high));
    }
    const auto range = range_of(node, cell);
    if (range.fits()) return std::nullopt;
    if (range.known())
        return fmt::format("{}: a whole number becomes {:.4Lg}, beyond 64 bits", name_of(node.op), range.low);
    return fmt::format(
        "{}: a whole number may lie between {:.4Lg} and {:.4Lg}, beyond 64 bits, within 10⁹ steps",
        name_of(node.op), range.low, range.high);
}

struct Subject {
    std::string what; // "the update 'a'"
    std::optional<Span> span;
    const Grid& grid;
};

class WholeNumberCheck {
public:
    explicit WholeNumberCheck(lang::Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    void code(const ir::Code& code, const std::vector<int>& roots, const ir::CellSet& cells,
              const Subject& subject) {
        WholeNumbers numbers(code, roots);
        if (cells.empty() || roots.empty() || !numbers.any()) return;
        std::array<ValueRange, 3> box;
        for (std::size_t a = 0; a < 3; ++a)
            box[a] = {static_cast<Number>(cells.bounds().first[a]),
                      static_cast<Number>(cells.bounds().last[a] - 1)};
        if (!numbers.fault(box, true)) return;
        // a row stands for all of a box whose other indices are not mentioned
        const bool one_row = cells.is_box() && !numbers.uses_axis(1) && !numbers.uses_axis(2);
        for (std::int64_t r = 0; r < cells.rows(); ++r) {
            for (const auto& interval : cells.row(r))
                for (auto x = interval.first; x < interval.last; ++x)
                    if (cell(numbers, {x, r % cells.shape()[1], r / cells.shape()[1]}, subject)) return;
            if (one_row && !cells.row(r).empty()) return;
        }
    }

private:
    // True after reporting.
    bool cell(WholeNumbers& numbers, const std::array<std::int64_t, 3>& at, const Subject& subject) {
        std::array<ValueRange, 3> point;
        for (std::size_t a = 0; a < 3; ++a)
            point[a] = {static_cast<Number>(at[a]), static_cast<Number>(at[a])};
        const auto fault = numbers.fault(point, false);
        if (!fault) return false;
        diagnostics_.report(
            kinds::whole_number, subject.span,
            fmt::format("{}: {} in the cell {}", subject.what, *fault, cell_text(subject.grid, at)),
            "leave such cells or steps out with `if`, or take real numbers: 1.0*step, x/2");
        return true;
    }

    lang::Diagnostics& diagnostics_;
};

std::vector<int> roots_of(const ir::Code& code) {
    return code.result < 0 ? std::vector<int>{} : std::vector<int>{code.result};
}

} // namespace

void check_whole_numbers(const ir::Program& program, const Model& model, lang::Diagnostics& diagnostics) {
    WholeNumberCheck check(diagnostics);
    const auto grid_of = [&](int grid) -> const Grid& { return model.grids[static_cast<std::size_t>(grid)]; };
    const auto all = [&](int grid) {
        const auto& shape = program.grids[static_cast<std::size_t>(grid)].shape;
        return ir::CellSet(shape, ir::whole(shape));
    };
    for (std::size_t i = 0; i < program.buffers.size(); ++i) {
        const auto& buffer = program.buffers[i];
        if (buffer.initial.nodes.empty()) continue;
        const bool field = i < model.fields.size();
        const auto what = fmt::format("the {} '{}'", field ? "field" : "coefficient", buffer.name);
        const Subject subject{what, field ? std::optional(model.fields[i].span) : std::nullopt,
                              grid_of(buffer.grid)};
        check.code(buffer.initial, roots_of(buffer.initial), all(buffer.grid), subject);
    }
    for (const auto& kernel : program.kernels) {
        const Subject subject{fmt::format("'{}'", kernel.name), kernel.span, grid_of(kernel.grid)};
        check.code(kernel.predicate, roots_of(kernel.predicate), all(kernel.grid), subject);
        std::vector<int> roots;
        for (const auto& store : kernel.stores) roots.push_back(store.node);
        check.code(kernel.code, roots, *kernel.cells, subject);
    }
    for (std::size_t i = 0; i < program.records.size(); ++i) {
        const auto& record = program.records[i];
        const Subject subject{fmt::format("the record '{}'", record.name), model.records[i].value->span,
                              grid_of(record.grid)};
        check.code(record.predicate, roots_of(record.predicate), all(record.grid), subject);
        check.code(record.code, roots_of(record.code), *record.cells, subject);
    }
}

} // namespace farfield::stencil
