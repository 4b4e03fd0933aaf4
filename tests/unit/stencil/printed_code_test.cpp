// The printer of expressions: its texts, compiled, give the bits that the IR means.
#include "backend/jit/system_compiler.h"
#include "math/portable/functions.h"
#include "parity/portable_cases.h"
#include "stencil/codegen/expressions.h"
#include "stencil/codegen/used_functions.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace farfield::stencil::codegen {
namespace {

using ir::Code;
using ir::Node;
using ir::Op;
using ir::ValueType;

// Loads come from x[buffer], x float or double.
class TestSpelling : public Spelling {
public:
    std::string load(const Node& node) const override { return fmt::format("x[{}]", node.index); }
    Precision precision_of(int /*buffer*/) const override { return Precision::double_precision; }
    std::string cell(int axis) const override { return fmt::format("i[{}]", axis); }
    std::string uniform(int index) const override { return fmt::format("u[{}]", index); }
};

int add(Code& code, Op op, ValueType type, std::initializer_list<int> in = {}) {
    Node node;
    node.op = op;
    node.type = type;
    std::copy(in.begin(), in.end(), node.in.begin());
    code.nodes.push_back(node);
    return static_cast<int>(code.nodes.size()) - 1;
}
int load(Code& code, int buffer, ValueType type = ValueType::float64) {
    const int node = add(code, Op::load, type);
    code.nodes[node].index = buffer;
    return node;
}
int cell(Code& code, int axis) {
    const int node = add(code, Op::cell, ValueType::integer);
    code.nodes[node].index = axis;
    return node;
}

std::string print(const Code& code, int node) {
    const Root root{node, {}};
    return print_code(code, {&root, 1}, TestSpelling()).values[0];
}

TEST(PrintedCode, KeepsTheOrderOfRoundings) {
    Code code;
    const int a = load(code, 0);
    const int b = load(code, 1);
    const int c = load(code, 2);
    const int bc = add(code, Op::subtract, ValueType::float64, {b, c});
    EXPECT_EQ(print(code, add(code, Op::subtract, ValueType::float64, {a, bc})), "x[0] - (x[1] - x[2])");
    const int ab = add(code, Op::add, ValueType::float64, {a, b});
    EXPECT_EQ(print(code, add(code, Op::add, ValueType::float64, {ab, c})), "x[0] + x[1] + x[2]");
    EXPECT_EQ(print(code, add(code, Op::multiply, ValueType::float64, {ab, c})), "(x[0] + x[1]) * x[2]");
    EXPECT_EQ(print(code, add(code, Op::negate, ValueType::float64, {ab})), "-(x[0] + x[1])");
    EXPECT_EQ(print(code, add(code, Op::fma, ValueType::float64, {ab, b, c})),
              "__builtin_fma(x[0] + value_2, value_2, x[2])");
}

TEST(PrintedCode, NamesWhatIsUsedTwice) {
    Code code;
    const int a = load(code, 0);
    const int b = load(code, 1);
    const int sum = add(code, Op::add, ValueType::float64, {a, b});
    const Root root{add(code, Op::multiply, ValueType::float64, {sum, sum}), "square"};
    const auto printed = print_code(code, {&root, 1}, TestSpelling());
    ASSERT_EQ(printed.lines.size(), 2U);
    EXPECT_EQ(printed.lines[0], "const double sum_1 = x[0] + x[1];");
    EXPECT_EQ(printed.lines[1], "const double square = sum_1 * sum_1;");
    EXPECT_EQ(printed.values[0], "square");
}

TEST(PrintedCode, NumbersReadBackAsTheSameBits) {
    const TestSpelling spelling;
    for (const double value : {0.1, -0.0, 1.0, 1e300, 5e-324, 1.0 / 3, -2.5e-8, 123456789012345678.0}) {
        const auto text = print_number(value, ValueType::float64, spelling);
        EXPECT_EQ(std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)),
                  std::bit_cast<std::uint64_t>(value))
            << text;
        EXPECT_NE(text.find_first_of(".e"), std::string::npos) << text << " is no real number in C++";
    }
    EXPECT_EQ(print_number(0.1, ValueType::float32, spelling), "0.1f");
    EXPECT_EQ(print_number(1e300, ValueType::float32, spelling), "static_cast<float>(__builtin_inf())");
}

