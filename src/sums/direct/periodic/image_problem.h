// A periodic sum as sums over open space: of the box on itself, and of the images in its rim on the box.
#pragma once

#include "sums/costs/cost_table.h"
#include "sums/lattice/images/image_grid.h"
#include "sums/lattice/images/soft_operator.h"
#include "sums/method/method.h"

#include <farfield/sum.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace farfield {

/// The box alone, in a frame where lengths are 2^exponent of the caller's.
SumProblem home_problem(const SumProblem& problem, int exponent);
/// So many images in the rim.
SumProblem rim_problem(const SumProblem& problem, int exponent, std::int64_t images);
SumOptions open_options(const SumOptions& options, int exponent);
/// The images are no targets: loops over pairs that are computed once do not serve them.
SumOptions rim_options(const SumOptions& options, int exponent);

/// Relative error to aim at in the expansions of far images.
double image_goal(const SumProblem& problem);

/// What expansions of far images are to be like.
struct ImageShape {
    int separation = 1;
    int order = 8;
    double goal = 1e-7; ///< of relative errors
};

/// Whether 1/r would not do for far images: the softening shows beside the goal.
bool softens_far_images(const SumProblem& problem, double goal);

/// How softened charges act beyond the neighbours of the box, where a periodic tree has the rest: as 1/r;
/// with what is missing of their kernel in polynomials; or by these alone.
enum class FarSoftening : std::uint8_t { none, beside_harmonics, whole };
FarSoftening far_softening(const SumProblem& problem, const ImageShape& shape);
/// For polynomials the box is one cell, and all images within the tree's separation are near.
ImageGrid soft_tree_grid(const Lengths& period, double low, int separation);
/// What they carry. @param softening  ε, in the frame
SoftKernel soft_kernel(FarSoftening way, double softening);

/// The box of a periodic tree.
struct TreeBox {
    double low = 0.0;            ///< where it begins, along all axes
    bool with_far_images = true; ///< else images that are no neighbours of the box are left out
};

/// The least that is aimed at in them.
inline constexpr double least_soft_image_goal = 1e-15;
/// A goal for errors at least `factor` times smaller: a power of 4, so that boxes alike share what is made
/// for it.
double refined_goal(double goal, double factor);
/// Orders more of 1/r that leave errors `factor` times smaller.
int more_image_orders(double factor, int separation);
/// What polynomials may leave of far images that are softened, in a frame where lengths are 2^exponent of the
/// caller's.
SoftGoal soft_goal(const SumProblem& problem, double goal, int exponent);

/// What the far images of a grid take, about: by harmonics, or softened ones by polynomials.
struct FarCosts {
    double products = 0.0;         ///< multiply-adds from cells to cells, each time
    double functions = 0.0;        ///< of a point
    double numbers = 0.0;          ///< that the operators have
    double operator_seconds = 0.0; ///< of one core, for making them
    bool is_soft = false;
};
FarCosts far_costs(const SumProblem& problem, const ImageGrid& grid, const ImageShape& shape);
/// Of the polynomials of a periodic tree; nothing where it has none.
FarCosts soft_tree_costs(const SumProblem& problem, const ImageShape& shape);

/// What so many multiply-adds of far images take.
double far_seconds(double work, int threads);
/// And the expansions at points, on one thread.
double far_point_seconds(const SumProblem& problem, const FarCosts& costs);

/// The grid of least time, where `seconds` has that of a sum of home_problem or rim_problem; without one,
/// its own, on one thread, as bits must not depend on threads. @throws InvalidArgument for boxes or points so
/// long and thin that none is small enough
using OpenSeconds = std::function<double(const SumProblem&)>;
ImageGrid choose_image_grid(const SumProblem& problem, const Lengths& period, const Lengths& low,
                            const Lengths& extent, const ImageShape& shape, int exponent,
                            const OpenSeconds& seconds);

/// `MethodInfo::seconds`, on one thread, and `bytes` of a box whose points take up about a period along open
/// axes.
double image_seconds(const SumProblem& problem, const ImageShape& shape, const OpenSeconds& seconds);
double image_bytes(const SumProblem& problem, const ImageShape& shape, const OpenSeconds& seconds,
                   const std::function<double(const SumProblem&)>& bytes);

/// Why a method whose far images act through expansions does not sum this; empty where it does.
std::string why_no_image_sum(std::string_view method, const SumProblem& problem, const SumOptions& options,
                             const DeviceChoice& device);

} // namespace farfield
