// Parsing, types, constant values and printing of expressions.
#include "lang/check_types.h"
#include "lang/evaluate.h"
#include "lang/expression_parser.h"
#include "lang/expression_printer.h"
#include "lang/lexer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

namespace {

using namespace farfield::lang;

// n = 7 is whole, r = 2.5 real; nothing else has a meaning.
class TestNames : public Names {
public:
    Type name(Name& node, Span) override {
        return node.text == "n" ? Type::integer : node.text == "r" ? Type::real : Type::unknown;
    }
    Type access(Access&, Span) override { return Type::real; }
    std::optional<Type> call(Call&, Span) override { return std::nullopt; }
};

struct Parsed {
    explicit Parsed(std::string text) : source("test.ff", std::move(text)), diagnostics(source) {
        const auto tokens = tokenize(source, {}, diagnostics);
        TokenStream stream(tokens, source, diagnostics);
        try {
            expr = parse_expression(stream);
            if (!stream.at(TokenKind::newline)) expr = nullptr;
        } catch (const SyntaxFailure&) {
        }
    }
    std::string brackets() const { return expr ? to_text(*expr, Brackets::all) : "nothing"; }
    Type type() {
        TestNames names;
        return check_types(*expr, names, diagnostics);
    }
    std::optional<Value> value() {
        if (type() == Type::unknown) return std::nullopt;
        const NameValues values = [](const Name& name) -> std::optional<Value> {
            if (name.text == "n") return Value(std::int64_t{7});
            if (name.text == "r") return Value(2.5);
            return std::nullopt;
        };
        return evaluate(*expr, values, "the value", diagnostics);
    }
    SourceText source;
    Diagnostics diagnostics;
    ExprPtr expr;
};

std::string brackets_of(const std::string& text) { return Parsed(text).brackets(); }
std::string value_of(const std::string& text) {
    Parsed parsed(text);
    const auto value = parsed.value();
    return value ? to_text(*value) : "none";
}

} // namespace

TEST(ExpressionParser, Precedence) {
    EXPECT_EQ(brackets_of("-x^2"), "-(x^2)");
    EXPECT_EQ(brackets_of("2^3^2"), "2^(3^2)");
    EXPECT_EQ(brackets_of("2^-x^2"), "2^(-(x^2))");
    EXPECT_EQ(brackets_of("a - b - c"), "(a - b) - c");
    EXPECT_EQ(brackets_of("a/b*c//d%e"), "(((a / b) * c) // d) % e");
    EXPECT_EQ(brackets_of("-a*b"), "(-a) * b");
    EXPECT_EQ(brackets_of("a + b*c"), "a + (b * c)");
    EXPECT_EQ(brackets_of("not a < b and c or d"), "((not (a < b)) and c) or d");
    EXPECT_EQ(brackets_of("a < b + 1 <= c"), "a < (b + 1) <= c");
    EXPECT_EQ(brackets_of("if a then b else c + 1"), "if a then b else (c + 1)");
    EXPECT_EQ(brackets_of("where(a, b, c)"), "if a then b else c");
    EXPECT_EQ(brackets_of("f(a + 1, Hz[y-1])"), "f(a + 1, Hz[y - 1])");
    EXPECT_EQ(brackets_of("+a - -b"), "a - (-b)");
}

TEST(ExpressionParser, RefusesWhatIsNoExpression) {
    for (const auto* text :
         {"", "a +", "(a", "a b", "a ** b", "1 + if a then b else c", "then", "f(a,", "a[", ")"}) {
        const Parsed parsed(text);
        EXPECT_TRUE(parsed.expr == nullptr) << text;
    }
}

TEST(ExpressionTypes, WidenAndAreKeptApart) {
    EXPECT_EQ(Parsed("n + 1").type(), Type::integer);
    EXPECT_EQ(Parsed("n + 1.0").type(), Type::real);
    EXPECT_EQ(Parsed("n / 2").type(), Type::real);
    EXPECT_EQ(Parsed("n // 2").type(), Type::integer);
    EXPECT_EQ(Parsed("n^2").type(), Type::integer);
    EXPECT_EQ(Parsed("n^-2").type(), Type::real);
    EXPECT_EQ(Parsed("r^2").type(), Type::real);
    EXPECT_EQ(Parsed("max(n, 2)").type(), Type::integer);
    EXPECT_EQ(Parsed("max(n, 2.0)").type(), Type::real);
    EXPECT_EQ(Parsed("floor(r)").type(), Type::real);
    EXPECT_EQ(Parsed("if n < 3 then 1 else r").type(), Type::real);
    EXPECT_EQ(Parsed("0 < n < 9").type(), Type::boolean);
    for (const auto* text :
         {"1 + true", "not 1", "if 1 then 2 else 3", "r // 2", "true < false", "true and 1", "sinn(1)",
          "exp(1, 2)", "1 == true", "if n < 3 then true else 1", "-\"a\""}) {
        Parsed parsed(text);
        EXPECT_EQ(parsed.type(), Type::unknown) << text;
        EXPECT_TRUE(parsed.diagnostics.has_errors()) << text;
    }
}

