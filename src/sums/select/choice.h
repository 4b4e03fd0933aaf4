// What computes a sum: the method, the arithmetic and the machine, as asked for or by tolerance and cost
// table.
#pragma once

#include "sums/method/method.h"

#include <farfield/sum.h>

#include <optional>
#include <string>

namespace farfield {
namespace comm {
class Transport;
}

/// The method and the device, and why.
struct Choice {
    const MethodInfo* method;
    DeviceChoice device; ///< never `automatic`
    std::string reason;
    std::string cost_table; ///< hash of the one that chose; empty if nothing was left to choose
};

/// @param array_gpu  the GPU on which the caller's points lie, if they do
/// @throws InvalidArgument where the method does not compute what is asked for, and what `choose_device`
/// throws
Choice choose(const SumProblem& problem, const SumOptions& options, std::optional<int> array_gpu);

/// The same on ranks that all choose: the method is that of rank 0, as hosts may have cost tables of their
/// own. Null: this process is alone. @throws InvalidArgument on all ranks for what one of them cannot do
Choice choose_alike(comm::Transport* ranks, const SumProblem& problem, const SumOptions& options,
                    std::optional<int> array_gpu);

/// What Precision::automatic begins with for a tolerance, 0 for none: mixed where its rounding errors, which
/// reach 1e-6 in potentials of charges of both signs, stay below it.
Precision usual_precision(double tolerance);

/// The same where a sum of these options computes in that precision as well as in double. Other precisions
/// stay. Pure.
Precision first_precision(const SumProblem& problem, const SumOptions& options);
/// That of rank 0 on all.
Precision first_precision_alike(comm::Transport* ranks, const SumProblem& problem, const SumOptions& options);

/// The bytes that the sum is going to take, about.
/// @throws InvalidArgument where this machine has not as many
double checked_bytes(const SumProblem& problem, const SumOptions& options, const Choice& choice);

} // namespace farfield
