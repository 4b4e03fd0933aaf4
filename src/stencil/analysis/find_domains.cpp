// Conditions to sets of cells. Names of subdomains stand for the sets found before, and `and`, `or`, `not` of
// them are operations on sets; what has no name in it is computed cell by cell.
#include "stencil/analysis/analysis.h"

#include "stencil/analysis/rasterise.h"
#include "stencil/analysis/wording.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"
#include "stencil/lowering/conditions.h"
#include "stencil/reads/accesses.h"

#include <fmt/format.h>

#include <map>
#include <optional>

namespace farfield::stencil {
namespace {

bool names_a_set(const lang::Expr& expr) {
    bool found = false;
    lang::for_each_node(expr, [&](const lang::Expr& node) {
        const auto* name = std::get_if<lang::Name>(&node.node);
        const auto kind = name == nullptr ? SymbolKind::none : kind_of(name->symbol);
        found = found || kind == SymbolKind::subdomain || kind == SymbolKind::interior ||
                kind == SymbolKind::everywhere;
    });
    return found;
}

// A set that does not fit into memory.
struct TooLarge {
    Span span; ///< of its condition
};

class Finder {
public:
    /// @param left bytes of memory for sets.
    Finder(const Model& model, double left, const Progress& progress, Domains& out)
        : model_(model), left_(left), progress_(progress), out_(out), numbers_(model, out.files) {
        views_.resize(static_cast<std::size_t>(numbers_.data(static_cast<int>(out.files.buffers.size()))));
        for (std::size_t i = 0; i < out.files.buffers.size(); ++i) {
            const auto& buffer = out.files.buffers[i];
            views_[static_cast<std::size_t>(numbers_.data(static_cast<int>(i)))] = {
                shape(buffer.grid), buffer.axis, Precision::double_precision, {}, buffer.values.data()};
        }
    }

    void find() {
        for (const auto& subdomain : model_.subdomains)
            out_.subdomains.push_back(
                region(subdomain.condition, subdomain.grid, ir::whole(shape(subdomain.grid))));
        for (const auto& update : model_.updates)
            out_.updates.push_back(region(update.where, update.grid, access_box(model_, update)));
        for (const auto& source : model_.sources)
            out_.sources.push_back(source.box ? boxed(source.update.grid, *source.box)
                                              : region(source.update.where, source.update.grid,
                                                       access_box(model_, source.update)));
        for (const auto& record : model_.records)
            out_.records.push_back(record.box
                                       ? boxed(record.grid, *record.box)
                                       : region(record.where, record.grid, access_box(model_, record)));
        for (const auto& coefficient : model_.coefficients) out_.coefficients.push_back(cases(coefficient));
    }

private:
    ir::Shape shape(int grid) const { return shape_of(model_.grids[static_cast<std::size_t>(grid)]); }

    CellSetPtr everywhere(int grid) {
        auto& set = everywhere_[grid];
        if (!set) set = std::make_shared<const ir::CellSet>(shape(grid), ir::whole(shape(grid)));
        return set;
    }

    CellSetPtr boxed(int grid, const Box& box) const {
        ir::CellBox cells{box.first, box.last};
        for (auto& last : cells.last) ++last;
        return std::make_shared<const ir::CellSet>(shape(grid), cells);
    }

    CellSetPtr region(const lang::Expr* where, int grid, const ir::CellBox& interior) {
        if (where == nullptr) return everywhere(grid);
        if (auto named = set_of_name(*where, grid, interior)) return named;
        if (auto combined = combination(*where, grid, interior)) return combined;
        const auto code = lower_condition(model_, numbers_, where, grid, interior);
        // While it is found there are pieces of it beside the whole, which grow.
        auto set = rasterise(shape(grid), code, views_,
                             static_cast<std::int64_t>(left_ / (3 * sizeof(ir::Interval))), progress_);
        if (!set) throw TooLarge{where->span};
        return kept(std::move(*set), *where);
    }

