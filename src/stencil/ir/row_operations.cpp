// The arithmetic of row evaluation: each operation of ir.h on arrays of values.
#include "math/portable/functions.h"
#include "stencil/ir/op_info.h"
#include "stencil/ir/row_evaluator.h"

#include <cmath>
#include <limits>

namespace farfield::stencil::ir {
namespace {

using Integer = std::int64_t;

// Unsigned arithmetic wraps around.
Integer wrapped(std::uint64_t value) { return static_cast<Integer>(value); }
std::uint64_t bits(Integer value) { return static_cast<std::uint64_t>(value); }

Integer floor_quotient(Integer a, Integer b) {
    if (b == 0) return 0;
    if (b == -1) return wrapped(0 - bits(a));
    const bool adjust = a % b != 0 && (a < 0) != (b < 0);
    return a / b - (adjust ? 1 : 0);
}

Integer floor_remainder(Integer a, Integer b) {
    if (b == 0 || b == -1) return 0;
    const bool adjust = a % b != 0 && (a < 0) != (b < 0);
    return a % b + (adjust ? b : 0);
}

template <class T, class F>
void each(std::int64_t count, T* out, const T* a, F&& f) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = f(a[i]);
}

template <class T, class Out, class F>
void each(std::int64_t count, Out* out, const T* a, const T* b, F&& f) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = f(a[i], b[i]);
}

template <class T>
void choose(std::int64_t count, T* out, const std::uint8_t* condition, const T* yes, const T* no) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = condition[i] != 0 ? yes[i] : no[i];
}

template <class T>
void compare(Op op, std::int64_t count, std::uint8_t* out, const T* a, const T* b) {
    switch (op) {
    case Op::less:
        return each(count, out, a, b, [](T x, T y) -> std::uint8_t { return x < y ? 1 : 0; });
    case Op::less_equal:
        return each(count, out, a, b, [](T x, T y) -> std::uint8_t { return x <= y ? 1 : 0; });
    case Op::equal:
        return each(count, out, a, b, [](T x, T y) -> std::uint8_t { return x == y ? 1 : 0; });
    default:
        return each(count, out, a, b, [](T x, T y) -> std::uint8_t { return x != y ? 1 : 0; });
    }
}

} // namespace

void RowEvaluator::convert(int index, std::int64_t count) {
    const auto& node = code_->nodes[static_cast<std::size_t>(index)];
    const int from = node.in[0];
    const auto copy = [&]<class To, class From>(To* out, const From* in) {
        for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<To>(in[i]);
    };
    const auto into = [&]<class To>(To* out) {
        switch (code_->nodes[static_cast<std::size_t>(from)].type) {
        case ValueType::integer:
            return copy(out, data<Integer>(from));
        case ValueType::float32:
            return copy(out, data<float>(from));
        default:
            return copy(out, data<double>(from));
        }
    };
    if (node.type == ValueType::float32)
        into(data<float>(index));
    else
        into(data<double>(index));
}

void RowEvaluator::to_truth(int index, std::int64_t count) {
    const auto& node = code_->nodes[static_cast<std::size_t>(index)];
    using Truth = std::uint8_t;
    auto* out = data<Truth>(index);
    const auto [a, b, c] = node.in;
    switch (node.op) {
    case Op::logical_and:
        return each(count, out, data<Truth>(a), data<Truth>(b),
                    [](Truth x, Truth y) { return static_cast<Truth>(x & y); });
    case Op::logical_or:
        return each(count, out, data<Truth>(a), data<Truth>(b),
                    [](Truth x, Truth y) { return static_cast<Truth>(x | y); });
    case Op::logical_not:
        return each(count, out, data<Truth>(a), [](Truth x) { return static_cast<Truth>(x ^ 1); });
    case Op::select:
        return choose(count, out, data<Truth>(a), data<Truth>(b), data<Truth>(c));
    default:
        break;
    }
    switch (code_->nodes[static_cast<std::size_t>(a)].type) {
    case ValueType::boolean:
        return compare(node.op, count, out, data<Truth>(a), data<Truth>(b));
    case ValueType::integer:
        return compare(node.op, count, out, data<Integer>(a), data<Integer>(b));
    case ValueType::float32:
        return compare(node.op, count, out, data<float>(a), data<float>(b));
    default:
        return compare(node.op, count, out, data<double>(a), data<double>(b));
    }
}

