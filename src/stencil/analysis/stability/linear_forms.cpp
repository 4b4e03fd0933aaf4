// Linear forms of codes: sums, multiples and choices keep a form linear, all else makes it opaque.
#include "stencil/analysis/stability/linear_forms.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace farfield::stencil {
namespace {

using Kind = LinearForm::Kind;

LinearForm known(double value) { return {Kind::known, value, {}}; }
LinearForm free_form() { return {Kind::free, 0, {}}; }
LinearForm opaque() { return {}; }

// An equation that reads more is not worth its time: sums copy their terms.
constexpr std::size_t most_terms = 256;

bool independent(const LinearForm& form) { return form.kind == Kind::known || form.kind == Kind::free; }

LinearForm multiple(const LinearForm& form, double factor) {
    if (form.kind == Kind::known) return known(form.value * factor);
    LinearForm out = form;
    for (auto& term : out.terms) term.factor *= factor;
    return out;
}

LinearForm sum(const LinearForm& a, const LinearForm& b) {
    if (a.kind == Kind::opaque || b.kind == Kind::opaque) return opaque();
    if (a.kind == Kind::known && b.kind == Kind::known) return known(a.value + b.value);
    if (independent(a) && independent(b)) return free_form();
    if (a.terms.size() + b.terms.size() > most_terms) return opaque();
    LinearForm out{Kind::linear, 0, a.terms};
    for (const auto& term : b.terms) {
        const auto same = std::find_if(out.terms.begin(), out.terms.end(), [&](const Term& other) {
            return other.buffer == term.buffer && other.offsets == term.offsets;
        });
        if (same == out.terms.end())
            out.terms.push_back(term);
        else
            same->factor += term.factor;
    }
    return out;
}

LinearForm product(const LinearForm& a, const LinearForm& b) {
    if (a.kind == Kind::opaque || b.kind == Kind::opaque) return opaque();
    if (a.kind == Kind::known) return multiple(b, a.value);
    if (b.kind == Kind::known) return multiple(a, b.value);
    return independent(a) && independent(b) ? free_form() : opaque();
}

LinearForm quotient(const LinearForm& a, const LinearForm& b) {
    if (b.kind == Kind::known && a.kind == Kind::known) return known(a.value / b.value);
    if (b.kind == Kind::known && a.kind == Kind::linear) {
        LinearForm out = a;
        for (auto& term : out.terms) term.factor /= b.value;
        return out;
    }
    return independent(a) && independent(b) ? free_form() : opaque();
}

bool same(const LinearForm& a, const LinearForm& b) {
    return a.kind == b.kind && a.kind == Kind::known && a.value == b.value;
}

LinearForm choice(const LinearForm& condition, const LinearForm& yes, const LinearForm& no) {
    if (condition.kind == Kind::known) return condition.value != 0 ? yes : no;
    if (same(yes, no)) return yes;
    return condition.kind == Kind::free && independent(yes) && independent(no) ? free_form() : opaque();
}

// Whole numbers too: they are exact here up to 2^53, and used for conditions and coefficients alone.
double computed(ir::Op op, double a, double b) {
    using ir::Op;
    switch (op) {
    case Op::floor_divide:
        return b == 0 ? 0 : std::floor(a / b);
    case Op::remainder:
        return b == 0 ? 0 : a - std::floor(a / b) * b;
    case Op::abs:
        return std::fabs(a);
    case Op::min:
        return b < a ? b : a;
    case Op::max:
        return a < b ? b : a;
    case Op::floor:
        return std::floor(a);
    case Op::ceil:
        return std::ceil(a);
    case Op::sqrt:
        return std::sqrt(a);
    case Op::exp:
        return std::exp(a);
    case Op::log:
        return std::log(a);
    case Op::sin:
        return std::sin(a);
    case Op::cos:
        return std::cos(a);
    case Op::tanh:
        return std::tanh(a);
    case Op::cbrt:
        return std::cbrt(a);
    case Op::pow:
        return std::pow(a, b);
    case Op::less:
        return a < b ? 1 : 0;
    case Op::less_equal:
        return a <= b ? 1 : 0;
    case Op::equal:
        return a == b ? 1 : 0;
    case Op::not_equal:
        return a != b ? 1 : 0;
    case Op::logical_and:
        return a != 0 && b != 0 ? 1 : 0;
    case Op::logical_or:
        return a != 0 || b != 0 ? 1 : 0;
    case Op::logical_not:
        return a == 0 ? 1 : 0;
    default:
        return std::numeric_limits<double>::quiet_NaN();
    }
}

LinearForm function(ir::Op op, const LinearForm& a, const LinearForm* b) {
    if (!independent(a) || (b != nullptr && !independent(*b))) return opaque();
    if (a.kind == Kind::free || (b != nullptr && b->kind == Kind::free)) return free_form();
    return known(computed(op, a.value, b != nullptr ? b->value : 0));
}

std::int64_t beyond(Boundary boundary, std::int64_t i, std::int64_t n) {
    if (i >= 0 && i < n) return i;
    if (boundary == Boundary::periodic) return ((i % n) + n) % n;
    if (boundary == Boundary::mirror) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return std::clamp<std::int64_t>(i, 0, n - 1);
}

} // namespace