TEST(Evaluate, WholeNumbers) {
    EXPECT_EQ(value_of("7 // 2"), "3");
    EXPECT_EQ(value_of("(-7) // 2"), "-4");
    EXPECT_EQ(value_of("7 // (-2)"), "-4");
    EXPECT_EQ(value_of("(-7) % 2"), "1");
    EXPECT_EQ(value_of("7 % (-2)"), "-1");
    EXPECT_EQ(value_of("2^10 - n"), "1017");
    EXPECT_EQ(value_of("(-1)^9223372036854775807"), "-1");
    EXPECT_EQ(value_of("0^0"), "1");
    EXPECT_EQ(value_of("min(3, n, 5) + max(1, 2) + abs(-4)"), "9");
    EXPECT_EQ(value_of("9223372036854775807 + 1"), "none");
    EXPECT_EQ(value_of("3037000500 * 3037000500"), "none");
    EXPECT_EQ(value_of("(-9223372036854775807 - 1) // (-1)"), "none");
    EXPECT_EQ(value_of("(-9223372036854775807 - 1) % (-1)"), "0");
    EXPECT_EQ(value_of("-(-9223372036854775807 - 1)"), "none");
    EXPECT_EQ(value_of("5 % 0"), "none");
}

TEST(Evaluate, RealNumbers) {
    EXPECT_EQ(value_of("1/2"), "0.5");
    EXPECT_EQ(value_of("n / 2"), "3.5");
    EXPECT_EQ(value_of("r + 1"), "3.5");
    EXPECT_EQ(value_of("4.0"), "4.0");
    EXPECT_EQ(value_of("sqrt(2.25) + floor(-0.5) + ceil(0.5)"), "1.5");
    EXPECT_EQ(value_of("exp(0) + log(1) + cos(0) + sin(0) + tanh(0) + cbrt(8)"), "4.0");
    EXPECT_EQ(value_of("if n > 3 then 1 else 2.5"), "1.0");
    EXPECT_EQ(value_of("if n > 3 then 1 else 1/0"), "1.0"); // the other branch does not matter
    for (const auto* text : {"1/0", "log(-1)", "sqrt(-1)", "exp(1000)", "1e308 * 10", "unknown + 1"})
        EXPECT_EQ(value_of(text), "none") << text;
    // the functions are accurate to about a rounding (math/portable): 4e-16 is two
    EXPECT_NEAR(std::stod(value_of("exp(1.0)")), std::exp(1.0), 4e-16 * std::exp(1.0));
    EXPECT_NEAR(std::stod(value_of("2.5^0.5")), std::sqrt(2.5), 4e-16 * 2);
}

TEST(Evaluate, Conditions) {
    EXPECT_EQ(value_of("0 < n < 7"), "false");
    EXPECT_EQ(value_of("0 < n <= 7 == 7.0"), "true");
    EXPECT_EQ(value_of("not (n == 7) or r >= 2.5 and true"), "true");
    EXPECT_EQ(value_of("true == (n != 7)"), "false");
    EXPECT_EQ(value_of("9007199254740993 == 9007199254740992"), "false"); // compared as whole numbers
}

TEST(Expressions, CloneIsTheSameAndDepthIsCounted) {
    const Parsed parsed("if a[x+1] < 2 then f(b, 1.5) else -c^2 or true");
    const auto copy = clone(*parsed.expr);
    EXPECT_TRUE(same(*copy, *parsed.expr));
    EXPECT_EQ(copy->depth, parsed.expr->depth);
    EXPECT_EQ(Parsed("a").expr->depth, 1);
    EXPECT_EQ(Parsed("a + b*c").expr->depth, 3);
    for (const auto* other : {"a + c*b", "a + b*c*d", "a - b*c", "a + b/c", "a"})
        EXPECT_FALSE(same(*Parsed("a + b*c").expr, *Parsed(other).expr)) << other;
}

TEST(Expressions, DeepOnesAreRefusedWithAMessage) {
    std::string sum = "a";
    for (int i = 0; i < 5000; ++i) sum += " + a";
    for (const auto& text :
         {sum, std::string(5000, '-') + "a", std::string(5000, '(') + "a", std::string(5000, '[')}) {
        const Parsed parsed(text);
        EXPECT_TRUE(parsed.expr == nullptr);
        EXPECT_TRUE(parsed.diagnostics.has_errors());
    }
}
