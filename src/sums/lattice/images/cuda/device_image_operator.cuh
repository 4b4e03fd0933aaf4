// ImageOperator (image_operator.h) on a GPU, in double. Cells and functions are added in their order: the
// same expansions give the same bits.
#pragma once

#include "backend/cuda/memory.h"
#include "sums/lattice/images/image_operator.h"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

namespace farfield::cuda {

/// Pairs of functions (l, m ≥ 0), numbered as FunctionLoop has them. Real expansions Σ q·function are
/// `form_scale` times those of ImageOperator; `value_scale` times its local ones are real ones.
struct FunctionPairs {
    int count, order;
    const std::int32_t *degree, *of_order;
    const double *form_scale, *value_scale;
};

class DeviceImageOperator {
public:
    /// Keeps what it has of the same operator.
    void set(const std::shared_ptr<const ImageOperator>& wanted, cudaStream_t stream);

    [[nodiscard]] FunctionPairs pairs() const {
        return {pair_count_,        order_, pair_degree_.data(), pair_order_.data(), form_scale_.data(),
                value_scale_.data()};
    }
    [[nodiscard]] int cells() const { return cells_; }
    /// The conjugates of all M_l^m of each cell, at l² + l + m: to be set before `apply`.
    [[nodiscard]] double2* multipoles() { return multipoles_.data(); }
    /// @param first_part  of each cell, and the end: a cell with an empty range is left out; null: none is
    void apply(const std::int32_t* first_part, cudaStream_t stream);
    /// Then: Λ_l^m of pairs of functions, in `groups()` parts of each cell, which are to be added.
    [[nodiscard]] const double2* part_locals() const { return part_locals_.data(); }
    [[nodiscard]] int groups() const;

private:
    void set_functions(cudaStream_t stream);
    void set_sums(const ImageOperator& of, cudaStream_t stream);

    std::shared_ptr<const ImageOperator> operator_;
    int order_ = -1, cells_ = 0, pair_count_ = 0;
    DeviceArray<std::int32_t> pair_degree_, pair_order_;
    DeviceArray<double> form_scale_, value_scale_;
    DeviceArray<double2> sums_;       ///< of each kind of pairs of cells
    DeviceArray<std::int32_t> kinds_; ///< of pairs of cells: target by target
    DeviceArray<double2> multipoles_, part_locals_;
};

} // namespace farfield::cuda
