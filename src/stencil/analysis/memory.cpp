// Whether a program's fields fit into this machine's memory: the limit for sizes of grids, known before
// anything is as large as they are.
#include "base/machine.h"
#include "stencil/analysis/analysis.h"
#include "stencil/analysis/wording.h"
#include "stencil/front_end/syntax/diagnostic_kinds.h"

#include <fmt/format.h>

namespace farfield::stencil {
namespace {

double cells_in(const Grid& grid) {
    double cells = 1;
    for (const auto& axis : grid.axes) cells *= static_cast<double>(axis.cells);
    return cells;
}

double bytes_of(Precision precision) { return precision == Precision::double_precision ? 8 : 4; }

// Fields, coefficients, arrays, and sets of cells: three numbers a row at least, and a bit a cell, which
// stands for what shapes with many intervals need, and for the work of finding them.
double bytes_on(const Model& model, int index) {
    const auto& grid = model.grids[static_cast<std::size_t>(index)];
    const double cells = cells_in(grid);
    const double a_set = cells / static_cast<double>(grid.axes[0].cells) * 24 + cells / 8;
    double bytes = 0;
    const auto count = [&](const auto& list, const auto& grid_of, const auto& bytes_of_one) {
        for (const auto& one : list)
            if (grid_of(one) == index) bytes += bytes_of_one(one);
    };
    const auto grid_of = [](const auto& one) { return one.grid; };
    const auto set = [&](const auto&) { return a_set; };
    count(model.fields, grid_of, [&](const Field& field) {
        return cells * bytes_of(field.precision) * (field.double_buffered ? 2 : 1);
    });
    count(model.arrays, grid_of, [&](const Array& array) {
        return 8 * static_cast<double>(grid.axes[static_cast<std::size_t>(array.axis)].cells);
    });
    count(model.coefficients, grid_of, [&](const Coefficient& coefficient) {
        return cells * bytes_of(coefficient.precision) +
               a_set * static_cast<double>(coefficient.cases.size());
    });
    count(model.subdomains, grid_of, set);
    count(model.updates, grid_of, set);
    count(
        model.sources, [](const Source& source) { return source.update.grid; }, set);
    count(model.records, grid_of, set);
    return bytes;
}

double memory_of(const AnalysisOptions& options) {
    return static_cast<double>(options.memory > 0 ? options.memory : physical_memory());
}

} // namespace

double memory_left(const Model& model, const AnalysisOptions& options) {
    double left = memory_of(options);
    for (std::size_t i = 0; i < model.grids.size(); ++i) left -= bytes_on(model, static_cast<int>(i));
    return left;
}

bool check_memory(const Model& model, const AnalysisOptions& options, lang::Diagnostics& diagnostics) {
    const auto memory = memory_of(options);
    double total = 0;
    const Grid* largest = nullptr;
    double most = 0;
    for (std::size_t i = 0; i < model.grids.size(); ++i) {
        const double bytes = bytes_on(model, static_cast<int>(i));
        total += bytes;
        if (bytes > most) {
            most = bytes;
            largest = &model.grids[i];
        }
    }
    if (total <= memory || largest == nullptr) return true;
    diagnostics.report(
        kinds::too_large, largest->span,
        fmt::format("the program needs {} of memory, {} of it on the grid '{}', and {} are there",
                    bytes_text(total), bytes_text(most), largest->name, bytes_text(memory)),
        "make the grid smaller, or fields 'float' instead of 'double'");
    return false;
}

} // namespace farfield::stencil
