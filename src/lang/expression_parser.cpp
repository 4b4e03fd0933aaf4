// A recursive parser with one function for each level of precedence.
#include "lang/expression_parser.h"

#include "lang/diagnostic_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace farfield::lang {
namespace {

constexpr std::array<std::string_view, 8> words{"and", "or", "not", "if", "then", "else", "true", "false"};
constexpr int deepest_recursion = 250;

std::optional<CompareOp> compare_op(TokenKind kind) {
    switch (kind) {
    case TokenKind::less:
        return CompareOp::less;
    case TokenKind::less_equal:
        return CompareOp::less_equal;
    case TokenKind::greater:
        return CompareOp::greater;
    case TokenKind::greater_equal:
        return CompareOp::greater_equal;
    case TokenKind::equal:
        return CompareOp::equal;
    case TokenKind::not_equal:
        return CompareOp::not_equal;
    default:
        return std::nullopt;
    }
}

// A chain reads like one line of mathematics: all of its operators point the same way, or are ==.
bool one_direction(const std::vector<CompareOp>& ops) {
    const auto is = [&](auto... allowed) {
        return std::all_of(ops.begin(), ops.end(), [&](CompareOp op) { return ((op == allowed) || ...); });
    };
    return is(CompareOp::less, CompareOp::less_equal, CompareOp::equal) ||
           is(CompareOp::greater, CompareOp::greater_equal, CompareOp::equal);
}

class Parser {
public:
    explicit Parser(TokenStream& tokens) : tokens_(tokens) {}

    ExprPtr expression() {
        const Nesting nesting(*this);
        if (tokens_.at_word("if")) return selection();
        return disjunction();
    }

private:
    // Counts how deep the functions below have called each other.
    class Nesting {
    public:
        explicit Nesting(Parser& parser) : parser_(parser) {
            if (++parser_.nesting_ > deepest_recursion) {
                --parser_.nesting_; // the destructor will not run
                parser_.too_deep(parser_.tokens_.peek().span);
            }
        }
        ~Nesting() { --parser_.nesting_; }
        Nesting(const Nesting&) = delete;
        Nesting& operator=(const Nesting&) = delete;

    private:
        Parser& parser_;
    };

    [[noreturn]] void too_deep(Span span) {
        tokens_.diagnostics().report(kinds::too_deep, span, "this expression is nested too deeply",
                                     "name parts of it with let");
        throw SyntaxFailure{};
    }

    ExprPtr made(Span span, Node node) {
        auto expr = make_expr(span, std::move(node));
        if (expr->depth > deepest_expression) too_deep(span);
        return expr;
    }

    ExprPtr binary(BinaryOp op, ExprPtr left, ExprPtr right) {
        const auto span = join(left->span, right->span);
        return made(span, Binary{op, std::move(left), std::move(right)});
    }

    ExprPtr selection() {
        const auto begin = tokens_.next().span;
        auto condition = expression();
        tokens_.expect_word("then", "after the condition of 'if'", "write: if condition then a else b");
        auto yes = expression();
        tokens_.expect_word("else", "in 'if … then …'",
                            "an expression needs a value in both cases: if c then a else b");
        auto no = expression();
        const auto span = join(begin, no->span);
        return made(span, Select{std::move(condition), std::move(yes), std::move(no)});
    }

    ExprPtr disjunction() {
        auto left = conjunction();
        while (tokens_.accept_word("or")) left = binary(BinaryOp::logical_or, std::move(left), conjunction());
        return left;
    }

    ExprPtr conjunction() {
        auto left = negation();
        while (tokens_.accept_word("and")) left = binary(BinaryOp::logical_and, std::move(left), negation());
        return left;
    }

    ExprPtr negation() {
        if (!tokens_.at_word("not")) return comparison();
        const Nesting nesting(*this);
        const auto begin = tokens_.next().span;
        auto operand = negation();
        const auto span = join(begin, operand->span);
        return made(span, Unary{UnaryOp::logical_not, std::move(operand)});
    }

    ExprPtr comparison() {
        auto first = sum();
        if (!compare_op(tokens_.peek().kind)) return first;
        Compare chain;
        chain.operands.push_back(std::move(first));
        while (const auto op = compare_op(tokens_.peek().kind)) {
            tokens_.next();
            chain.ops.push_back(*op);
            chain.operands.push_back(sum());
        }
        const auto span = join(chain.operands.front()->span, chain.operands.back()->span);
        if (chain.ops.size() > 1 && !one_direction(chain.ops))
            tokens_.diagnostics().report(kinds::mixed_comparison, span,
                                         "this chain of comparisons points in different directions",
                                         "write chains like 0 <= x < n, and other conditions with 'and'");
        return made(span, std::move(chain));
    }

