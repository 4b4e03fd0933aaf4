#include "sums/direct/common/costs.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"

#include <fmt/format.h>

namespace farfield {
namespace direct_cost {
namespace {

// What is left to the plan is counted as what sums without a tolerance take.
std::string_view word_of(Precision precision) {
    return name_of(precision == Precision::automatic ? Precision::float64 : precision);
}

constexpr std::string_view rate_of(bool self) { return self ? "self_pairs_per_second" : "pairs_per_second"; }

} // namespace

std::string cpu_pairs_per_second(Isa isa, Precision precision, bool self) {
    return fmt::format("direct.cpu.{}.{}.{}", cost_word(name_of(isa)), word_of(precision), rate_of(self));
}

std::string gpu_pairs_per_second(Precision precision, bool self) {
    return fmt::format("direct.gpu.MODEL.{}.{}", word_of(precision), rate_of(self));
}

} // namespace direct_cost

CpuRates cpu_rates(const CostTable& table, const SumOptions& options, bool self) {
    const auto rate = direct_cost::cpu_pairs_per_second(resolve_isa(options.isa), options.precision, self);
    return {.fixed_seconds = cost_of(table, direct_cost::cpu_fixed_seconds),
            .pairs_per_second_a_thread = cost_of(table, rate),
            .threads = thread_count(options.threads)};
}

GpuRates gpu_rates(const CostTable& table, std::string_view gpu_name, Precision precision, bool self) {
    const auto of = [&](std::string_view pattern) { return cost_of_gpu(table, pattern, gpu_name); };
    return {.start_seconds = of(direct_cost::gpu_start_seconds),
            .fixed_seconds = of(direct_cost::gpu_fixed_seconds),
            .bytes_per_second = of(direct_cost::gpu_bytes_per_second),
            .pairs_per_second = of(direct_cost::gpu_pairs_per_second(precision, self))};
}

// In double with AVX-512. Logarithms of complex strengths, potential and field, each pair once as those of
// 1/r. Vortices: half a pair for velocities of points, 2 to 3 with the stream function or where blobs
// overlap.
double pair_weight(const SumProblem& problem) {
    switch (problem.kernel->loop) {
    case PairLoop::logarithm:
        return 1.6;
    case PairLoop::vortex:
        return 2.0;
    case PairLoop::gauss: // directed pairs, in space with the gradient
        return problem.self ? 1.3 : 0.75;
    default:
        return 1.0;
    }
}

double direct_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                      const CostTable& table) {
    const auto cost = cost_of_sum(static_cast<double>(problem.sources), static_cast<double>(problem.targets),
                                  problem.self, problem.executions);
    if (!gpu.empty()) return seconds_on(gpu_rates(table, gpu, options.precision, problem.self), cost);
    auto rates = cpu_rates(table, options, problem.self);
    rates.pairs_per_second_a_thread /= pair_weight(problem);
    return seconds_on(rates, cost);
}

} // namespace farfield