    CellSetPtr kept(ir::CellSet set, const lang::Expr& where) {
        left_ -= static_cast<double>(set.intervals()) * sizeof(ir::Interval);
        if (left_ < 0) throw TooLarge{where.span};
        return std::make_shared<const ir::CellSet>(std::move(set));
    }

    CellSetPtr set_of_name(const lang::Expr& where, int grid, const ir::CellBox& interior) {
        const auto* name = std::get_if<lang::Name>(&where.node);
        if (name == nullptr) return nullptr;
        switch (kind_of(name->symbol)) {
        case SymbolKind::everywhere:
            return everywhere(grid);
        case SymbolKind::interior:
            return std::make_shared<const ir::CellSet>(shape(grid), interior);
        case SymbolKind::subdomain:
            return out_.subdomains[static_cast<std::size_t>(name->symbol.index)];
        default:
            return nullptr;
        }
    }

    // Null where the condition is not and, or, not of something with a name in it.
    CellSetPtr combination(const lang::Expr& where, int grid, const ir::CellBox& interior) {
        if (const auto* unary = std::get_if<lang::Unary>(&where.node)) {
            if (unary->op != lang::UnaryOp::logical_not || !names_a_set(where)) return nullptr;
            return kept(complement(*region(unary->operand.get(), grid, interior)), where);
        }
        const auto* binary = std::get_if<lang::Binary>(&where.node);
        if (binary == nullptr || !names_a_set(where)) return nullptr;
        const bool both = binary->op == lang::BinaryOp::logical_and;
        if (!both && binary->op != lang::BinaryOp::logical_or) return nullptr;
        const auto left = region(binary->left.get(), grid, interior);
        const auto right = region(binary->right.get(), grid, interior);
        return kept(both ? intersection(*left, *right) : unite(*left, *right), where);
    }

    std::vector<CellSetPtr> cases(const Coefficient& coefficient) {
        std::vector<CellSetPtr> out;
        auto left = *everywhere(coefficient.grid);
        for (const auto& one : coefficient.cases) {
            if (one.where == nullptr) {
                out.push_back(std::make_shared<const ir::CellSet>(left));
                continue;
            }
            out.push_back(region(one.where, coefficient.grid, ir::whole(shape(coefficient.grid))));
            left = difference(left, *out.back());
        }
        return out;
    }

    const Model& model_;
    double left_;
    const Progress& progress_;
    Domains& out_;
    BufferNumbers numbers_;
    std::vector<ir::BufferView> views_;
    std::map<int, CellSetPtr> everywhere_;
};

} // namespace

Domains find_domains(const Model& model, const AnalysisOptions& options, lang::Diagnostics& diagnostics) {
    Domains out;
    out.files = read_files(model, options.folder, diagnostics);
    if (diagnostics.has_errors()) return out;
    const double left = memory_left(model, options);
    try {
        Finder(model, left, options.progress, out).find();
    } catch (const TooLarge& set) {
        diagnostics.report(
            kinds::too_large, set.span,
            fmt::format("the cells of {} lie in so many pieces of rows that they do not fit into the {} "
                        "that the fields leave of the memory",
                        quoted_text(diagnostics.source(), set.span), bytes_text(left)),
            "make the grid smaller, or let the pieces lie along x, the first axis, where a long one "
            "costs no more than a short one");
    }
    return out;
}

Domains analyse(const Model& model, const AnalysisOptions& options, lang::Diagnostics& diagnostics) {
    if (!check_memory(model, options, diagnostics)) return {};
    auto domains = find_domains(model, options, diagnostics);
    if (diagnostics.has_errors()) return domains;
    prove_accesses(model, domains, diagnostics);
    prove_updates_in_place(model, domains, diagnostics);
    check_coefficients(model, domains, diagnostics);
    check_empty(model, domains, diagnostics);
    return domains;
}

} // namespace farfield::stencil
