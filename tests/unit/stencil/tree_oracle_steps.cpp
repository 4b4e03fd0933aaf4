// The oracle's statements: initial values, steps and records.
#include "tree_oracle.h"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace farfield::testing {

using namespace stencil;
using lang::BinaryOp;

template <class Visit>
void TreeOracle::for_each_cell(int grid, Visit&& visit) const {
    for (std::int64_t z = 0; z < cells(grid, 2); ++z)
        for (std::int64_t y = 0; y < cells(grid, 1); ++y)
            for (std::int64_t x = 0; x < cells(grid, 0); ++x) visit(Cell{x, y, z});
}

std::vector<double> TreeOracle::initial(const lang::Expr* expr, int grid, Precision precision,
                                        int axis) const {
    std::vector<double> out;
    for_each_cell(grid, [&](const Cell& cell) {
        for (std::size_t a = 0; a < 3; ++a)
            if (axis >= 0 && a != at(axis) && cell[a] != 0) return;
        const Frame frame{grid, cell};
        auto here =
            expr == nullptr ? Value{Type::real} : converted(as_real(value(*expr, frame), frame), Type::real);
        if (precision == Precision::single_precision) here = converted(here, Type::single);
        out.push_back(here.real);
    });
    return out;
}

TreeOracle::TreeOracle(const Model& model) : model_(model), series_(model.records.size()) {
    arrays_.resize(model.arrays.size());
    fields_.resize(model.fields.size());
    // Initial values depend on arrays and read-only fields that are declared above them: in rounds, those
    // first whose values are there (`at` throws for the others).
    const auto fill = [&](std::vector<double>& values, const lang::Expr* expr, int grid, Precision precision,
                          int axis) {
        try {
            if (values.empty()) values = initial(expr, grid, precision, axis);
            return true;
        } catch (const std::out_of_range&) {
            return false;
        }
    };
    for (bool complete = false; !complete;) {
        complete = true;
        for (std::size_t i = 0; i < model.arrays.size(); ++i) {
            const auto& one = model.arrays[i];
            complete = fill(arrays_[i], one.value, one.grid, one.precision, one.axis) && complete;
        }
        for (std::size_t i = 0; i < model.fields.size(); ++i) {
            const auto& one = model.fields[i];
            complete = fill(fields_[i], one.initial, one.grid, one.precision, -1) && complete;
        }
    }
    for (const auto& coefficient : model.coefficients) {
        std::vector<double> out;
        for_each_cell(coefficient.grid, [&](const Cell& cell) {
            const Frame frame{coefficient.grid, cell};
            Value here{Type::real};
            for (const auto& one : coefficient.cases)
                if (one.where == nullptr || value(*one.where, frame).whole != 0) {
                    here = converted(as_real(value(*one.value, frame), frame), Type::real);
                    break;
                }
            if (coefficient.precision == Precision::single_precision) here = converted(here, Type::single);
            out.push_back(here.real);
        });
        coefficients_.push_back(std::move(out));
    }
}

bool TreeOracle::holds(const lang::Expr* where, const std::optional<Box>& box, int grid, const Cell& cell,
                       bool interior) const {
    if (box) {
        for (std::size_t a = 0; a < 3; ++a)
            if (cell[a] < box->first[a] || cell[a] > box->last[a]) return false;
        return true;
    }
    Frame frame{grid, cell};
    frame.interior = interior;
    return where == nullptr || value(*where, frame).whole != 0;
}

// Whether all that the expressions read exists around a cell.
template <class Exprs>
bool TreeOracle::exists(const Exprs& exprs, int grid, const Cell& cell) const {
    bool all = true;
    for (const auto* expr : exprs)
        lang::for_each_node(*expr, [&](const lang::Expr& node) {
            const auto* access = std::get_if<lang::Access>(&node.node);
            if (access == nullptr) return;
            for (std::size_t a = 0; a < 3; ++a) {
                const auto i = cell[a] + access->offsets[a];
                const auto beyond = boundary(kind_of(access->symbol), access->symbol.index, a);
                if ((i < 0 || i >= cells(grid, a)) && beyond == Boundary::none) all = false;
            }
        });
    return all;
}

