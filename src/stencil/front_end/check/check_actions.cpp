// Checks of places, boundaries, records, the step, and outputs.
#include "lang/check_types.h"
#include "stencil/front_end/check/checker.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/front_end/syntax/words.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <utility>

namespace farfield::stencil {

using lang::Type;

std::optional<Box> Checker::box(std::vector<PlaceRange>& at, int grid, int field, Span span,
                                const std::string& what) {
    const auto& the_grid = model_.grids[static_cast<std::size_t>(grid)];
    if (at.size() != the_grid.axes.size()) {
        report(kinds::bad_place, span,
               fmt::format("the place of {} has {} coordinate{}, and the grid '{}' has {}", what, at.size(),
                           at.size() == 1 ? "" : "s", the_grid.name, the_grid.axes.size()),
               "give one for each axis; the name of the axis stands for all of it: at (10, y)");
        return std::nullopt;
    }
    Box out;
    for (std::size_t i = 0; i < at.size(); ++i) {
        const auto* name = std::get_if<lang::Name>(&at[i].first->node);
        if (name != nullptr && !at[i].last && axis_of(name->text) == the_grid.axes[i].coordinate) {
            out.last[i] = the_grid.axes[i].cells - 1;
            continue;
        }
        const auto first = cell(*at[i].first, the_grid, i, field);
        const auto last = at[i].last ? cell(*at[i].last, the_grid, i, field) : first;
        if (!first || !last) return std::nullopt;
        if (*first > *last) {
            report(kinds::bad_place, lang::join(at[i].first->span, at[i].last->span),
                   fmt::format("the range from {} to {} is empty", *first, *last), "swap its ends");
            return std::nullopt;
        }
        out.first[i] = *first;
        out.last[i] = *last;
    }
    return out;
}

std::optional<std::int64_t> Checker::cell(lang::Expr& expr, const Grid& grid, std::size_t axis, int field) {
    const auto& along = grid.axes[axis];
    const auto letter = "xyz"[static_cast<std::size_t>(along.coordinate)];
    const auto what = fmt::format("the place along {}", letter);
    std::optional<std::int64_t> cell;
    if (!grid.physical) {
        cell = whole_constant(expr, what);
    } else if (const auto length = real_constant(expr, what)) {
        const double shift = field < 0 ? 0 : model_.fields[static_cast<std::size_t>(field)].stagger[axis];
        const double exact = (*length - along.origin) / along.spacing - shift;
        cell = std::fabs(exact) < 1e15 ? std::llround(exact) : std::int64_t{-1};
    }
    if (!cell || (*cell >= 0 && *cell < along.cells)) return cell;
    report(kinds::bad_place, expr.span,
           fmt::format("cell {} is outside the grid '{}', whose axis {} has the cells 0 to {}", *cell,
                       grid.name, letter, along.cells - 1),
           grid.physical ? "places are given in lengths on this grid"
                         : "places are given in cells on this grid");
    return std::nullopt;
}

void Checker::check(BoundaryDecl& node, Span span) {
    std::set<int> fields;
    for (const auto& name : node.fields)
        if (const auto field = find(name, SymbolKind::field, "a field")) fields.insert(*field);
    if (node.fields.empty())
        for (std::size_t i = 0; i < model_.fields.size(); ++i) fields.insert(static_cast<int>(i));
    if (fields.empty() && !diagnostics_.has_errors())
        report(kinds::missing, span, "no field is declared above this boundary",
               "move this line below the fields");
    for (const auto& rule : node.rules) {
        if (node.rules.size() > 3 || rule.axes.size() > 3)
            return report(kinds::repeated, span, "a boundary has more parts than a grid has axes",
                          "say once for each axis what lies beyond it");
        for (const auto index : fields) {
            auto& field = model_.fields[static_cast<std::size_t>(index)];
            const auto& grid = model_.grids[static_cast<std::size_t>(field.grid)];
            std::array<bool, 3> chosen = {};
            for (std::size_t i = 0; i < grid.axes.size(); ++i) chosen[i] = rule.axes.empty();
            for (const auto& name : rule.axes)
                if (const auto axis = axis_named(name, field.grid, fmt::format("'{}'", field.name)))
                    chosen[static_cast<std::size_t>(*axis)] = true;
            for (std::size_t i = 0; i < grid.axes.size(); ++i) {
                if (!chosen[i]) continue;
                if (field.boundary[i] != Boundary::none)
                    report(
                        kinds::repeated, span,
                        fmt::format("'{}' has a boundary along {} already", field.name,
                                    "xyz"[static_cast<std::size_t>(grid.axes[i].coordinate)]),
                        "name the fields and axes of each boundary: boundary u: periodic in x, mirror in y");
                field.boundary[i] = rule.boundary;
            }
        }
    }
}

std::optional<int> Checker::grid_in(const lang::Expr& expr) {
    std::optional<int> out;
    lang::for_each_node(expr, [&](const lang::Expr& node) {
        const auto* name = std::get_if<lang::Name>(&node.node);
        const auto* access = std::get_if<lang::Access>(&node.node);
        if (out || (name == nullptr && access == nullptr)) return;
        const auto* entry = scope_.find(name != nullptr ? name->text : access->text);
        if (entry == nullptr) return;
        const auto index = static_cast<std::size_t>(entry->index);
        if (entry->kind == SymbolKind::field) out = model_.fields[index].grid;
        if (entry->kind == SymbolKind::coefficient) out = model_.coefficients[index].grid;
        if (entry->kind == SymbolKind::array) out = model_.arrays[index].grid;
        if (entry->kind == SymbolKind::subdomain) out = model_.subdomains[index].grid;
    });
    return out;
}

void Checker::check(RecordDecl& node, Span span) {
    const auto what = fmt::format("the record '{}'", node.name.text);
    auto grid = grid_in(*node.value);
    if (!grid) grid = grid_of({}, span, what);
    if (!grid) return scope_.forgive(node.name.text);
    Record out{node.name.text, *grid, node.reduction, node.value.get(), node.where.get(), {}, 1};
    auto context = on_cells_of(*grid, what);
    context.cells = context.arrays = context.subdomains = context.time = true;
    if (typed(*node.value, Type::real, context))
        lang::for_each_node(*node.value, [&](const lang::Expr& expr) {
            const auto* name = std::get_if<lang::Name>(&expr.node);
            const auto* access = std::get_if<lang::Access>(&expr.node);
            const auto symbol = name != nullptr     ? name->symbol
                                : access != nullptr ? access->symbol
                                                    : lang::Symbol{};
            if (kind_of(symbol) == SymbolKind::field)
                field_read_[static_cast<std::size_t>(symbol.index)] = true;
        });
    condition(node.where, *grid, what, true);
    if (!node.at.empty()) out.box = box(node.at, *grid, -1, span, what);
    const bool point = out.box && out.box->first == out.box->last;
    if (node.reduction == Reduction::value && !point && (node.at.empty() || out.box))
        report(kinds::missing, span, fmt::format("{} has many values", what),
               "say which to keep: sum of …, mean of …, max of …, min of …, or the value at one cell: … at "
               "(10, 20)");
    out.every = interval(node.every, what);
    if (declare(node.name, SymbolKind::record, model_.records.size()))
        model_.records.push_back(std::move(out));
}

std::int64_t Checker::interval(const ExprPtr& expr, const std::string& what) {
    if (!expr) return 1;
    const auto steps = whole_constant(*expr, fmt::format("the interval of {}", what));
    if (!steps) return 1;
    if (*steps < 1)
        report(kinds::bad_value, expr->span, fmt::format("the interval of {} is {} steps", what, *steps),
               "give 1 or more");
    return *steps;
}

void Checker::check(StepDecl& node, Span span) {
    if (std::exchange(has_step_, true))
        return report(kinds::repeated, span, "the program has a step already", "join the two sequences");
    for (auto& entry : node.entries) {
        auto* known = scope_.find(entry.name.text);
        const bool source = known != nullptr && known->kind == SymbolKind::source;
        const auto index =
            find(entry.name, source ? SymbolKind::source : SymbolKind::update, "an update or a source");
        const auto every = interval(entry.every, fmt::format("'{}' in the step", entry.name.text));
        if (index) model_.step.push_back({source, *index, every});
    }
}

void Checker::check(OutputDecl& node, Span) {
    Output out{{}, 0, node.at_start, node.at_end};
    for (const auto& name : node.fields)
        if (const auto field = find(name, SymbolKind::field, "a field")) out.fields.push_back(*field);
    if (node.every) out.every = interval(node.every, "the output");
    model_.outputs.push_back(std::move(out));
}

} // namespace farfield::stencil
