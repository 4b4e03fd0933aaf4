// Sums of logarithms in the plane, as loops and expansions leave them, become the caller's results.
#pragma once

#include "sums/direct/cpu/tiles.h"
#include "sums/method/problem.h"

#include <cstdint>
#include <span>

namespace farfield {
namespace comm {
class Transport;
}

/// The caller's points and strengths, contiguous; targets are the sources' points where those are the
/// targets.
struct PlaneInputs {
    const double* sources = nullptr;   ///< N×2
    const double* strengths = nullptr; ///< N×columns of the kernel
    const double* targets = nullptr;   ///< M×2
};

/// Contiguous; null where not wanted.
struct PlaneResults {
    double* potential = nullptr; ///< M×columns
    double* field = nullptr;     ///< M×2
};

/// Σ q ln r and Σ q (x − y)/r² of a frame. Of real strengths `sums.potential_imaginary` is null.
struct PlaneSums {
    TileSums sums{};
    std::span<const std::int32_t> rows{}; ///< sum i is of the caller's row rows[i]; empty: of row i
    int frame_exponent = 0;               ///< lengths of the frame are the caller's times 2^this
    int strength_exponent = 0;            ///< and so for strengths
    double total[2] = {0.0, 0.0};         ///< of all strengths, scaled
};

/// Writes −Σ q ln r and the field in the caller's units, times the sign of the kernel's row; of vortices the
/// field is turned by a right angle. With lengths 2^e times the caller's,
/// −Σ q ln r = −Σ q ln(2^e r) + e ln 2 Σ q, without the point's own strength where it does not act on itself.
/// False where a row is not finite.
bool write_plane_rows(const SumProblem& problem, const PlaneInputs& inputs, const PlaneSums& sums,
                      const PlaneResults& results, int threads);

/// The same; rows that are not finite are repaired. Returns what that does.
std::int64_t write_plane_results(const SumProblem& problem, const PlaneInputs& inputs, const PlaneSums& sums,
                                 const PlaneResults& results, int threads);

/// Computes rows that are not finite again, by the kernel's exact formula; returns how many coincident pairs
/// were left out there. @throws InvalidArgument as repair_rows does.
std::int64_t repair_plane_rows(const SumProblem& problem, const PlaneInputs& inputs,
                               const PlaneResults& results, int threads);

/// The same where each rank has rows of its own, those that `own` counts of `problem`: all ranks get all
/// rows. Called by all ranks.
std::int64_t repair_plane_rows_on_ranks(comm::Transport& ranks, const SumProblem& problem,
                                        const SumProblem& own, const PlaneInputs& inputs,
                                        const PlaneResults& results, int threads);

} // namespace farfield