namespace {

bool is_double(const Model& model, const lang::Expr& expr) {
    bool found = false;
    lang::for_each_node(expr, [&](const lang::Expr& node) {
        lang::Symbol symbol;
        if (const auto* name = std::get_if<lang::Name>(&node.node)) symbol = name->symbol;
        if (const auto* access = std::get_if<lang::Access>(&node.node)) symbol = access->symbol;
        const auto i = at(symbol.index);
        const auto precision = kind_of(symbol) == SymbolKind::field         ? model.fields[i].precision
                               : kind_of(symbol) == SymbolKind::array       ? model.arrays[i].precision
                               : kind_of(symbol) == SymbolKind::coefficient ? model.coefficients[i].precision
                                                                            : Precision::single_precision;
        found = found || precision == Precision::double_precision;
    });
    return found;
}

bool reads_anything(const lang::Expr& expr) {
    bool found = false;
    lang::for_each_node(expr, [&](const lang::Expr& node) {
        lang::Symbol symbol;
        if (const auto* name = std::get_if<lang::Name>(&node.node)) symbol = name->symbol;
        if (const auto* access = std::get_if<lang::Access>(&node.node)) symbol = access->symbol;
        const auto kind = kind_of(symbol);
        found = found || kind == SymbolKind::field || kind == SymbolKind::array ||
                kind == SymbolKind::coefficient;
    });
    return found;
}

} // namespace

void TreeOracle::run(const Update& update, const std::optional<Box>& box) {
    std::vector<const lang::Expr*> values;
    bool wide = false;
    for (const auto& operation : update.operations) {
        values.push_back(operation.value);
        wide = wide || is_double(model_, *operation.value) ||
               (operation.field >= 0 &&
                model_.fields[at(operation.field)].precision == Precision::double_precision);
    }
    auto after = fields_; // right-hand sides read the values from before
    for_each_cell(update.grid, [&](const Cell& cell) {
        if (!holds(update.where, box, update.grid, cell, exists(values, update.grid, cell))) return;
        Frame frame{update.grid, cell, true, wide ? Type::real : Type::single};
        for (std::size_t i = 0; i < update.operations.size(); ++i) {
            const auto& operation = update.operations[i];
            if (operation.field < 0) {
                frame.temporaries[static_cast<int>(i)] = value(*operation.value, frame);
                continue;
            }
            const auto old = stored(SymbolKind::field, operation.field, {}, frame);
            auto next = operation.op == AssignOp::assign ? as_real(value(*operation.value, frame), frame)
                        : operation.op == AssignOp::multiply
                            ? arithmetic(BinaryOp::multiply, old, value(*operation.value, frame), frame)
                            : sum(operation.op == AssignOp::subtract, &old, nullptr, *operation.value, frame);
            next = converted(next, frame.precision);
            if (model_.fields[at(operation.field)].precision == Precision::single_precision)
                next = converted(next, Type::single);
            after[at(operation.field)][place(update.grid, cell)] = next.real;
        }
    });
    fields_ = std::move(after);
}

void TreeOracle::record(std::size_t index) {
    const auto& record = model_.records[index];
    const bool single = reads_anything(*record.value) && !is_double(model_, *record.value);
    long double total = 0;
    std::int64_t count = 0;
    double extreme = std::numeric_limits<double>::quiet_NaN();
    const std::array values{record.value};
    for_each_cell(record.grid, [&](const Cell& cell) {
        if (!holds(record.where, record.box, record.grid, cell, exists(values, record.grid, cell))) return;
        const Frame frame{record.grid, cell, true, single ? Type::single : Type::real};
        const double here = converted(as_real(value(*record.value, frame), frame), frame.precision).real;
        total += here;
        const bool better = record.reduction == Reduction::min ? here < extreme : here > extreme;
        if (count++ == 0 || better || std::isnan(here)) extreme = here;
    });
    const bool adds = record.reduction == Reduction::sum || record.reduction == Reduction::mean;
    if (record.reduction == Reduction::mean) total /= static_cast<long double>(count);
    series_[index].push_back(adds ? static_cast<double>(total) : extreme);
}

void TreeOracle::advance(int steps) {
    for (; steps > 0; --steps) {
        for (const auto& action : model_.step) {
            if (step_ % action.every != 0) continue;
            if (action.is_source)
                run(model_.sources[at(action.index)].update, model_.sources[at(action.index)].box);
            else
                run(model_.updates[at(action.index)], std::nullopt);
        }
        for (std::size_t i = 0; i < model_.records.size(); ++i)
            if ((step_ + 1) % model_.records[i].every == 0) record(i);
        ++step_;
    }
}

} // namespace farfield::testing
