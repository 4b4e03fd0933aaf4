// Reduction of what the rows of a record gave.
#include "stencil/runtime/cpu/record_results.h"

#include "backend/threads/parallel.h"
#include "stencil/ir/reduction.h"

#include <algorithm>
#include <cmath>

namespace farfield::stencil::cpu {
namespace {

// A power of two of atoms is a whole subtree, so pieces of that size can be summed apart.
double tree_sum(const std::vector<double>& atoms, int threads) {
    constexpr std::int64_t piece = 4096;
    const auto count = static_cast<std::int64_t>(atoms.size());
    std::vector<double> sums(static_cast<std::size_t>((count + piece - 1) / piece));
    parallel_for(sums.size() > 1 ? threads : 1, static_cast<std::int64_t>(sums.size()), [&](std::int64_t p) {
        ir::TreeSum sum;
        for (auto i = p * piece; i < std::min(count, (p + 1) * piece); ++i) sum.add(atoms[i]);
        sums[p] = sum.total();
    });
    ir::TreeSum sum;
    for (const double value : sums) sum.add(value);
    return sum.total();
}

double extremum(const std::vector<double>& rows, bool least) {
    double best = std::nan("");
    bool any = false;
    for (std::size_t row = 0; row < rows.size(); row += 2) {
        if (rows[row + 1] == 0) continue;
        const double value = rows[row];
        if (!any || (least ? value < best : value > best) || std::isnan(value)) best = value;
        any = true;
    }
    return best;
}

} // namespace

double reduce_rows(const ir::Record& record, std::int64_t per_row, const std::vector<double>& values,
                   int threads) {
    switch (record.reduction) {
    case Reduction::value: {
        const auto& cell = record.cells->bounds().first;
        return values[static_cast<std::size_t>((cell[1] + record.cells->shape()[1] * cell[2]) * per_row)];
    }
    case Reduction::max:
        return extremum(values, false);
    case Reduction::min:
        return extremum(values, true);
    case Reduction::mean:
        return tree_sum(values, threads) / static_cast<double>(record.cells->count());
    default:
        return tree_sum(values, threads);
    }
}

} // namespace farfield::stencil::cpu
