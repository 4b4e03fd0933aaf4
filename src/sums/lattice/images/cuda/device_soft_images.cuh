// SoftImages (soft_images.h) on a GPU: moments of the cells of a box, the operator from them to polynomials,
// and these at the targets, all in double. Points of a cell are taken in parts, and parts and cells are added
// in their order: the same points give the same bits.
#pragma once

#include "sums/lattice/images/cuda/device_far_images.cuh"
#include "sums/lattice/images/soft_operator.h"

#include <cstdint>
#include <memory>

namespace farfield::cuda {

/// Powers (a, b, c) of total degree up to K, in the order of Powers.
struct SoftPowers {
    int degree = 0, size = 0;
    const std::int32_t* row = nullptr;   ///< of x^a y^b, at a·(K + 1) + b
    const std::int32_t* power = nullptr; ///< a + 2^10 b + 2^20 c
    const double* factorials = nullptr;  ///< a! b! c!
};

class DeviceSoftImages {
public:
    /// Keeps what it has of the same operator.
    void set_operator(const ImageGrid& grid, const SoftKernel& kernel, const SoftGoal& goal, int threads,
                      cudaStream_t stream);
    /// N×3 points in the box; no targets: they are the sources.
    void set_points(const double* sources, std::int64_t n, const double* targets, std::int64_t m,
                    cudaStream_t stream);
    /// Σ q/√(r²+ε²) of far images at each target, in the order given: negative gradient, and potential as w.
    /// Along three axes that is of mean 0 over the box with all images.
    void compute(const double* strengths, Vec4<double>* out, cudaStream_t stream);

    /// The total degree of the polynomials.
    [[nodiscard]] int degree() const { return operator_->powers().degree(); }

private:
    [[nodiscard]] const PointsByCells& targets() const { return self_ ? sources_ : targets_; }
    void set_powers(cudaStream_t stream);
    void set_series(cudaStream_t stream);

    ImageGrid grid_;
    GridView view_;
    std::shared_ptr<const SoftOperator> operator_;
    bool self_ = true;
    PointsByCells sources_, targets_;
    SoftPowers powers_;
    DeviceArray<std::int32_t> row_, power_, kinds_; ///< kinds of pairs of cells: target by target
    DeviceArray<double> factorials_, series_;       ///< of each kind
    DeviceArray<double> part_sums_, moments_, part_locals_, locals_;
};

} // namespace farfield::cuda
