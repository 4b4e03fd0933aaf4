// Checks of constants, the time, and grids: what has numbers and no cells.
#include "lang/check_types.h"
#include "stencil/front_end/check/checker.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/front_end/syntax/words.h"

#include <fmt/format.h>

#include <cmath>

namespace farfield::stencil {
namespace {

constexpr std::int64_t most_cells_an_axis = (std::int64_t{1} << 31) - 1;
constexpr std::int64_t most_cells = std::int64_t{1} << 40;

} // namespace

void Checker::check(ProgramName& node, Span span) {
    if (has_name_) return report(kinds::repeated, span, "the program has a name already", "remove this line");
    if (model_.program.statements.front().span != span)
        report(kinds::misplaced, span, "'program' is not the first statement", "move this line to the top");
    has_name_ = true;
    model_.name = node.name.text;
}

void Checker::check(Constants& node, Span) {
    for (auto& item : node.list) bind(item, node.parameters);
}

void Checker::bind(NamedValue& item, bool parameter) {
    const auto what = fmt::format("the {} '{}'", parameter ? "parameter" : "constant", item.name.text);
    auto value = constant(*item.value, what);
    Constant bound{item.name.text, value.value_or(false), parameter, false};
    for (std::size_t i = 0; parameter && i < parameters_.size(); ++i) {
        if (parameters_[i].name != item.name.text) continue;
        parameter_taken_[i] = true;
        const bool was_truth = item.value->type == lang::Type::boolean;
        if (item.value->type != lang::Type::unknown &&
            was_truth != std::holds_alternative<bool>(parameters_[i].value)) {
            report(kinds::bad_value, item.name.span,
                   fmt::format("{} is {}, and is set to {}", what, lang::name_of(item.value->type),
                               lang::to_text(parameters_[i].value)),
                   was_truth ? "set it to true or false" : "set it to a number");
            continue;
        }
        bound.value = parameters_[i].value;
        bound.replaced = true;
        value = bound.value;
    }
    if (!value) return scope_.forgive(item.name.text);
    if (declare(item.name, SymbolKind::constant, model_.constants.size()))
        model_.constants.push_back(std::move(bound));
}

void Checker::check(TimeSettings& node, Span) {
    for (auto& item : node.list) {
        const auto what = fmt::format("'{}' of the time", item.name.text);
        const bool known = item.name.text == "dt" || item.name.text == "steps" || item.name.text == "end";
        if (!known) {
            report(kinds::unknown_word, item.name.span, fmt::format("the time has no '{}'", item.name.text),
                   "choose dt, steps or end");
            continue;
        }
        if (item.name.text == "steps") {
            model_.steps = whole_constant(*item.value, what);
            if (model_.steps && *model_.steps < 0)
                report(kinds::bad_value, item.value->span,
                       fmt::format("{} steps cannot be run", *model_.steps), "give 0 or more");
        } else if (const auto value = real_constant(*item.value, what)) {
            const bool is_step = item.name.text == "dt";
            if (is_step && (has_time_ || time_step_used_)) {
                report(has_time_ ? kinds::repeated : kinds::used_before, item.name.span,
                       has_time_ ? "dt is set a second time" : "dt is set below a mention of it",
                       has_time_ ? "set it once" : "move 'time' up, below the grid");
                continue;
            }
            if (*value < 0 || (is_step && *value == 0))
                report(kinds::bad_value, item.value->span,
                       fmt::format("{} must be above 0, and is {}", what, lang::real_text(*value)), {});
            has_time_ = has_time_ || is_step;
            if (is_step)
                model_.dt = *value;
            else
                model_.end = *value;
        }
        if (model_.steps && model_.end)
            report(kinds::repeated, item.name.span, "both 'steps' and 'end' say when the run ends",
                   "leave one of them out");
    }
}

void Checker::check(GridDecl& node, Span span) {
    Grid grid{node.name.text, {}, node.sampling != nullptr, span};
    double sampling = 1;
    bool sound = true;
    if (node.sampling) {
        sampling = real_constant(*node.sampling, "the sampling").value_or(0);
        sound = sampling > 0;
        if (!sound && !diagnostics_.has_errors())
            report(kinds::bad_value, node.sampling->span, "the sampling must be above 0",
                   "it is the number of cells in a unit of length");
    }
    std::int64_t total = 1;
    for (auto& one : node.axes) {
        const auto made = sound ? axis(one, sampling, grid.physical) : std::nullopt;
        if (!made) {
            sound = false;
            continue;
        }
        if (!grid.axes.empty() && made->coordinate <= grid.axes.back().coordinate) {
            report(kinds::bad_grid, one.name.span,
                   "the axes of a grid are x, y and z in this order, each once",
                   "write: grid g[x: 10, y: 10, z: 10]");
            sound = false;
            continue;
        }
        grid.axes.push_back(*made);
        if (made->cells > most_cells / total) {
            report(kinds::bad_grid, one.last->span,
                   fmt::format("the grid has more than {} cells", most_cells), "make it smaller");
            sound = false;
            continue;
        }
        total *= made->cells;
    }
    if (!sound) return scope_.forgive(node.name.text);
    if (declare(node.name, SymbolKind::grid, model_.grids.size())) model_.grids.push_back(std::move(grid));
}

std::optional<Axis> Checker::axis(GridAxis& node, double sampling, bool physical) {
    const auto what = fmt::format("the size of the axis {}", node.name.text);
    Axis out;
    out.coordinate = axis_of(node.name.text);
    if (out.coordinate < 0) {
        report(kinds::bad_grid, node.name.span, fmt::format("'{}' is not an axis", node.name.text),
               "axes are x, y and z");
        return std::nullopt;
    }
    if (node.first && !physical) {
        report(kinds::bad_grid, node.first->span, "a grid in cells starts at cell 0",
               "write x: 100, or give lengths and their sampling: grid g[x: -5 to 5] sampling 20");
        return std::nullopt;
    }
    if (!physical) {
        const auto cells = whole_constant(*node.last, what);
        if (!cells) return std::nullopt;
        out.cells = *cells;
    } else {
        const auto first = node.first ? real_constant(*node.first, what) : std::optional(0.0);
        const auto last = real_constant(*node.last, what);
        if (!first || !last) return std::nullopt;
        const double exact = (*last - *first) * sampling;
        if (!(*first < *last)) {
            report(kinds::bad_grid, node.last->span,
                   fmt::format("the axis {} ends at {}, which does not lie beyond its begin {}",
                               node.name.text, lang::real_text(*last), lang::real_text(*first)),
                   "write the smaller end first: x: 1 to 5");
            return std::nullopt;
        }
        if (!(exact < 1e12)) {
            report(kinds::bad_grid, node.last->span,
                   fmt::format("the axis {} would have {:.4g} cells, its length times the sampling",
                               node.name.text, exact),
                   fmt::format("an axis has 1 to {} cells", most_cells_an_axis));
            return std::nullopt;
        }
        out.cells = std::llround(exact);
        out.origin = *first;
        out.spacing = 1 / sampling;
        if (out.cells > 0 && std::fabs(exact - static_cast<double>(out.cells)) > 1e-6 * exact)
            report(kinds::rounded_grid, node.last->span,
                   fmt::format("the axis {} is {} cells long; it gets {}", node.name.text,
                               lang::real_text(exact), out.cells),
                   "choose a length or a sampling whose product is whole");
    }
    if (out.cells >= 1 && out.cells <= most_cells_an_axis) return out;
    report(kinds::bad_grid, node.last->span,
           fmt::format("the axis {} would have {} cells", node.name.text, out.cells),
           fmt::format("an axis has 1 to {} cells", most_cells_an_axis));
    return std::nullopt;
}

} // namespace farfield::stencil
