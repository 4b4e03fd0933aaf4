// Checks of what has a value for each cell: fields, arrays, subdomains, coefficients.
#include "base/text.h"
#include "lang/check_types.h"
#include "lang/diagnostic_kinds.h"
#include "stencil/front_end/check/checker.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/front_end/syntax/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace farfield::stencil {

using lang::Type;

namespace {

constexpr std::size_t most_cases =
    1000; // of a coefficient: each is a set of cells, and each pair may overlap

} // namespace

std::optional<int> Checker::grid_of(const Identifier& name, Span declaration, const std::string& what) {
    if (!name.empty()) return find(name, SymbolKind::grid, "a grid");
    if (model_.grids.size() == 1) return 0;
    if (model_.grids.empty() && diagnostics_.has_errors())
        return std::nullopt; // its grid is among them, most likely
    report(kinds::missing, declaration,
           model_.grids.empty() ? fmt::format("no grid is declared above {}", what)
                                : fmt::format("there are several grids, and {} says not which", what),
           model_.grids.empty() ? "declare one: grid g[x: 100, y: 100]"
                                : "write 'on' and the name of the grid");
    return std::nullopt;
}

std::optional<std::array<double, 3>> Checker::stagger(std::vector<ExprPtr>& nodes, const Grid& grid,
                                                      Span declaration) {
    std::array<double, 3> out = {};
    if (nodes.empty()) return out;
    if (nodes.size() != grid.axes.size()) {
        report(kinds::bad_stagger, declaration,
               fmt::format("the place in the cell has {} coordinate{}, and the grid '{}' has {}",
                           nodes.size(), nodes.size() == 1 ? "" : "s", grid.name, grid.axes.size()),
               "give one for each axis: at (x+1/2, y)");
        return std::nullopt;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto place = shifted(*nodes[i], kinds::bad_stagger, "a place in the cell");
        if (!place) return std::nullopt;
        if (place->coordinate != grid.axes[i].coordinate || std::fabs(place->shift) > 0.5) {
            const auto axis = "xyz"[static_cast<std::size_t>(grid.axes[i].coordinate)];
            report(kinds::bad_stagger, nodes[i]->span,
                   fmt::format("here stands {} plus or minus half a cell at most", axis),
                   fmt::format("write {0}, {0}+1/2 or {0}-1/2", axis));
            return std::nullopt;
        }
        out[i] = place->shift;
    }
    return out;
}

void Checker::check(FieldDecl& node, Span span) {
    const auto forgive = [&] {
        for (const auto& name : node.names) scope_.forgive(name.text);
    };
    const auto grid = grid_of(node.grid, span, fmt::format("the field '{}'", node.names.front().text));
    if (!grid) return forgive();
    const auto place = stagger(node.stagger, model_.grids[static_cast<std::size_t>(*grid)], span);
    if (!place) return forgive();
    if (node.initial) {
        auto context = on_cells_of(*grid, fmt::format("the initial value of '{}'", node.names.front().text));
        context.read_only_fields = context.arrays = context.subdomains = context.files = true;
        for (std::size_t i = 0; i < model_.grids[static_cast<std::size_t>(*grid)].axes.size(); ++i)
            context.shift[static_cast<std::size_t>(
                model_.grids[static_cast<std::size_t>(*grid)].axes[i].coordinate)] = (*place)[i];
        typed(*node.initial, Type::real, context);
    }
    if (node.read_only && !node.initial)
        report(kinds::missing, span,
               fmt::format("the read-only field '{}' has no value", node.names.front().text),
               "give it one: field f on g : double, read-only = 2.5");
    if (node.read_only && node.double_buffered)
        report(kinds::read_only, span, "a read-only field needs no second buffer",
               "remove 'double-buffered'");
    for (const auto& name : node.names) {
        if (!declare(name, SymbolKind::field, model_.fields.size())) continue;
        model_.fields.push_back({name.text,
                                 *grid,
                                 *place,
                                 node.precision,
                                 node.read_only,
                                 node.double_buffered,
                                 {},
                                 node.initial.get(),
                                 name.span});
        field_read_.push_back(false);
        field_written_.push_back(false);
    }
}

std::optional<int> Checker::axis_named(const Identifier& name, int grid, const std::string& what) {
    const int coordinate = axis_of(name.text);
    const int axis = coordinate < 0 ? -1 : model_.grids[static_cast<std::size_t>(grid)].axis_of(coordinate);
    if (axis >= 0) return axis;
    report(kinds::bad_grid, name.span,
           fmt::format("'{}' is not an axis of the grid '{}', on which {} is", name.text,
                       model_.grids[static_cast<std::size_t>(grid)].name, what),
           "axes are x, y and z, as the grid declares them");
    return std::nullopt;
}