Lineariser::Lineariser(const ir::Program& program, int grid, const Cell& cell, std::vector<bool> variables)
    : program_(program), grid_(program.grids[static_cast<std::size_t>(grid)]), cell_(cell),
      variables_(std::move(variables)) {}

std::vector<LinearForm> Lineariser::forms(const ir::Code& code) {
    std::vector<LinearForm> out;
    out.reserve(code.nodes.size());
    for (const auto& node : code.nodes) out.push_back(form(node, out, cell_));
    return out;
}

double Lineariser::constant_value(int buffer, const std::array<int, 3>& offsets) {
    const auto& from = program_.buffers[static_cast<std::size_t>(buffer)];
    Cell cell = cell_;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto i = cell[axis] + offsets[axis];
        if (from.boundary[axis] == Boundary::zero && (i < 0 || i >= grid_.shape[axis])) return 0;
        cell[axis] = beyond(from.boundary[axis], i, grid_.shape[axis]);
    }
    return value_in(buffer, cell);
}

double Lineariser::value_in(int buffer, Cell cell) {
    const auto& from = program_.buffers[static_cast<std::size_t>(buffer)];
    if (from.axis >= 0)
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (axis != static_cast<std::size_t>(from.axis)) cell[axis] = 0;
    if (!from.values.empty()) {
        const auto at = from.axis >= 0 ? cell[static_cast<std::size_t>(from.axis)]
                                       : (cell[2] * grid_.shape[1] + cell[1]) * grid_.shape[0] + cell[0];
        return from.values[static_cast<std::size_t>(at)];
    }
    const auto [place, fresh] = known_.try_emplace({buffer, cell}, 0.0);
    if (!fresh) return place->second;
    std::vector<LinearForm> out;
    for (const auto& node : from.initial.nodes) out.push_back(form(node, out, cell));
    const auto result = static_cast<std::size_t>(from.initial.result);
    const double value = from.initial.nodes.empty()        ? 0
                         : out[result].kind == Kind::known ? out[result].value
                                                           : std::numeric_limits<double>::quiet_NaN();
    known_[{buffer, cell}] = value;
    return value;
}

LinearForm Lineariser::load(const ir::Node& node, const Cell& cell) {
    const auto buffer = static_cast<std::size_t>(node.index);
    if (variables_[buffer]) return {Kind::linear, 0, {{node.index, node.offsets, 1.0}}};
    if (program_.buffers[buffer].written) return free_form();
    if (cell == cell_) return known(constant_value(node.index, node.offsets));
    return known(value_in(node.index, cell));
}

LinearForm Lineariser::form(const ir::Node& node, const std::vector<LinearForm>& earlier, const Cell& cell) {
    using ir::Op;
    const auto in = [&](std::size_t i) -> const LinearForm& {
        return earlier[static_cast<std::size_t>(node.in[i])];
    };
    switch (node.op) {
    case Op::constant:
        return known(node.type == ir::ValueType::float32 || node.type == ir::ValueType::float64
                         ? node.real
                         : static_cast<double>(node.integer));
    case Op::time:
    case Op::step:
        return free_form();
    case Op::uniform: {
        const auto& code = program_.uniforms[static_cast<std::size_t>(node.index)];
        return forms(code)[static_cast<std::size_t>(code.result)];
    }
    case Op::cell:
        return known(static_cast<double>(cell[static_cast<std::size_t>(node.index)]));
    case Op::load:
        return load(node, cell);
    case Op::convert:
        return in(0);
    case Op::negate:
        return multiple(in(0), -1);
    case Op::add:
        return sum(in(0), in(1));
    case Op::subtract:
        return sum(in(0), multiple(in(1), -1));
    case Op::multiply:
        return product(in(0), in(1));
    case Op::divide:
        return quotient(in(0), in(1));
    case Op::fma:
        return sum(product(in(0), in(1)), in(2));
    case Op::select:
        return choice(in(0), in(1), in(2));
    default:
        return function(node.op, in(0), node.in[1] >= 0 ? &in(1) : nullptr);
    }
}

} // namespace farfield::stencil