// f(x, y) for whole numbers, by the definitions.
long long floor_quotient(long long a, long long b) {
    return b == 0 ? 0
                  : static_cast<long long>(
                        std::floor(static_cast<long double>(a) / static_cast<long double>(b)));
}

TEST(PrintedCode, DividesWholeNumbersDownwards) {
    Code code;
    const int x = cell(code, 0);
    const int y = cell(code, 1);
    const std::vector<Root> roots{{add(code, Op::floor_divide, ValueType::integer, {x, y}), "q"},
                                  {add(code, Op::remainder, ValueType::integer, {x, y}), "r"},
                                  {add(code, Op::multiply, ValueType::integer, {x, y}), "p"},
                                  {add(code, Op::min, ValueType::integer, {x, y}), "m"},
                                  {add(code, Op::abs, ValueType::integer, {x}), "a"}};
    const auto printed = print_code(code, roots, TestSpelling());
    ASSERT_TRUE(printed.needs.operations);
    std::string source = std::string(host_prelude()) + std::string(operation_functions()) +
                         "extern \"C\" void f(const long long* i, long long* out) {\n";
    for (const auto& line : printed.lines) source += line + "\n";
    source += "out[0] = q; out[1] = r; out[2] = p; out[3] = m; out[4] = a; }\n";
    const auto compiled = jit::compile_shared_object(source);
    auto* f = compiled.object->function<void(const long long*, long long*)>("f");
    for (long long a = -9; a <= 9; ++a)
        for (long long b = -4; b <= 4; ++b) {
            const long long in[2] = {a, b};
            long long out[5] = {};
            f(in, out);
            const auto q = floor_quotient(a, b);
            EXPECT_EQ(out[0], q) << a << " // " << b;
            EXPECT_EQ(out[1], b == 0 ? 0 : a - b * q) << a << " % " << b;
            EXPECT_EQ(out[2], a * b);
            EXPECT_EQ(out[3], std::min(a, b));
            EXPECT_EQ(out[4], std::abs(a));
        }
    const auto least = std::numeric_limits<long long>::min();
    const long long in[2] = {least, -1};
    long long out[5] = {};
    f(in, out);
    EXPECT_EQ(out[0], least) << "wraps around";
    EXPECT_EQ(out[1], 0);
    EXPECT_EQ(out[4], least);
}

// All elementary functions in loops over arrays, as text, against the library's own.
template <class T>
void compare_portable(const char* type, ValueType value_type) {
    const Op ops[] = {Op::exp, Op::log, Op::sin, Op::cos, Op::tanh, Op::cbrt, Op::pow};
    std::string source = std::string(host_prelude()) + std::string(portable_functions());
    for (int f = 0; f < portable_cases::functions; ++f) {
        Code code;
        Node x;
        x.op = Op::load;
        x.type = value_type;
        x.index = 0;
        code.nodes.push_back(x);
        x.index = 1;
        code.nodes.push_back(x);
        const int value = add(code, ops[f], value_type, {0, ops[f] == Op::pow ? 1 : -1});
        class LoopSpelling : public TestSpelling {
        public:
            explicit LoopSpelling(Precision precision) : precision_(precision) {}
            std::string load(const Node& node) const override { return node.index == 0 ? "x[k]" : "y[k]"; }
            Precision precision_of(int /*buffer*/) const override { return precision_; }
            Precision precision_;
        };
        const Root root{value, {}};
        const LoopSpelling spelling(value_type == ValueType::float32 ? Precision::single_precision
                                                                     : Precision::double_precision);
        source += fmt::format("extern \"C\" void f{0}(const {1}* x, const {1}* y, {1}* out, long n) {{\n"
                              "for (long k = 0; k < n; ++k) out[k] = {2};\n}}\n",
                              f, type, print_code(code, {&root, 1}, spelling).values[0]);
    }
    const auto compiled = jit::compile_shared_object(source);
    constexpr long n = 1L << 14;
    std::vector<T> x(n);
    std::vector<T> y(n);
    std::vector<T> out(n);
    for (long k = 0; k < n; ++k) {
        x[k] = portable_cases::argument<T>(static_cast<std::uint64_t>(k), 1);
        y[k] = portable_cases::argument<T>(static_cast<std::uint64_t>(k), 2);
    }
    using Bits = typename portable::Format<T>::Bits;
    for (int f = 0; f < portable_cases::functions; ++f) {
        compiled.object->function<void(const T*, const T*, T*, long)>(fmt::format("f{}", f))(
            x.data(), y.data(), out.data(), n);
        for (long k = 0; k < n; ++k)
            ASSERT_EQ(std::bit_cast<Bits>(out[k]),
                      std::bit_cast<Bits>(portable_cases::evaluate(f, x[k], y[k])))
                << portable_cases::names[f] << '(' << x[k] << ", " << y[k] << ')';
    }
}

