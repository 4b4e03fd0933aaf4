// What simulations need of a plan beside its public face.
#pragma once

#include <farfield/sum.h>

#include <cstdint>
#include <vector>

namespace farfield {

struct SumPlanAccess {
    /// From now on the tolerance chooses how the plan computes, and the caller compares.
    static void leave_comparing_to_caller(SumPlan& plan);
    /// Of each of this rank's sources the rank that sums over it (PreparedSum::homes).
    static std::vector<std::int32_t> homes(const SumPlan& plan);
};

} // namespace farfield
