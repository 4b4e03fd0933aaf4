// Checks of updates and sources: conditions, equations and temporaries.
#include "lang/check_types.h"
#include "lang/diagnostic_kinds.h"
#include "stencil/front_end/check/checker.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/front_end/syntax/words.h"

#include <fmt/format.h>

#include <utility>

namespace farfield::stencil {

using lang::Type;

namespace {

constexpr std::size_t most_equations = 1000; // of one update: some checks look at each pair

} // namespace

void Checker::check(UpdateDecl& node, Span) {
    const auto what = fmt::format("the update '{}'", node.name.text);
    auto update = operations(node.name, node.where, node.equations, what, false);
    if (update.grid < 0) return scope_.forgive(node.name.text);
    condition(node.where, update.grid, what, true);
    if (declare(node.name, SymbolKind::update, model_.updates.size()))
        model_.updates.push_back(std::move(update));
}

void Checker::check(SourceDecl& node, Span span) {
    const auto what = fmt::format("the source '{}'", node.name.text);
    Source source{operations(node.name, node.where, node.equations, what, true), {}};
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
                           const std::string& what, bool source) {
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
    const auto* region = where == nullptr ? nullptr : std::get_if<lang::Name>(&where->node);
    hazards(update, !source && (where == nullptr || (region != nullptr && region->text == "everywhere")));
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

ExpressionContext Checker::equation_context(const Update& update, const std::string& what) const {
    auto context = on_cells_of(update.grid, what);
    context.cells = context.arrays = context.subdomains = context.time = true;
    context.temporaries = &update.operations;
    return context;
}

// X, Y, Z belong to the field on the left; in a temporary to the place that all fields of the update share.
void Checker::set_shifts(ExpressionContext& context, const Update& update, const Operation& operation) const {
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

} // namespace farfield::stencil
