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
};

/// @throws BackendUnavailable without CUDA or such a GPU; what `make` throws.
std::unique_ptr<PreparedSum> make_gpu_image_sum(const SumProblem& problem, const SumOptions& options,
                                                int device, const OpenSums& open);

} // namespace farfield::cuda
