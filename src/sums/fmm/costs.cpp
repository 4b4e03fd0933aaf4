#include "sums/fmm/costs.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/periodic/image_problem.h"
#include "sums/fmm/gpu_shape.h"
#include "sums/fmm/periodic_level.h"
#include "sums/fmm/softened.h"

#include <algorithm>
#include <cmath>

namespace farfield {
FmmRates fmm_rates(const CostTable& table, const SumProblem& problem, const SumOptions& options,
                   const FmmOrder& order, bool wide) {
    const Isa isa = resolve_isa(options.isa);
    const double functions = std::pow(order.order + 1.0, 2);
    auto usual = order; // of any level but the coarsest
    usual.coarse = 1;
    const auto classes = static_cast<double>(offset_classes(usual).size());
    const double multiply_adds = cost_of(table, fmm_cost::cpu_multiply_adds_per_second(isa, wide));
    const double work = order.m2l == M2L::rotation
                            ? cost_of(table, fmm_cost::cpu_rotated_work_per_second(isa, wide))
                            : multiply_adds;
    const double block_work = cost_of(table, fmm_cost::cpu_block_work_per_second(isa, wide));
    const auto seconds_a_cell = [&](const FmmOrder& of) {
        if (of.coarse == 1 && in_blocks(of, wide)) return block_work_a_cell(of) / block_work;
        return cost_of(table, fmm_cost::cpu_cell_seconds) * static_cast<double>(offset_classes(of).size()) /
                   classes +
               multiply_adds_a_cell(of, wide) / work;
    };
    const double numbers = predicted_operator_bytes(order, wide) / (wide ? sizeof(double) : sizeof(float));
    return {.seconds_a_pair = 1.0 / cpu_rates(table, options, problem.self).pairs_per_second_a_thread,
            .seconds_a_near_leaf = cost_of(table, fmm_cost::cpu_near_leaf_seconds),
            .seconds_a_cell = seconds_a_cell(usual),
            .seconds_a_coarse_cell =
                0.5 * seconds_a_cell(order), // cells at the edge have sources on one side
            .seconds_a_point = functions / cost_of(table, fmm_cost::cpu_functions_per_second(isa, wide)),
            .tree_seconds_a_point = cost_of(table, fmm_cost::cpu_point_seconds),
            .tree_seconds_a_leaf = cost_of(table, fmm_cost::cpu_leaf_seconds),
            .operator_seconds = numbers * cost_of(table, fmm_cost::cpu_operator_seconds),
            .order = usual,
            .seconds_a_cell_found = cost_of(table, fmm_cost::cpu_cell_seconds),
            .seconds_a_multiply_add = 1.0 / multiply_adds,
            .seconds_a_block_work = 1.0 / block_work,
            .wide = wide};
}

M2L fastest_m2l(const CostTable& table, const SumProblem& problem, const SumOptions& options, FmmOrder order,
                bool wide) {
    const auto seconds = [&](M2L m2l) {
        order.m2l = m2l;
        return fmm_rates(table, problem, options, order, wide).seconds_a_cell;
    };
    return seconds(M2L::rotation) < seconds(M2L::mirrored) ? M2L::rotation : M2L::mirrored;
}

double FmmRates::seconds_a_softened_cell(double softening) const {
    const auto cost = softened_cost(order, softening);
    double polynomials = 0.0;
    if (cost.functions > 0.0 && cost.functions <= most_functions_in_blocks(wide))
        polynomials = block_work(cost.multiply_adds, cost.functions_of_offsets) * seconds_a_block_work;
    else if (cost.functions > 0.0)
        polynomials = seconds_a_cell_found + cost.multiply_adds * seconds_a_multiply_add;
    return polynomials + (cost.whole ? 0.0 : seconds_a_cell);
}

namespace {

// Cells that others send to, on the levels below the coarsest.
double receiving_cells(const LeafGrid& grid, int separation) {
    double sum = 0.0;
    for (int level = 1; level <= grid.level; ++level)
        if (const LeafGrid here{grid.coarse, level, grid.dimension, grid.periodic};
            here.has_far_cells(separation))
            sum += here.cells();
    return sum;
}

} // namespace

FmmSeconds fmm_seconds_on(const LeafGrid& grid, const FmmRates& rates, const SumProblem& problem,
                          double softening) {
    const int separation = rates.order.separation;
    const auto sources = static_cast<double>(problem.sources);
    const auto targets = static_cast<double>(problem.targets);
    const double near_leaves = grid.neighbours(separation);
    const double lists = problem.self ? 0.5 * (near_leaves + grid.cells()) : near_leaves;
    const double near = near_leaves * sources * targets / std::pow(grid.cells(), 2) * rates.seconds_a_pair +
                        lists * rates.seconds_a_near_leaf;
    const double tree = (problem.self ? sources : sources + targets) * rates.tree_seconds_a_point +
                        grid.cells() * rates.tree_seconds_a_leaf;
    if (!grid.has_far_cells(separation)) return {.once = tree, .each = near}; // all are neighbours
    const double cell =
        softening > 0.0 ? rates.seconds_a_softened_cell(softening * grid.across()) : rates.seconds_a_cell;
    double coarsest = grid.coarse > 1 ? std::pow(grid.coarse, 3) * rates.seconds_a_coarse_cell : 0.0;
    double operators = rates.operator_seconds;
    if (grid.periodic) {
        const auto images = periodic_costs(
            problem, grid.coarse,
            {.separation = separation, .order = rates.order.order, .goal = image_goal(problem)});
        coarsest = far_seconds(images.harmonics.products + images.polynomials.products, 1);
        if (images.polynomials.is_soft) coarsest += far_point_seconds(problem, images.polynomials);
        operators += images.harmonics.operator_seconds + images.polynomials.operator_seconds;
    }
    return {.once = tree + (problem.moves ? 0.0 : operators),
            .each = near + coarsest + receiving_cells(grid, separation) * cell +
                    (sources + targets) * rates.seconds_a_point};
}

double fmm_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                   const CostTable& table) {
    if (!gpu.empty()) return gpu_fmm_seconds(problem, options, gpu, table);
    const auto shape = fmm_shape(problem, options, table);
    const auto rates = fmm_rates(table, problem, options, shape.order, shape.wide);
    const double softening = shape.grid.periodic ? problem.softening / problem.period[0] : 0.0;
    const auto seconds = fmm_seconds_on(shape.grid, rates, problem, softening);
    return cost_of(table, fmm_cost::cpu_fixed_seconds) +
           (seconds.once + problem.executions * seconds.each) / thread_count(options.threads);
}

} // namespace farfield