double Checker::array_stagger(ArrayDecl& node, Span span) {
    if (node.stagger.empty()) return 0;
    if (node.stagger.size() == 1) {
        const auto place = shifted(*node.stagger[0], kinds::bad_stagger, "a place in the cell");
        if (!place) return 0;
        if (place->coordinate == axis_of(node.axis.text) && std::fabs(place->shift) <= 0.5)
            return place->shift;
    }
    report(kinds::bad_stagger, span,
           fmt::format("the array '{}' has one axis, {}", node.name.text, node.axis.text),
           fmt::format("write: at ({0}+1/2), or at ({0}-1/2)", node.axis.text));
    return 0;
}

void Checker::check(ArrayDecl& node, Span span) {
    const auto what = fmt::format("the array '{}'", node.name.text);
    const auto grid = grid_of(node.grid, span, what);
    const auto axis = grid ? axis_named(node.axis, *grid, what) : std::nullopt;
    if (!axis) return scope_.forgive(node.name.text);
    ExpressionContext context{what, *grid};
    const auto place = array_stagger(node, span);
    context.coordinates[static_cast<std::size_t>(axis_of(node.axis.text))] = true;
    context.shift[static_cast<std::size_t>(axis_of(node.axis.text))] = place;
    context.coordinates_remedy = "an array has values along one axis; more are a read-only field";
    context.files = true;
    typed(*node.value, Type::real, context);
    if (declare(node.name, SymbolKind::array, model_.arrays.size()))
        model_.arrays.push_back({node.name.text, *grid, *axis, place, node.precision, node.value.get()});
}

void Checker::check(SubdomainDecl& node, Span span) {
    const auto what = fmt::format("the subdomain '{}'", node.name.text);
    auto grid =
        node.grid.empty() ? grid_in(*node.condition) : std::nullopt; // that of the subdomains it combines
    if (!grid) grid = grid_of(node.grid, span, what);
    if (!grid) return scope_.forgive(node.name.text);
    const auto& the_grid = model_.grids[static_cast<std::size_t>(*grid)];
    const auto place = stagger(node.stagger, the_grid, span);
    if (!place) return scope_.forgive(node.name.text);
    ExpressionContext context{what, *grid};
    std::set<std::string> axes;
    for (const auto& axis : the_grid.axes)
        axes.insert(std::string(1, "xyz"[static_cast<std::size_t>(axis.coordinate)]));
    context.coordinates_remedy =
        fmt::format("write: subdomain {}({}) = …", node.name.text, joined(axes, ", "));
    context.read_only_fields = context.subdomains = context.files = true;
    for (const auto& name : node.coordinates) {
        auto lower = name;
        if (lower.text.size() == 1 && lower.text[0] >= 'X' && lower.text[0] <= 'Z')
            lower.text[0] += 'x' - 'X';
        const auto axis = axis_named(lower, *grid, what);
        if (!axis) return scope_.forgive(node.name.text);
        const auto c = static_cast<std::size_t>(the_grid.axes[static_cast<std::size_t>(*axis)].coordinate);
        context.coordinates[c] = true;
        context.shift[c] = (*place)[static_cast<std::size_t>(*axis)];
    }
    typed(*node.condition, Type::boolean, context);
    if (declare(node.name, SymbolKind::subdomain, model_.subdomains.size()))
        model_.subdomains.push_back({node.name.text, *grid, *place, node.condition.get(), span});
}

void Checker::check(CoefficientDecl& node, Span span) {
    const auto what = fmt::format("the coefficient '{}'", node.name.text);
    const auto grid = grid_of(node.grid, span, what);
    if (!grid) return scope_.forgive(node.name.text);
    Coefficient out{node.name.text, *grid, node.precision, {}};
    auto context = on_cells_of(*grid, what);
    context.read_only_fields = context.subdomains = context.arrays = context.files = true;
    cases_of(node, out, context);
    if (declare(node.name, SymbolKind::coefficient, model_.coefficients.size()))
        model_.coefficients.push_back(std::move(out));
}

void Checker::cases_of(CoefficientDecl& node, Coefficient& out, const ExpressionContext& context) {
    if (node.cases.size() > most_cases)
        return report(
            lang::kinds::too_long, node.name.span,
            fmt::format("'{}' has {} cases", node.name.text, node.cases.size()),
            fmt::format("at most {} are allowed; read a map of values with data(\"file.npy\")", most_cases));
    bool elsewhere = false;
    for (auto& one : node.cases) {
        if (elsewhere)
            report(kinds::misplaced, one.span,
                   fmt::format("a value of '{}' stands below 'elsewhere'", node.name.text),
                   "'elsewhere' comes last, once");
        elsewhere = elsewhere || !one.where;
        condition(one.where, out.grid, context.what, false);
        typed(*one.value, Type::real, context);
        out.cases.push_back({one.where.get(), one.value.get(), one.span});
    }
}

} // namespace farfield::stencil
