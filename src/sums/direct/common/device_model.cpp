#include "sums/direct/common/device_model.h"

namespace farfield {

SumCost cost_of_sum(double sources, double targets, bool self, double executions) {
    constexpr double bytes_a_number = 8.0;
    const double numbers = 4.0 * sources + (self ? 0.0 : 3.0 * targets) + 4.0 * targets;
    return {.pairs = sources * targets, .bytes = bytes_a_number * numbers, .executions = executions};
}

double seconds_on(const CpuRates& rates, const SumCost& cost) {
    return cost.executions *
           (rates.fixed_seconds + cost.pairs / (rates.threads * rates.pairs_per_second_a_thread));
}

double seconds_on(const GpuRates& rates, const SumCost& cost) {
    return rates.start_seconds +
           cost.executions * (rates.fixed_seconds + cost.bytes / rates.bytes_per_second +
                              cost.pairs / rates.pairs_per_second);
}

} // namespace farfield
