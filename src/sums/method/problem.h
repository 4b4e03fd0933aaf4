// What is to be summed, with no machine in it.
#pragma once

#include "sums/kernels/kernel.h"

#include <farfield/sum_options.h>

#include <array>
#include <cstdint>

namespace farfield {

/// In double; where the precision is not settled yet, as it usually will be.
constexpr bool is_wide(Precision precision) {
    return precision == Precision::float64 || precision == Precision::automatic;
}

struct SumProblem {
    const KernelInfo* kernel = nullptr;
    int dimension = 3;
    OutputSet outputs; ///< that may be asked for
    bool self = true;  ///< targets are the sources
    std::int64_t sources = 0;
    std::int64_t targets = 0;
    int strength_vectors = 1; ///< expected to be summed over the same points in one execution
    double softening = 0.0;
    double sigma = 0.0;
    SelfTerm self_term = SelfTerm::include;
    RelativeTo relative_to = RelativeTo::largest;
    double tolerance = 0.0;         ///< relative error of each output; 0: none was given
    std::array<double, 3> period{}; ///< of each axis; 0: open
    Boundary boundary = Boundary::tin_foil;
    Background background = Background::none;
    double executions = 1.0; ///< how often it is expected to be summed over the same points
    bool moves =
        false; ///< the points will be summed over at many places: what is made once counts for nothing
    bool keeps_strengths = false; ///< every execution has those of the first
    Precision precision = Precision::float64;
    Coincident coincident = Coincident::error;

    /// Targets are the sources, and none counts itself.
    [[nodiscard]] bool without_own() const {
        return self && (!kernel->acts_on_itself || self_term == SelfTerm::exclude);
    }
    /// Directed pairs.
    [[nodiscard]] std::int64_t pairs() const {
        return without_own() ? sources * (sources - 1) : sources * targets;
    }
    /// False where a look at the clock takes about as long as a part of the sum: then only the whole is
    /// timed.
    [[nodiscard]] bool times_its_parts() const { return pairs() >= 4096; }
    [[nodiscard]] bool is_periodic() const {
        for (const double length : period)
            if (length != 0.0) return true;
        return false;
    }
    /// Along all three axes.
    [[nodiscard]] bool is_periodic_box() const {
        return period[0] != 0.0 && period[1] != 0.0 && period[2] != 0.0;
    }
};

} // namespace farfield
