// The coefficients of the direct sum in the cost table, and the rates of the model
// (sums/direct/common/device_model.h) that follow from them. Another method has a file like this one.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/direct/common/device_model.h"
#include "sums/method/problem.h"

#include <farfield/sum.h>

#include <string>
#include <string_view>

namespace farfield {

/// Names and patterns (`of_model`) of the coefficients.
namespace direct_cost {
constexpr std::string_view cpu_fixed_seconds = "direct.cpu.fixed_seconds"; ///< of a sum of hardly any pairs
constexpr std::string_view gpu_start_seconds = "gpu.MODEL.start_seconds";  ///< of CUDA, once a process
constexpr std::string_view gpu_bytes_per_second = "gpu.MODEL.bytes_per_second"; ///< between host and GPU
constexpr std::string_view gpu_fixed_seconds = "direct.gpu.MODEL.fixed_seconds";
/// Of a simulation, after CUDA has started: its code, and its bodies on their way.
constexpr std::string_view gpu_run_start_seconds = "direct.gpu.MODEL.run_start_seconds";
constexpr std::string_view gpu_step_seconds = "direct.gpu.MODEL.step_seconds"; ///< of few bodies
/// Directed pairs a second of a thread. `self`: targets are the sources, so that each pair is computed once.
std::string cpu_pairs_per_second(Isa isa, Precision precision, bool self);
/// The same of a GPU, as a pattern.
std::string gpu_pairs_per_second(Precision precision, bool self);
} // namespace direct_cost

/// What these options reach on a CPU: `isa` and `threads` as they stand in for on this machine.
CpuRates cpu_rates(const CostTable& table, const SumOptions& options, bool self);

/// What a GPU of this name reaches in a process that has not started CUDA.
GpuRates gpu_rates(const CostTable& table, std::string_view gpu_name, Precision precision, bool self);

/// How many pairs of 1/r's loop take the time of one of the kernel's.
double pair_weight(const SumProblem& problem);

/// `MethodInfo::seconds` of the direct sum.
double direct_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                      const CostTable& table);

} // namespace farfield