TEST(PortableText, GivesTheLibrarysBitsInDouble) { compare_portable<double>("double", ValueType::float64); }
TEST(PortableText, GivesTheLibrarysBitsInFloat) { compare_portable<float>("float", ValueType::float32); }

// Code carries along the functions that it uses and what these use, nothing else.
TEST(UsedFunctions, AreThoseThatACodeMentions) {
    const auto of = [](std::string_view code) {
        return used_functions(portable_functions(), code, "farfield::portable::");
    };
    EXPECT_EQ(of("const double exp = 2; tanh(x);"), "");
    const auto logarithm = of("farfield::portable::log<double>(x)");
    for (const auto* kept : {"V log(V x)", "decompose(", "one_nan(", "struct Format<double>", "horner("})
        EXPECT_NE(logarithm.find(kept), std::string::npos) << kept;
    for (const auto* dropped :
         {"reduce_large", "sin_kernel", "pow_cases", "V cbrt(V x)", "V exp(V x)", "struct Format<float>"})
        EXPECT_EQ(logarithm.find(dropped), std::string::npos) << dropped;
    EXPECT_NE(of("farfield::portable::log<float>(x)").find("struct Format<float>"), std::string::npos);
    const auto rest = used_functions(operation_functions(), "floor_divide(a, b)");
    EXPECT_NE(rest.find("wrapping_negate"), std::string::npos);
    EXPECT_EQ(rest.find("minimum"), std::string::npos);
    EXPECT_EQ(rest.find("#if"), std::string::npos);
    const auto negative = used_functions(operation_functions(), "negated(x)");
    EXPECT_EQ(std::count(negative.begin(), negative.end(), '#'), 3) << negative;
}

// Each of them alone compiles, and gives the bits of the library's.
TEST(UsedFunctions, ComputeAsTheLibraryDoes) {
    std::string source = std::string(host_prelude());
    int number = 0;
    for (const std::string name : {"exp", "log", "sin", "cos", "tanh", "cbrt", "pow"})
        for (const std::string type : {"double", "float"}) {
            const auto call =
                "farfield::portable::" + name + "<" + type + ">(" + (name == "pow" ? "x, " : "") + "x)";
            // in a namespace of its own, beside the others
            source += "namespace only_" + std::to_string(number) + " {\n" +
                      used_functions(portable_functions(), call, "farfield::portable::") + "\nextern \"C\" " +
                      type + " f" + std::to_string(number) + "(" + type + " x) { return " + call + "; }\n}\n";
            ++number;
        }
    const auto compiled = jit::compile_shared_object(source);
    for (const double x : {0.3, 1.7, 40.5, 3e6}) {
        const auto check = [&](int f, double expected) {
            const auto name = "f" + std::to_string(f);
            EXPECT_EQ(compiled.object->function<double(double)>(name)(x), expected) << name << ' ' << x;
        };
        check(0, portable::exp(x));
        check(2, portable::log(x));
        check(4, portable::sin(x));
        check(6, portable::cos(x));
        check(8, portable::tanh(x));
        check(10, portable::cbrt(x));
        check(12, portable::pow(x, x));
        EXPECT_EQ(compiled.object->function<float(float)>("f5")(static_cast<float>(x)),
                  portable::sin(static_cast<float>(x)));
    }
}

} // namespace
} // namespace farfield::stencil::codegen
