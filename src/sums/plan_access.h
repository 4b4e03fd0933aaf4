// What simulations need of a plan beside its public face.
#pragma once

#include "sums/points/homes.h"

#include <farfield/sum.h>

#include <cstdint>
#include <span>

namespace farfield {

struct SumPlanAccess {
    /// From now on the tolerance chooses how the plan computes, and the caller compares.
    static void leave_comparing_to_caller(SumPlan& plan);
    /// Of this rank's sources at the next update (PreparedSum::number_sources).
    static void number_sources(SumPlan& plan, std::span<const std::int64_t> numbers);
    /// Of this rank's sources.
    static Homes homes(const SumPlan& plan);
};

} // namespace farfield
