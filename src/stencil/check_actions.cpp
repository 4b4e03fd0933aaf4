// Checks of what happens: updates, sources, boundaries, records, the step, outputs.
#include "lang/check_types.h"
#include "lang/diagnostic_kinds.h"
#include "stencil/checker.h"
#include "stencil/diagnostic_kinds.h"
#include "stencil/words.h"

#include <fmt/format.h>

#include <cmath>
#include <set>
#include <utility>

namespace farfield::stencil {

using lang::Type;

namespace {

constexpr std::size_t most_equations = 1000; // of one update: some checks look at each pair

} // namespace

void Checker::check(UpdateDecl& node, Span) {
    const auto what = fmt::format("the update '{}'", node.name.text);
    auto update = operations(node.name, node.where, node.equations, what);
    if (update.grid < 0) return scope_.forgive(node.name.text);
    condition(node.where, update.grid, what, true);
    if (declare(node.name, SymbolKind::update, model_.updates.size()))
        model_.updates.push_back(std::move(update));
}

void Checker::check(SourceDecl& node, Span span) {
    const auto what = fmt::format("the source '{}'", node.name.text);
    Source source{operations(node.name, node.where, node.equations, what), {}};
    auto& update = source.update;
    if (update.grid < 0) return scope_.forgive(node.name.text);
    condition(node.where, update.grid, what, true);
    if (!node.at.empty()) {
        int field = -1;
        for (const auto& operation : update.operations)
            if (field < 0) field = operation.field;
        source.box = box(node.at, update.grid, field, span, what);
    }
    if (declare(node.name, SymbolKind::source, model_.sources.size()))
        model_.sources.push_back(std::move(source));
}

Update Checker::operations(const Identifier& name, ExprPtr& where, std::vector<Equation>& equations,
                           const std::string& what) {
    Update update{name.text, -1, where.get(), {}, name.span};
    if (equations.size() > most_equations) {
        report(lang::kinds::too_long, name.span, fmt::format("{} has {} equations", what, equations.size()),
               fmt::format("at most {} are allowed", most_equations));
        return update;
    }
    // Targets first: the grid and the places of the fields are known before any right-hand side is read.
    for (auto& equation : equations) {
        Operation operation;
        if (auto* let = std::get_if<Temporary>(&equation)) {
            operation.temporary = let->name.text;
            operation.value = let->value.get();
            operation.span = let->name.span;
        } else {
            auto& assignment = std::get<Assignment>(equation);
            operation.field = target_field(*assignment.target, what).value_or(-2);
            operation.op = assignment.op;
            operation.value = assignment.value.get();
            operation.span = assignment.target->span;
            if (update.grid < 0 && operation.field >= 0)
                update.grid = model_.fields[static_cast<std::size_t>(operation.field)].grid;
        }
        update.operations.push_back(std::move(operation));
    }
    if (update.grid < 0) {
        bool assigns = false;
        for (const auto& equation : equations)
            assigns = assigns || std::holds_alternative<Assignment>(equation);
        if (!assigns && !equations.empty())
            report(kinds::missing, name.span, fmt::format("{} writes no field", what),
                   "add an equation: u = …");
        return update;
    }
    auto all = std::move(update.operations);
    update.operations.clear();
    Update whole = update; // with all targets, for the places of coordinates
    whole.operations = all;
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto context = equation_context(update, what);
        set_shifts(context, whole, all[i]);
        auto& equation = equations[i];
        if (auto* let = std::get_if<Temporary>(&equation)) {
            context.what = fmt::format("the temporary '{}'", let->name.text);
            type(*let->value, context);
            bool taken = scope_.find(let->name.text) != nullptr || !reserved_because(let->name.text).empty();
            for (const auto& other : update.operations) taken = taken || other.temporary == let->name.text;
            if (taken)
                report(kinds::duplicate_name, let->name.span,
                       fmt::format("the name '{}' is taken", let->name.text),
                       "choose another for the temporary");
        } else {
            typed(*std::get<Assignment>(equation).value, Type::real, context);
            const auto field = all[i].field;
            if (field >= 0 && model_.fields[static_cast<std::size_t>(field)].grid != update.grid)
                report(kinds::wrong_grid, all[i].span,
                       fmt::format("'{}' is on another grid than the field of the first equation",
                                   model_.fields[static_cast<std::size_t>(field)].name),
                       "write one update for each grid");
        }
        update.operations.push_back(all[i]);
    }
    hazards(update);
    return update;
}

std::optional<int> Checker::target_field(lang::Expr& target, const std::string& update) {
    if (auto* access = std::get_if<lang::Access>(&target.node)) {
        report(kinds::writes_neighbour, target.span,
               fmt::format("{} writes '{}' in a cell other than its own", update, access->text),
               fmt::format("write {} on the left, and shift the offsets on the right", access->text));
        return std::nullopt;
    }
    auto* name = std::get_if<lang::Name>(&target.node);
    if (name == nullptr) {
        report(kinds::wrong_kind, target.span, "the left side of an equation is the name of a field",
               "write: FIELD = EXPRESSION");
        return std::nullopt;
    }
    const auto index = find({name->text, target.span}, SymbolKind::field, "a field");
    if (!index) return std::nullopt;
    name->symbol = {static_cast<int>(SymbolKind::field), *index};
    target.type = Type::real;
    const auto& field = model_.fields[static_cast<std::size_t>(*index)];
    if (field.read_only)
        report(kinds::read_only, target.span, fmt::format("'{}' is declared read-only", field.name),
               "remove 'read-only' from its declaration, or write another field");
    field_written_[static_cast<std::size_t>(*index)] = true;
    return index;
}

Context Checker::equation_context(const Update& update, const std::string& what) const {
    auto context = on_cells_of(update.grid, what);
    context.cells = context.arrays = context.subdomains = context.time = true;
    context.temporaries = &update.operations;
    return context;
}

// X, Y, Z belong to the field on the left; in a temporary to the place that all fields of the update share.
void Checker::set_shifts(Context& context, const Update& update, const Operation& operation) const {
    const auto& axes = model_.grids[static_cast<std::size_t>(update.grid)].axes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
        std::optional<double> shift;
        bool ambiguous = false;
        for (const auto& one : update.operations) {
            if (one.field < 0 || (operation.field >= 0 && one.field != operation.field)) continue;
            const double here = model_.fields[static_cast<std::size_t>(one.field)].stagger[i];
            ambiguous = ambiguous || (shift && *shift != here);
            shift = here;
        }
        context.shift[static_cast<std::size_t>(axes[i].coordinate)] = ambiguous ? std::nullopt : shift;
    }
}

bool Checker::condition(const ExprPtr& where, int grid, const std::string& what, bool interior) {
    if (!where) return true;
    auto context = on_cells_of(grid, fmt::format("the condition of {}", what));
    context.subdomains = true;
    context.interior = interior;
    return typed(*where, Type::boolean, context);
}

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
    condition(node.where, *grid, what, false);
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
