// Sums over points that stand in another order than the caller's, as those of a tree, into the caller's rows.
#pragma once

#include "sums/direct/cpu/direct.h"
#include "sums/direct/cpu/tiles.h"
#include "sums/method/problem.h"
#include "sums/points/prepared.h"

#include <cstdint>
#include <functional>
#include <span>

namespace farfield {
namespace comm {
class Transport;
}

/// Points and strengths in their frame. Row number i of an order is row from[i] of the caller.
struct OrderedSums {
    const SumProblem& problem;
    const Frame& frame;
    double softening = 0.0;
    Precision precision = Precision::float64;
    std::span<const double> source_points; ///< N×3, in the caller's order
    std::span<const double> target_points; ///< M×3, or empty where they are the sources
    std::span<const std::int32_t> source_from, target_from;
    std::span<const double> strengths; ///< ordered
    std::span<const double> dipoles{}; ///< ordered, N×3; empty: none
    std::span<const double> numbers{}; ///< of this rank's sources (PreparedSum::number_sources); empty: none
    int strength_exponent = 0;
    TileSums sums;                          ///< ordered, no sign of a kernel
    std::function<bool()> stop_requested{}; ///< asked while rows are computed again
};

/// Writes the results that are present, in the caller's units. Rows that are not finite are computed again,
/// pair by pair; the report gets the pairs that were left out. @throws InvalidArgument
/// and Interrupted as `repair_rows`.
void write_ordered(const OrderedSums& from, const DirectResults& results, SumReport& report);

/// The first part of it: false where a row is not finite.
bool write_rows(const OrderedSums& from, const DirectResults& results, int threads);

/// The same where each rank has rows of its own, and `problem` tells all ranks'. Called by all ranks.
/// @param from  points in the caller's order, no strengths  @param strengths, dipoles  this rank's, as given
void write_on_ranks(comm::Transport& ranks, OrderedSums from, std::span<const double> strengths,
                    std::span<const double> dipoles, const DirectResults& results, SumReport& report);

/// The second part where each rank has rows of its own, and `problem` tells all ranks': all ranks get all
/// rows, in the order of the numbers. Points, strengths and dipoles are in the caller's order. Called by all
/// ranks.
void repair_on_ranks(comm::Transport& ranks, const OrderedSums& from, const DirectResults& results,
                     SumReport& report);

} // namespace farfield
