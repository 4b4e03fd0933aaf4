// FarImages (far_images.h) on a GPU: P2M of the cells of a box, the operator from them to local expansions,
// and L2P, all in double. Points of a cell are taken in parts, and parts, cells and functions are added in
// their order: the same points give the same bits.
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/vec4.h"
#include "backend/cuda/workspace.h"
#include "sums/lattice/images/cell_formulas.h"
#include "sums/lattice/images/cuda/device_image_operator.cuh"

#include <cstdint>
#include <vector>

namespace farfield::cuda {

/// Points of one cell that are taken together.
struct CellPart {
    std::int32_t cell, begin, end;
};

/// Points by cells.
class PointsByCells {
public:
    /// @param points  N×3 in the box. Waits for the numbers of points in the cells.
    void sort(const GridView& grid, const double* points, std::int64_t n, cudaStream_t stream);

    [[nodiscard]] std::int64_t count() const { return n_; }
    [[nodiscard]] const std::int32_t* rows() const { return rows_.data(); }
    /// N×3, from the centres of their cells, in widths.
    [[nodiscard]] const double* offsets() const { return offsets_.data(); }
    [[nodiscard]] int parts() const { return part_count_; }
    [[nodiscard]] const CellPart* part_list() const { return parts_.data(); }
    /// The first part of each cell, and the end.
    [[nodiscard]] const std::int32_t* first_part() const { return first_part_.data(); }

private:
    void divide(int cells, cudaStream_t stream);

    std::int64_t n_ = 0;
    int part_count_ = 0;
    DeviceArray<std::uint32_t> keys_, sorted_keys_;
    DeviceArray<std::int32_t> unsorted_rows_, rows_, starts_, first_part_;
    DeviceArray<double> offsets_;
    DeviceArray<CellPart> parts_;
    std::vector<std::int32_t> host_starts_, host_first_;
    std::vector<CellPart> host_parts_;
    Workspace workspace_;
};

class DeviceFarImages {
public:
    /// Keeps what it has of the same grid and order.
    void set_operator(const ImageGrid& grid, int order, int threads, cudaStream_t stream);
    /// N×3 points in the box; no targets: they are the sources.
    void set_points(const double* sources, std::int64_t n, const double* targets, std::int64_t m,
                    cudaStream_t stream);
    /// Σ q/r of far images at each target, in the order given: negative gradient, and potential as w. Along
    /// three axes it lacks the quadratic function of tin foil and background (box_terms.cuh).
    void compute(const double* strengths, Vec4<double>* out, cudaStream_t stream);

    [[nodiscard]] const ImageGrid& grid() const { return grid_; }

private:
    [[nodiscard]] const PointsByCells& targets() const { return self_ ? sources_ : targets_; }
    void set_functions(cudaStream_t stream);

    ImageGrid grid_;
    GridView view_;
    int order_ = -1;
    DeviceImageOperator operator_;
    bool self_ = true;
    PointsByCells sources_, targets_;
    DeviceArray<double> diagonal_, climb_, climb_back_; ///< of FunctionLoop
    DeviceArray<double> part_sums_;
    DeviceArray<double2> locals_;
    DeviceArray<double> coefficients_;
};

} // namespace farfield::cuda
