// How a periodic box is divided for a sum on a GPU, and what that sum takes: as image_problem.h has it for
// the CPU, at the rates of a GPU.
#pragma once

#include "sums/direct/periodic/image_problem.h"

#include <functional>
#include <string_view>

namespace farfield {

/// The GPU whose rates choose grids: bits are not to depend on which one is there.
inline constexpr std::string_view usual_gpu = "NVIDIA H200";

/// Where a box lies: 0 along periodic axes.
struct BoxExtent {
    Lengths low{}, extent{};

    friend bool operator==(const BoxExtent&, const BoxExtent&) = default;
};
/// Around points from `low` to `high` along open axes; rounded up, so that grid and operators serve as long
/// as points that move stay there.
BoxExtent rounded_extent(const Lengths& period, const Lengths& low, const Lengths& high);

/// The grid of least time; in units and of points as choose_image_grid takes them.
/// @throws InvalidArgument as choose_image_grid does
ImageGrid choose_gpu_image_grid(const SumProblem& problem, const Lengths& period, const BoxExtent& extent,
                                const ImageShape& shape, int exponent, const OpenSeconds& seconds);

/// `MethodInfo::seconds`: of a box whose points take up about a period along open axes.
/// @param seconds  of open sums on that GPU, without its start and the way of arrays between host and GPU
double gpu_image_seconds(const SumProblem& problem, const ImageShape& shape, const OpenSeconds& seconds,
                         std::string_view gpu, const CostTable& table);
/// `MethodInfo::bytes`.
double gpu_image_bytes(const SumProblem& problem, const ImageShape& shape, const OpenSeconds& seconds,
                       const std::function<double(const SumProblem&)>& bytes);

/// Of the polynomials beside a periodic tree (soft_tree_costs), of all executions: those of an H200.
double gpu_soft_seconds(const SumProblem& problem, const FarCosts& polynomials);
double gpu_soft_bytes(const SumProblem& problem, const FarCosts& polynomials);

} // namespace farfield