void RowEvaluator::integer_operation(int index, std::int64_t count) {
    const auto& node = code_->nodes[static_cast<std::size_t>(index)];
    auto* out = data<Integer>(index);
    if (node.op == Op::select)
        return choose(count, out, data<std::uint8_t>(node.in[0]), data<Integer>(node.in[1]),
                      data<Integer>(node.in[2]));
    const auto* a = data<Integer>(node.in[0]);
    const auto* b = operands_of(node.op) > 1 ? data<Integer>(node.in[1]) : a;
    switch (node.op) {
    case Op::negate:
        return each(count, out, a, [](Integer x) { return wrapped(0 - bits(x)); });
    case Op::abs:
        return each(count, out, a, [](Integer x) { return x < 0 ? wrapped(0 - bits(x)) : x; });
    case Op::add:
        return each(count, out, a, b, [](Integer x, Integer y) { return wrapped(bits(x) + bits(y)); });
    case Op::subtract:
        return each(count, out, a, b, [](Integer x, Integer y) { return wrapped(bits(x) - bits(y)); });
    case Op::multiply:
        return each(count, out, a, b, [](Integer x, Integer y) { return wrapped(bits(x) * bits(y)); });
    case Op::floor_divide:
        return each(count, out, a, b, floor_quotient);
    case Op::remainder:
        return each(count, out, a, b, floor_remainder);
    case Op::min:
        return each(count, out, a, b, [](Integer x, Integer y) { return y < x ? y : x; });
    default:
        return each(count, out, a, b, [](Integer x, Integer y) { return x < y ? y : x; });
    }
}

template <class T>
void RowEvaluator::real_operation(int index, std::int64_t count) {
    const auto& node = code_->nodes[static_cast<std::size_t>(index)];
    auto* out = data<T>(index);
    if (node.op == Op::select)
        return choose(count, out, data<std::uint8_t>(node.in[0]), data<T>(node.in[1]), data<T>(node.in[2]));
    const auto* a = data<T>(node.in[0]);
    const auto* b = operands_of(node.op) > 1 ? data<T>(node.in[1]) : a;
    switch (node.op) {
    case Op::negate:
        return each(count, out, a, [](T x) { return -x; });
    case Op::add:
        return each(count, out, a, b, [](T x, T y) { return x + y; });
    case Op::subtract:
        return each(count, out, a, b, [](T x, T y) { return x - y; });
    case Op::multiply:
        return each(count, out, a, b, [](T x, T y) { return x * y; });
    case Op::divide:
        return each(count, out, a, b, [](T x, T y) { return x / y; });
    case Op::fma: {
        const auto* c = data<T>(node.in[2]);
        for (std::int64_t i = 0; i < count; ++i) out[i] = std::fma(a[i], b[i], c[i]);
        return;
    }
    case Op::abs:
        return each(count, out, a, [](T x) { return std::fabs(x); });
    case Op::min:
        return each(count, out, a, b, [](T x, T y) { return y < x ? y : x; });
    case Op::max:
        return each(count, out, a, b, [](T x, T y) { return x < y ? y : x; });
    case Op::floor:
        return each(count, out, a, [](T x) { return std::floor(x); });
    case Op::ceil:
        return each(count, out, a, [](T x) { return std::ceil(x); });
    case Op::sqrt:
        return each(count, out, a, [](T x) { return std::sqrt(x); });
    case Op::exp:
        return each(count, out, a, [](T x) { return portable::exp(x); });
    case Op::log:
        return each(count, out, a, [](T x) { return portable::log(x); });
    case Op::sin:
        return each(count, out, a, [](T x) { return portable::sin(x); });
    case Op::cos:
        return each(count, out, a, [](T x) { return portable::cos(x); });
    case Op::tanh:
        return each(count, out, a, [](T x) { return portable::tanh(x); });
    case Op::cbrt:
        return each(count, out, a, [](T x) { return portable::cbrt(x); });
    default:
        return each(count, out, a, b, [](T x, T y) { return portable::pow(x, y); });
    }
}

template void RowEvaluator::real_operation<float>(int, std::int64_t);
template void RowEvaluator::real_operation<double>(int, std::int64_t);

Node evaluate_constant(const Node& node, std::span<const Node> operands) {
    Code code;
    code.nodes.assign(operands.begin(), operands.end());
    auto& root = code.nodes.emplace_back(node);
    for (std::size_t i = 0; i < operands.size(); ++i) root.in[i] = static_cast<int>(i);
    const int index = static_cast<int>(operands.size());
    RowEvaluator evaluator({1, 1, 1}, code);
    evaluator.compute(0, 0, 1);
    switch (node.type) {
    case ValueType::boolean:
        return truth_constant(evaluator.truth(index)[0] != 0);
    case ValueType::integer:
        return integer_constant(evaluator.integer(index)[0]);
    case ValueType::float32:
        return real_constant(static_cast<double>(evaluator.real32(index)[0]), ValueType::float32);
    default:
        return real_constant(evaluator.real64(index)[0]);
    }
}

} // namespace farfield::stencil::ir
