// Printing and parsing are inverse, on random expressions and with either kind of brackets.
#include "lang/expression_parser.h"
#include "lang/expression_printer.h"
#include "lang/lexer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

namespace {

using namespace farfield::lang;

class Generator {
public:
    explicit Generator(std::uint32_t seed) : random_(seed) {}

    ExprPtr expression(int depth) {
        if (depth == 0 || pick(6) == 0) return leaf();
        switch (pick(8)) {
        case 0:
            return make(Unary{pick(2) == 0 ? UnaryOp::negate : UnaryOp::logical_not, expression(depth - 1)});
        case 1:
            return comparison(depth);
        case 2:
            return make(Select{expression(depth - 1), expression(depth - 1), expression(depth - 1)});
        case 3:
            return make(Call{word(), {}, list(depth, 0)});
        case 4:
            return make(Access{word(), {}, list(depth, 0)});
        default:
            return make(Binary{static_cast<BinaryOp>(pick(9)), expression(depth - 1), expression(depth - 1)});
        }
    }

private:
    std::size_t pick(std::size_t n) { return random_() % n; }
    static ExprPtr make(Node node) { return make_expr({}, std::move(node)); }
    std::string word() {
        const char* words[] = {"a", "Hz", "x", "cells", "_t1", "sum", "e"};
        return words[pick(7)];
    }
    ExprPtr leaf() {
        switch (pick(5)) {
        case 0:
            return make(IntegerLiteral{static_cast<std::int64_t>(random_() >> pick(32))});
        case 1:
            return make(
                RealLiteral{std::ldexp(static_cast<double>(random_()), static_cast<int>(pick(400)) - 200)});
        case 2:
            return make(BooleanLiteral{pick(2) == 0});
        case 3:
            return make(TextLiteral{"file one.png"});
        default:
            return make(Name{word()});
        }
    }
    std::vector<ExprPtr> list(int depth, std::size_t least) {
        std::vector<ExprPtr> out;
        const auto n = least + pick(4);
        for (std::size_t i = 0; i < n; ++i) out.push_back(expression(depth - 1));
        return out;
    }
    // One direction, as the parser demands.
    ExprPtr comparison(int depth) {
        Compare node;
        node.operands.push_back(expression(depth - 1));
        const CompareOp directions[][3] = {{CompareOp::less, CompareOp::less_equal, CompareOp::equal},
                                           {CompareOp::greater, CompareOp::greater_equal, CompareOp::equal}};
        const auto direction = pick(2);
        const auto n = 1 + pick(3);
        for (std::size_t i = 0; i < n; ++i) {
            node.ops.push_back(n == 1 && pick(4) == 0 ? CompareOp::not_equal
                                                      : directions[direction][pick(3)]);
            node.operands.push_back(expression(depth - 1));
        }
        return make(std::move(node));
    }
    std::mt19937 random_;
};

ExprPtr parsed(const std::string& text) {
    const SourceText source("random.ff", text);
    Diagnostics diagnostics(source);
    const auto tokens = tokenize(source, {}, diagnostics);
    TokenStream stream(tokens, source, diagnostics);
    try {
        auto expr = parse_expression(stream);
        if (stream.at(TokenKind::newline) && !diagnostics.has_errors()) return expr;
    } catch (const SyntaxFailure&) {
    }
    ADD_FAILURE() << to_text(diagnostics);
    return nullptr;
}

} // namespace

TEST(ExpressionProperty, PrintedAndParsedIsTheSameTree) {
    for (std::uint32_t seed = 1; seed <= 3000; ++seed) {
        const auto expr = Generator(seed).expression(1 + static_cast<int>(seed % 6));
        for (const auto brackets : {Brackets::needed, Brackets::all}) {
            const auto text = to_text(*expr, brackets);
            const auto again = parsed(text);
            ASSERT_TRUE(again != nullptr && same(*expr, *again)) << "seed " << seed << ": " << text;
            ASSERT_EQ(to_text(*again, brackets), text) << "seed " << seed;
        }
    }
}
