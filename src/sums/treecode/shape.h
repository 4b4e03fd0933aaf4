// What a tree code's sum of some points is to look like. Pure functions of the options and the number of
// points.
#pragma once

#include "sums/method/problem.h"

#include <farfield/sum_options.h>

#include <cstdint>

namespace farfield {

struct TreecodeShape {
    int order = 3;         ///< p
    double theta = 0.0;    ///< > 0: as given
    double accuracy = 0.0; ///< > 0: estimate of a cell's error over all that acts on a target
    std::int32_t leaf = 24;
    std::int32_t group = 128; ///< targets that share a walk, at most
    std::int32_t few = 6;     ///< cells with no more sources than this act point by point
    bool wide = true;         ///< expansions in double
    bool local = true;        ///< monopoles may act through local expansions of targets

    /// A cell acts by its expansion only beyond this many radii of its sources.
    [[nodiscard]] double least_distance() const;
    /// It acts through a local expansion only beyond this many radii of the targets, squared.
    [[nodiscard]] double local_distance2() const;
};

/// @param order  0: as the options or the tolerance ask @param sharper  divides the accuracy
TreecodeShape treecode_shape(const SumProblem& problem, const SumOptions& options, int order = 0,
                             double sharper = 1.0);

/// The order that may suffice where `order` gave `error`: larger by one at least, up to the highest.
int treecode_order_after(int order, double error, double tolerance);

/// Takes a higher order and a sharper estimate, or the latter alone, after a sum whose error was `error`.
/// `sharper`: by how much estimates are, of sums that fell short. False if there is nothing more to take.
bool refined(TreecodeShape& shape, double& sharper, const SumProblem& problem, const SumOptions& options,
             double error);

} // namespace farfield
