// Whether a program's fields fit into this machine's memory: the limit for sizes of grids, known before
// anything is as large as they are.
#include "base/machine.h"
#include "stencil/analysis/domains.h"
#include "stencil/diagnostic_kinds.h"

#include <fmt/format.h>

#include <array>
#include <string>

namespace farfield::stencil {
namespace {

double cells_in(const Grid& grid) {
    double cells = 1;
    for (const auto& axis : grid.axes) cells *= static_cast<double>(axis.cells);
    return cells;
}

double bytes_of(Precision precision) { return precision == Precision::double_precision ? 8 : 4; }

std::string bytes_text(double bytes) {
    constexpr std::array units{"bytes", "KB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
    return fmt::format("{:.3g} {}", bytes, units[unit]);
}

// Fields, coefficients, and the rows of sets, of which each has three numbers at least.
double bytes_on(const Model& model, int index) {
    const auto& grid = model.grids[static_cast<std::size_t>(index)];
    const double cells = cells_in(grid);
    const double rows = cells / static_cast<double>(grid.axes[0].cells);
    double bytes = 0;
    for (const auto& field : model.fields)
        if (field.grid == index) bytes += cells * bytes_of(field.precision) * (field.double_buffered ? 2 : 1);
    for (const auto& coefficient : model.coefficients)
        if (coefficient.grid == index)
            bytes += cells * bytes_of(coefficient.precision) +
                     rows * 24 * static_cast<double>(coefficient.cases.size());
    const auto sets = [&](const auto& list, const auto& grid_of) {
        for (const auto& one : list)
            if (grid_of(one) == index) bytes += rows * 24;
    };
    sets(model.subdomains, [](const Subdomain& one) { return one.grid; });
    sets(model.updates, [](const Update& one) { return one.grid; });
    sets(model.sources, [](const Source& one) { return one.update.grid; });
    sets(model.records, [](const Record& one) { return one.grid; });
    return bytes;
}

} // namespace

bool check_memory(const Model& model, const CompileOptions& options, lang::Diagnostics& diagnostics) {
    const auto memory = static_cast<double>(options.memory > 0 ? options.memory : physical_memory());
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
