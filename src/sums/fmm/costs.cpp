#include "sums/fmm/costs.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "sums/direct/common/costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace fmm_cost {
namespace {

std::string of_type(Isa isa, bool wide, std::string_view what) {
    return fmt::format("fmm.cpu.{}.{}.{}", cost_word(name_of(isa)), wide ? "double" : "float", what);
}

} // namespace

std::string cpu_multiply_adds_per_second(Isa isa, bool wide) {
    return of_type(isa, wide, "multiply_adds_per_second");
}

std::string cpu_functions_per_second(Isa isa, bool wide) {
    return of_type(isa, wide, "functions_per_second");
}

} // namespace fmm_cost

namespace {

/// Of all translations to one cell, without padding.
double multiply_adds_a_cell(const FmmOrder& order) {
    double sum = 0.0;
    for (const auto& offsets : offset_classes({order.order, order.separation, 1, order.grading})) {
        const double functions = std::pow(graded_degree(order, offsets.offset) + 1.0, 2);
        // of 64 pairs of classes, those whose parities differ along axes that the offset has alone
        const int axes = (offsets.offset[0] > 0 ? 1 : 0) + (offsets.offset[1] > 0 ? 1 : 0) +
                         (offsets.offset[2] > 0 ? 1 : 0);
        sum += functions * functions * (1 << axes) / 8.0;
    }
    return sum;
}

} // namespace

FmmRates fmm_rates(const CostTable& table, const SumProblem& problem, const SumOptions& options,
                   const FmmOrder& order, bool wide) {
    const Isa isa = resolve_isa(options.isa);
    const double functions = std::pow(order.order + 1.0, 2);
    return {.seconds_a_pair = 1.0 / cpu_rates(table, options, problem.self).pairs_per_second_a_thread,
            .seconds_a_cell = multiply_adds_a_cell(order) /
                              cost_of(table, fmm_cost::cpu_multiply_adds_per_second(isa, wide)),
            .seconds_a_point = functions / cost_of(table, fmm_cost::cpu_functions_per_second(isa, wide)),
            .tree_seconds_a_point = cost_of(table, fmm_cost::cpu_point_seconds)};
}

double fmm_seconds(const SumProblem& problem, const SumOptions& options, std::string_view /*gpu*/,
                   const CostTable& table) {
    const auto shape = fmm_shape(problem, options, table);
    const auto rates = fmm_rates(table, problem, options, shape.order, shape.wide);
    const auto points =
        static_cast<double>(problem.self ? problem.sources : problem.sources + problem.targets);
    const double neighbours = std::pow(2.0 * shape.order.separation + 1.0, 3);
    const double near = neighbours * shape.leaf * static_cast<double>(problem.targets) * rates.seconds_a_pair;
    const double cells =
        static_cast<double>(std::max(problem.sources, problem.targets)) / shape.leaf * 8.0 / 7.0;
    const double once = points * rates.tree_seconds_a_point;
    const double each = near + cells * rates.seconds_a_cell +
                        static_cast<double>(problem.sources + problem.targets) * rates.seconds_a_point;
    return (once + problem.executions * each) / thread_count(options.threads);
}

} // namespace farfield
