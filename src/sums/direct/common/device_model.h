// How long a direct sum takes on the CPU and on a GPU, from rates of the cost table
// (sums/costs/cost_table.h); which of the two `--device auto` takes follows from it. Plain arithmetic,
// tested with made-up rates.
#pragma once

namespace farfield {

/// What a sum costs, apart from the machine.
struct SumCost {
    double pairs = 0.0;      ///< directed pairs an execution
    double bytes = 0.0;      ///< copied between host and GPU an execution
    double executions = 1.0; ///< how often the sum will be computed
};

/// The cost of a sum over host arrays: points, strengths, potentials and fields of 8 bytes a number.
SumCost cost_of_sum(double sources, double targets, bool self, double executions = 1.0);

struct CpuRates {
    double fixed_seconds = 0.0; ///< of a sum of hardly any pairs
    double pairs_per_second_a_thread = 0.0;
    int threads = 1;
};

struct GpuRates {
    double start_seconds = 0.0; ///< of CUDA, once a process
    double fixed_seconds = 0.0; ///< of a sum of hardly any pairs: launches, allocations
    double bytes_per_second = 0.0;
    double pairs_per_second = 0.0;
};

/// executions · (fixed + pairs / (threads · rate a thread))
double seconds_on(const CpuRates& rates, const SumCost& cost);

/// start + executions · (fixed + bytes / copy rate + pairs / rate)
double seconds_on(const GpuRates& rates, const SumCost& cost);

} // namespace farfield
