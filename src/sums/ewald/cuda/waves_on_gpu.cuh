// The smooth part of a periodic sum by waves, on a GPU: waves.h for points there. Points are taken in batches
// whose phases stay in the cache. Parts are added in their order: the same input gives the same bits.
#pragma once

#include "backend/cuda/memory.h"
#include "sums/ewald/cuda/wave_task.cuh"
#include "sums/ewald/gpu_waves.h"
#include "sums/lattice/cuda/smooth_on_gpu.cuh"

namespace farfield::cuda {

class WavesOnGpu : public SmoothOnGpu {
public:
    /// Factors of the waves are computed by that many threads of the host.
    WavesOnGpu(const PeriodicFrame& frame, const Cutoffs& cutoffs, int threads, cudaStream_t stream);

    void set_points(const BoxPoints& sources, const BoxTargets& targets, cudaStream_t stream) override;
    void add(const Strengths& strengths, bool with_field, Vec4<double>* sums, PassTimer& timer,
             const std::function<void()>& stop, cudaStream_t stream) override;
    void describe(LatticeReport& report, double scale) const override;

private:
    /// Calls visit(first) for the first point of each batch, with its phases set. Asks `stop` between them.
    template <class Visit>
    void each_batch(const BoxPoints& points, const std::function<void()>& stop, cudaStream_t stream,
                    const Visit& visit);
    void set_structure(const double* strengths, const std::function<void()>& stop, cudaStream_t stream);

    double cutoff_;
    GpuWaves waves_;
    GpuWaveParts parts_;
    BoxPoints sources_, targets_;
    DeviceArray<WaveRow> rows_;
    DeviceArray<StructureTile> tiles_;
    DeviceArray<double> factors_;
    DeviceArray<std::int32_t> first_rows_;
    PhasesOfBatch phases_;
    DeviceArray<Phase> phase_memory_;
    DeviceArray<Phase> structure_, coefficients_;
    DeviceArray<Vec4<double>> partial_;
};

} // namespace farfield::cuda
