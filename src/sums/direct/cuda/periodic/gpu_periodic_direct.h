// Every pair of a periodic box on a GPU, as direct/periodic/periodic_direct.h has it on the CPU.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/method/method.h"

#include <functional>
#include <memory>
#include <string_view>

namespace farfield::cuda {

std::unique_ptr<PreparedSum> make_gpu_periodic_direct(const SumProblem& problem, const SumOptions& options,
                                                      int device);
double gpu_periodic_direct_seconds(const SumProblem& problem, std::string_view gpu, const CostTable& table);
/// @param bytes  of an open sum
double gpu_periodic_direct_bytes(const SumProblem& problem,
                                 const std::function<double(const SumProblem&)>& bytes);

} // namespace farfield::cuda
