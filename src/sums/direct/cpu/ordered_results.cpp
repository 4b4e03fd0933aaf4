#include "sums/direct/cpu/ordered_results.h"

#include "backend/threads/parallel.h"
#include "sums/direct/common/repair.h"
#include "sums/kernels/kernel.h"
#include "sums/points/rescale.h"

#include <atomic>
#include <cmath>
#include <vector>

namespace farfield {
namespace {

// Numbers of rows of `width` in the caller's order.
std::vector<double> in_callers_order(std::span<const double> values, std::size_t width,
                                     std::span<const std::int32_t> from) {
    std::vector<double> out(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        out[width * static_cast<std::size_t>(from[i / width]) + i % width] = values[i];
    return out;
}

} // namespace

void write_ordered(const OrderedSums& from, const DirectResults& results, SumReport& report) {
    const auto& to = from.target_from;
    const auto& sums = from.sums;
    const auto& problem = from.problem;
    const auto& kernel = *problem.kernel;
    const auto scale_of = [&](Output output, const double* values) {
        return values == nullptr
                   ? ResultScale(1.0, 0)
                   : ResultScale(kernel.sign,
                                 kernel.result_exponent(output, from.frame.exponent, from.strength_exponent));
    };
    const auto of_potential = scale_of(Output::potential, results.potential);
    const auto of_field = scale_of(Output::field, results.field);
    const auto of_hessian = scale_of(Output::hessian, results.hessian);
    std::atomic<bool> all_finite = true;
    parallel_parts(report.threads, to.size(), [&](std::size_t begin, std::size_t end) {
        bool finite = true;
        const auto write = [&](double& out, const ResultScale& scale, double value) {
            out = scale(value);
            finite = finite && std::isfinite(out);
        };
        for (auto i = begin; i < end; ++i) {
            const auto row = static_cast<std::size_t>(to[i]);
            if (results.potential != nullptr) write(results.potential[row], of_potential, sums.potential[i]);
            for (std::size_t axis = 0; axis < 3 && results.field != nullptr; ++axis)
                write(results.field[3 * row + axis], of_field, sums.field[axis][i]);
            for (std::size_t k = 0; k < 6 && results.hessian != nullptr; ++k)
                write(results.hessian[6 * row + k], of_hessian, sums.hessian[k][i]);
        }
        if (!finite) all_finite = false;
    });
    if (all_finite) return;
    const auto strengths = in_callers_order(from.strengths, 1, from.source_from);
    const auto dipoles = in_callers_order(from.dipoles, 3, from.source_from);
    report.direct.coincident_pairs_skipped =
        repair_rows({.sources = problem.sources,
                     .targets = problem.targets,
                     .source_points = from.source_points.data(),
                     .strengths = strengths.data(),
                     .dipoles = dipoles.empty() ? nullptr : dipoles.data(),
                     .target_points = problem.self ? from.source_points.data() : from.target_points.data(),
                     .self = problem.self,
                     .softening = from.softening,
                     .frame_exponent = from.frame.exponent,
                     .strength_exponent = from.strength_exponent,
                     .sign = kernel.sign,
                     .precision = from.precision,
                     .coincident = problem.coincident,
                     .threads = report.threads,
                     .stop_requested = from.stop_requested,
                     .potential = results.potential,
                     .field = results.field,
                     .hessian = results.hessian});
}

} // namespace farfield
