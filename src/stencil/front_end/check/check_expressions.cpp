// Types and values of a program's expressions, and sums such as `x + 1`.
#include "lang/check_types.h"
#include "lang/diagnostic_kinds.h"
#include "lang/evaluate.h"
#include "stencil/front_end/check/checker.h"
#include "stencil/front_end/check/resolve_names.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/front_end/syntax/words.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace farfield::stencil {
namespace {

using lang::Expr;
using lang::Type;

// Collects the terms of a sum; the coordinate among them apart.
struct Terms {
    int coordinate = -1;
    bool sound = true;
    std::vector<std::pair<int, Expr*>> others; // with their signs
};

void collect(Expr& expr, int sign, Terms& out) {
    if (auto* binary = std::get_if<lang::Binary>(&expr.node);
        binary != nullptr && (binary->op == lang::BinaryOp::add || binary->op == lang::BinaryOp::subtract)) {
        collect(*binary->left, sign, out);
        collect(*binary->right, binary->op == lang::BinaryOp::add ? sign : -sign, out);
        return;
    }
    auto* name = std::get_if<lang::Name>(&expr.node);
    if (name != nullptr && axis_of(name->text) >= 0) {
        out.sound = out.sound && sign > 0 && out.coordinate < 0;
        out.coordinate = axis_of(name->text);
        name->symbol = symbol_of(SymbolKind::cell_index, out.coordinate);
        return;
    }
    lang::for_each_node(expr, [&](const Expr& inner) {
        const auto* inner_name = std::get_if<lang::Name>(&inner.node);
        if (inner_name != nullptr && axis_of(inner_name->text) >= 0) out.sound = false;
    });
    out.others.emplace_back(sign, &expr);
}

} // namespace

Type Checker::type(Expr& expr, const ExpressionContext& context) {
    const auto type = resolve(expr, *this, context);
    if (type == Type::text) {
        report(lang::kinds::type_mismatch, expr.span, fmt::format("{} cannot be a text", context.what),
               "texts name files: image(\"shape.png\"), data(\"values.npy\")");
        return Type::unknown;
    }
    return type;
}

bool Checker::typed(Expr& expr, Type needed, const ExpressionContext& context) {
    const auto found = type(expr, context);
    return lang::require_type(found, needed, expr.span, context.what, diagnostics_) && found != Type::unknown;
}

std::optional<lang::Value> Checker::constant(Expr& expr, const std::string& what) {
    if (type(expr, ExpressionContext{what}) == Type::unknown) return std::nullopt;
    return lang::evaluate(
        expr, [&](const lang::Name& name) { return constant_value(model_, name); }, what, diagnostics_);
}

std::optional<double> Checker::real_constant(Expr& expr, const std::string& what) {
    if (!typed(expr, Type::real, ExpressionContext{what})) return std::nullopt;
    const auto value = constant(expr, what);
    return value ? std::optional(lang::as_real(*value)) : std::nullopt;
}

std::optional<std::int64_t> Checker::whole_constant(Expr& expr, const std::string& what) {
    if (!typed(expr, Type::real, ExpressionContext{what})) return std::nullopt;
    const auto value = constant(expr, what);
    if (!value) return std::nullopt;
    if (const auto* integer = std::get_if<std::int64_t>(&*value)) return *integer;
    const double real = lang::as_real(*value);
    if (real == std::floor(real) && std::fabs(real) < 0x1p53) return static_cast<std::int64_t>(real);
    report(kinds::bad_value, expr.span,
           fmt::format("{} must be a whole number, and is {}", what, lang::to_text(*value)),
           "'//' divides whole numbers and gives one; floor(x) rounds down");
    return std::nullopt;
}

std::optional<Checker::Shifted> Checker::shifted(Expr& expr, const lang::DiagnosticKind& kind,
                                                 std::string_view what) {
    const bool access = &kind == &kinds::bad_access;
    Terms terms;
    collect(expr, 1, terms);
    if (!terms.sound || terms.coordinate < 0) {
        report(kind, expr.span,
               access ? fmt::format("a neighbour of '{}' is an axis plus or minus a whole number", what)
                      : fmt::format("{} is an axis plus or minus a number", what),
               access
                   ? fmt::format("write {}[x+1] or {}[x-1]; an axis that is not mentioned stays at this cell",
                                 what, what)
                   : std::string("write: at (x+1/2, y)"));
        return std::nullopt;
    }
    Shifted out{terms.coordinate, 0};
    for (const auto& [sign, term] : terms.others) {
        const auto value =
            real_constant(*term, access ? "the distance to a neighbour" : "a place in the cell");
        if (!value) return std::nullopt;
        out.shift += sign * *value;
    }
    if (access && (out.shift != std::floor(out.shift) || std::fabs(out.shift) > 1e6)) {
        report(kind, expr.span,
               fmt::format("a neighbour is a whole number of cells away, and this one {}",
                           lang::real_text(out.shift)),
               "at most 1000000 cells; half cells are declared with the field: field Ex on g at (x+1/2, y)");
        return std::nullopt;
    }
    return out;
}

Type Checker::type_of_constant(int index) const {
    return lang::type_of(model_.constants[static_cast<std::size_t>(index)].value);
}

ExpressionContext Checker::on_cells_of(int grid, std::string what) const {
    ExpressionContext context{std::move(what), grid};
    for (const auto& axis : model_.grids[static_cast<std::size_t>(grid)].axes)
        context.coordinates[static_cast<std::size_t>(axis.coordinate)] = true;
    return context;
}

} // namespace farfield::stencil
