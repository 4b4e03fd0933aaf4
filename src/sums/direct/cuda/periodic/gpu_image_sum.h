// A sum over a periodic box on a GPU from one over open space there, for callers that have no CUDA header.
#pragma once

#include "sums/direct/cuda/periodic/image_costs.h"
#include "sums/method/method.h"

#include <memory>

namespace farfield::cuda {

/// A method of sums over open space on a GPU.
struct OpenSums {
    ImageShape shape;    ///< of far images, until a sum is refined
    OpenSeconds seconds; ///< on `usual_gpu`
    std::unique_ptr<PreparedSum> (*make)(const SumProblem& problem, const SumOptions& options, int device);
    bool takes_host_arrays = false; ///< on ranks
    /// Not null: the whole box by one sum, of which it lacks what tin foil, a background and vacuum bring,
    /// and the softening of far images; it throws PointsMeet. Where it does not do, images are summed.
    std::unique_ptr<PreparedSum> (*make_in_box)(const SumProblem& problem, const SumOptions& options,
                                                int device, const TreeBox& box) = nullptr;
    double low = 0.0;                            ///< of its box, in periods
    FarSoftening softening = FarSoftening::none; ///< of its far images
};

/// @throws BackendUnavailable without CUDA or such a GPU; what `make` throws.
std::unique_ptr<PreparedSum> make_gpu_image_sum(const SumProblem& problem, const SumOptions& options,
                                                int device, const OpenSums& open);

} // namespace farfield::cuda
