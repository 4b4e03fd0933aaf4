// What is settled of a force when a simulation begins, by tolerance and cost table, and raised later where
// the tolerance is missed. It is part of a simulation's state: with it the same bits come out in another
// process.
#pragma once

#include <farfield/simulation.h>

#include <string>

namespace farfield {

struct ForceSettings {
    Method method = Method::automatic; ///< automatic: nothing is settled yet
    std::string reason{};              ///< why this method
    int order = 0;                     ///< of expansions; 0: the method has none
    int leaf = 0;                      ///< 0: as order; or the sum chooses it for each tree
    M2L m2l = M2L::automatic;          ///< where the method has expansions
    double aim = 0.0; ///< relative error that sums aim at, less than the tolerance; 0: that of the tolerance
    // The largest relative errors found so far, in the L2 norm.
    double worst_acceleration_error = 0.0;
    double worst_potential_error = 0.0;

    [[nodiscard]] bool is_settled() const { return method != Method::automatic; }
};

/// The options of a sum of these forces, as far as they are settled: on GPUs if the force names them,
/// otherwise on the CPU.
SumOptions sum_options_of(const ForceOptions& force, const ForceSettings& settings, Precision precision);

} // namespace farfield