    ExprPtr sum() {
        auto left = product();
        for (;;) {
            if (tokens_.accept(TokenKind::plus))
                left = binary(BinaryOp::add, std::move(left), product());
            else if (tokens_.accept(TokenKind::minus))
                left = binary(BinaryOp::subtract, std::move(left), product());
            else
                return left;
        }
    }

    ExprPtr product() {
        auto left = unary();
        for (;;) {
            if (tokens_.accept(TokenKind::times))
                left = binary(BinaryOp::multiply, std::move(left), unary());
            else if (tokens_.accept(TokenKind::divide))
                left = binary(BinaryOp::divide, std::move(left), unary());
            else if (tokens_.accept(TokenKind::floor_divide))
                left = binary(BinaryOp::floor_divide, std::move(left), unary());
            else if (tokens_.accept(TokenKind::remainder))
                left = binary(BinaryOp::remainder, std::move(left), unary());
            else
                return left;
        }
    }

    ExprPtr unary() {
        if (!tokens_.at(TokenKind::minus) && !tokens_.at(TokenKind::plus)) return power();
        const Nesting nesting(*this);
        const bool negative = tokens_.at(TokenKind::minus);
        const auto begin = tokens_.next().span;
        auto operand = unary();
        if (!negative) return operand;
        const auto span = join(begin, operand->span);
        return made(span, Unary{UnaryOp::negate, std::move(operand)});
    }

    ExprPtr power() {
        auto base = primary();
        if (tokens_.at(TokenKind::times) && tokens_.peek(1).kind == TokenKind::times)
            tokens_.fail("a factor", "after '*'", "a power is written with '^'");
        if (!tokens_.at(TokenKind::power)) return base;
        const Nesting nesting(*this);
        tokens_.next();
        return binary(BinaryOp::power, std::move(base), unary());
    }

    ExprPtr primary() {
        const auto token = tokens_.peek();
        switch (token.kind) {
        case TokenKind::integer:
            tokens_.next();
            return made(token.span, IntegerLiteral{token.integer});
        case TokenKind::real:
            tokens_.next();
            return made(token.span, RealLiteral{token.real});
        case TokenKind::string:
            return text_literal();
        case TokenKind::identifier:
            return name();
        case TokenKind::open_paren: {
            tokens_.next();
            auto inner = expression();
            inner->span =
                join(token.span, tokens_.expect(TokenKind::close_paren, "after the expression").span);
            return inner;
        }
        default:
            tokens_.fail("a value", "here");
        }
    }

    ExprPtr text_literal() {
        const auto token = tokens_.next();
        auto text = tokens_.text(token);
        text.remove_prefix(1);
        if (!text.empty() && (text.back() == '"' || text.back() == '\'')) text.remove_suffix(1);
        return made(token.span, TextLiteral{std::string(text)});
    }

    ExprPtr name() {
        const auto text = tokens_.text();
        if (text == "true" || text == "false")
            return made(tokens_.next().span, BooleanLiteral{text == "true"});
        if (text == "if")
            tokens_.fail("a value", "here", "put 'if … then … else …' in brackets within another expression");
        if (is_expression_word(text)) tokens_.fail("a value", "here");
        const auto span = tokens_.next().span;
        if (tokens_.at(TokenKind::open_paren)) return call(std::string(text), span);
        if (tokens_.at(TokenKind::open_bracket)) return access(std::string(text), span);
        return made(span, Name{std::string(text)});
    }

    ExprPtr call(std::string text, Span name_span) {
        Call call{std::move(text), name_span, list(TokenKind::close_paren, "the values of the function")};
        const auto span = join(name_span, tokens_.last_span());
        if (call.text != "where") return made(span, std::move(call));
        if (call.arguments.size() != 3) {
            tokens_.diagnostics().report(
                kinds::argument_count, span,
                fmt::format("'where' is given {} values, and takes 3", call.arguments.size()),
                "write: where(condition, value if true, value if false)");
            throw SyntaxFailure{};
        }
        auto& a = call.arguments;
        return made(span, Select{std::move(a[0]), std::move(a[1]), std::move(a[2])});
    }

    ExprPtr access(std::string text, Span name_span) {
        Access access{std::move(text), name_span, list(TokenKind::close_bracket, "the neighbour's place")};
        return made(join(name_span, tokens_.last_span()), std::move(access));
    }

    std::vector<ExprPtr> list(TokenKind close, std::string_view what) {
        tokens_.next();
        std::vector<ExprPtr> out;
        if (tokens_.accept(close)) return out;
        do out.push_back(expression());
        while (tokens_.accept(TokenKind::comma));
        tokens_.expect(close, fmt::format("after {}", what));
        return out;
    }

    TokenStream& tokens_;
    int nesting_ = 0;
};

} // namespace

ExprPtr parse_expression(TokenStream& tokens) { return Parser(tokens).expression(); }

bool is_expression_word(std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

} // namespace farfield::lang
