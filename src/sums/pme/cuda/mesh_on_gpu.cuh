// The smooth part of a periodic sum on a mesh, on a GPU: mesh_part.h for points there.
#pragma once

#include "backend/cuda/mesh_transform.h"
#include "sums/lattice/cuda/smooth_on_gpu.cuh"
#include "sums/lattice/cuda/sorted_cells.cuh"
#include "sums/pme/cuda/mesh_task.cuh"
#include "sums/pme/mesh_choice.h"

namespace farfield::cuda {

class MeshOnGpu : public SmoothOnGpu {
public:
    /// The influence function is computed by that many threads of the host.
    MeshOnGpu(const PeriodicFrame& frame, const MeshChoice& choice, int threads, cudaStream_t stream);

    void set_points(const BoxPoints& sources, const BoxTargets& targets, cudaStream_t stream) override;
    void add(const Strengths& strengths, bool with_field, Vec4<double>* sums, PassTimer& timer,
             const std::function<void()>& stop, cudaStream_t stream) override;
    void describe(LatticeReport& report, double scale) const override;

private:
    struct Points {
        SortedCells bins;
        DeviceArray<MeshPoint> at;
        DeviceArray<std::int32_t> chunks_of_bins, first_chunks; ///< how many, and where they begin
        DeviceArray<MeshChunk> chunks;
        std::int64_t chunk_count = 0;
        std::int32_t most = 0; ///< points of a bin
        Workspace workspace;
    };
    void sort(Points& to, const BoxPoints& points, cudaStream_t stream);
    [[nodiscard]] int unit_exponent(const Strengths& strengths) const;

    MeshShape shape_;
    MeshTransformOnGpu transform_;
    DeviceArray<double> values_, slopes_; ///< of the splines
    DeviceArray<double> influence_;       ///< influence.h
    DeviceArray<double> mesh_, spectrum_;
    DeviceArray<std::int32_t> found_; ///< chunks, and the most points of a bin
    Points sources_, targets_;
    bool targets_are_all_ = true; ///< BoxTargets::are_all_sources
};

} // namespace farfield::cuda
