// A sum of bodies on themselves where the bodies live on GPUs: one part of the work a GPU. Plans on host
// arrays, on device arrays and simulations all drive this; README.md tells how the work is divided and the
// bits kept.
#pragma once

#include "sums/direct/cuda/pair.cuh"
#include "sums/direct/cuda/rungs.h"

#include <farfield/device.h>

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace farfield::comm {
class Transport;
}

namespace farfield::cuda {

struct EngineOptions {
    std::vector<int> devices{0}; ///< the GPU of each part; one named several times plays several GPUs
    MultiGpu multi_gpu = MultiGpu::threads;
    Exchange exchange = Exchange::automatic;
    int outputs = field_and_potential;
    int n = 0;
    double softening = 0.0;      ///< in the unit of the points
    Rung rung = Rung::symmetric; ///< or register_tile
    /// Parts are ranks: this one has one device, and its number is that of its part. Null: parts are devices.
    comm::Transport* ranks = nullptr;
    MpiGpu mpi_gpu = MpiGpu::automatic; ///< with ranks
};

/// What one GPU of this process holds. Everything that touches it is queued on `stream`.
template <class PointType>
struct EnginePart {
    int index = 0; ///< among those of this process
    int device = 0;
    int begin = 0, end = 0;      ///< its bodies
    PointType* points = nullptr; ///< n, on this GPU; the owner writes [begin, end) and nobody else's
    /// end − begin sums, the first that of body `begin`: x, y, z = Σ q (x − y)/r³, w = Σ q/r,
    /// whatever `outputs` leaves out is 0.
    const Vec4<typename PointType::real>* sums = nullptr;
    cudaStream_t stream = nullptr;
};

/// Results are bit-identical for any number of parts, either design and every exchange.
/// Not to be used by two threads at a time.
template <class PointType>
class SumEngine {
public:
    /// Takes all memory that `compute` needs.
    /// @throws InvalidArgument for no device, more than 64 parts, n < 0 or a rung other than the two;
    ///         BackendUnavailable for a device that does not exist, `Exchange::peer` where two GPUs cannot
    ///         read each other's memory, or `MpiGpu::on` where MPI knows no GPUs; DeviceError where a GPU's
    ///         memory is full.
    explicit SumEngine(const EngineOptions& options);
    SumEngine(SumEngine&&) noexcept;
    SumEngine& operator=(SumEngine&&) noexcept;
    ~SumEngine(); ///< waits for what is queued

    [[nodiscard]] const EngineOptions& options() const; ///< `exchange` is the one taken, never `automatic`
    [[nodiscard]] std::span<EnginePart<PointType>> parts();

    /// Calls work(part) for every part with its GPU current: on a CPU thread each (MultiGpu::threads, several
    /// parts) or one after the other. Returns when all calls have; the first exception is rethrown.
    template <class Work>
    void for_each_part(Work&& work) {
        const auto all = parts();
        run_on_parts([&](int index) { work(all[static_cast<std::size_t>(index)]); });
    }

    /// With ranks: waits for the others. Otherwise queues a step: exchange of points, sums, exchange of
    /// partial sums. After it, each part's stream holds the new sums, and its points may be overwritten by
    /// later work of that stream. With one part it can be recorded into a graph. @throws DeviceError.
    void compute();

    /// Waits for all parts. @throws DeviceError for what went wrong in queued work.
    void synchronize();

private:
    void run_on_parts(const std::function<void(int)>& work);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace farfield::cuda
