// Cases of coefficients that overlap or leave cells out, and regions without a cell.
#include "stencil/analysis/analysis.h"
#include "stencil/analysis/wording.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/reads/accesses.h"

#include <fmt/format.h>

namespace farfield::stencil {
namespace {

bool is_subdomain(const lang::Expr* where) {
    const auto* name = where == nullptr ? nullptr : std::get_if<lang::Name>(&where->node);
    return name != nullptr && kind_of(name->symbol) == SymbolKind::subdomain;
}

void check_cases(const Model& model, const Coefficient& coefficient, const std::vector<CellSetPtr>& sets,
                 lang::Diagnostics& diagnostics) {
    const auto& grid = model.grids[static_cast<std::size_t>(coefficient.grid)];
    ir::CellSet left(shape_of(grid), ir::whole(shape_of(grid)));
    bool elsewhere = false;
    for (std::size_t i = 0; i < coefficient.cases.size(); ++i) {
        const auto& one = coefficient.cases[i];
        elsewhere = elsewhere || one.where == nullptr;
        if (one.where == nullptr) continue;
        const bool apart = intersection(*sets[i], left).count() == sets[i]->count();
        left = difference(left, *sets[i]);
        for (std::size_t j = 0; !apart && j < i; ++j) {
            if (coefficient.cases[j].where == nullptr) continue;
            const auto both = intersection(*sets[j], *sets[i]);
            if (both.empty()) continue;
            const auto& source = diagnostics.source();
            auto& diagnostic = diagnostics.report(
                kinds::overlap, one.where->span,
                fmt::format("{} and {} share {}, the first of them {}: '{}' would have two values there",
                            region_text(source, coefficient.cases[j].where), region_text(source, one.where),
                            cells_text(both.count()), cell_text(grid, first_cell(both)), coefficient.name),
                "leave them out of one of the two with 'and not'");
            diagnostic.notes.push_back({"the other case", coefficient.cases[j].where->span});
            break;
        }
    }
    if (elsewhere || left.empty()) return;
    diagnostics.report(
        kinds::gap, coefficient.cases.empty() ? std::nullopt : std::optional(coefficient.cases.back().span),
        fmt::format("'{}' has no value in {}, the first of them {}", coefficient.name,
                    cells_text(left.count()), cell_text(grid, first_cell(left))),
        "add a last case: elsewhere: 1");
}

} // namespace

void check_coefficients(const Model& model, const Domains& domains, lang::Diagnostics& diagnostics) {
    for (std::size_t i = 0; i < model.coefficients.size(); ++i)
        check_cases(model, model.coefficients[i], domains.coefficients[i], diagnostics);
}

void check_empty(const Model& model, const Domains& domains, lang::Diagnostics& diagnostics) {
    for (std::size_t i = 0; i < model.subdomains.size(); ++i)
        if (domains.subdomains[i]->empty())
            diagnostics.report(
                kinds::empty_region, model.subdomains[i].span,
                fmt::format("the subdomain '{}' has no cell of the grid '{}'", model.subdomains[i].name,
                            model.grids[static_cast<std::size_t>(model.subdomains[i].grid)].name),
                "its condition holds nowhere: check it, and the values that it mentions");
    // A subdomain alone is reported above.
    const auto idle = [&](const Update& update, std::string_view what, const CellSetPtr& cells) {
        if (!cells->empty() || is_subdomain(update.where)) return;
        const bool small = update.where != nullptr && access_box(model, update).empty();
        diagnostics.report(kinds::empty_region, update.span,
                           fmt::format("the {} '{}' applies to no cell", what, update.name),
                           small ? "the grid is smaller than the distance to the neighbours that it reads"
                                 : "check its condition");
    };
    for (std::size_t i = 0; i < model.updates.size(); ++i)
        idle(model.updates[i], "update", domains.updates[i]);
    for (std::size_t i = 0; i < model.sources.size(); ++i)
        idle(model.sources[i].update, "source", domains.sources[i]);
    for (std::size_t i = 0; i < model.records.size(); ++i) {
        const auto& record = model.records[i];
        if (!domains.records[i]->empty()) continue;
        const bool sum = record.reduction == Reduction::sum;
        if (sum && is_subdomain(record.where)) continue;
        const auto span = record.where != nullptr ? record.where->span : record.value->span;
        diagnostics.report(sum ? kinds::empty_region : kinds::no_value, span,
                           sum ? fmt::format("the record '{}' sums over no cell: it is always 0", record.name)
                               : fmt::format("the record '{}' is of no cell, and has no value", record.name),
                           "check its condition");
    }
}

} // namespace farfield::stencil
