// Bodies that live on one or several GPUs and move there; no CUDA header, so that a propagator can hold
// one in any build. All work is queued: calls return while the GPU still steps.
#pragma once

#include "dynamics/cuda/step_path.h"
#include "sums/points/prepared.h"

#include <farfield/simulation.h>
#include <farfield/sum_options.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace farfield::comm {
class Transport;
}

namespace farfield::cuda {

struct MotionSetup {
    std::vector<int> devices{0}; ///< the GPU of each part of the bodies
    /// Parts are ranks, each with one device; calls are made by all of them alike, and wait for each other.
    /// Null: parts are devices, or `sums` know of ranks, which then all have all bodies.
    comm::Transport* ranks = nullptr;
    MultiGpu multi_gpu = MultiGpu::threads;
    Exchange exchange = Exchange::automatic;
    MpiGpu mpi_gpu = MpiGpu::automatic; ///< with ranks
    Kernel kernel = Kernel::gravity;
    double G = 1.0;
    double softening = 0.0;
    Precision precision = Precision::float64;
    std::vector<double> substeps{1.0}; ///< leapfrogs of a step, in steps; at most 3
    Frame frame;                       ///< of the evaluation at the places given
    StepPath path = StepPath::automatic;
    /// A rung of GPUs; not `automatic`: it makes every step by launches, or by graphs where it is `symmetric`
    /// or `register_tile`. The others take one GPU.
    Variant variant = Variant::automatic;
    bool times_sums = false; ///< with a variant: events around each sum, on one GPU, by launches
    /// Of another method than `direct`, or in a periodic box, where bodies are kept: sums on one GPU. They
    /// make every step by launches, have a frame of their own, and decide how often the host waits.
    std::optional<SumOptions> sums;
    bool compares =
        false; ///< with such sums: captured states have potentials, the last step can be taken again
};

/// The state that was captured, as it has come to the host. Arrays are valid until the next `capture`.
struct CapturedState {
    std::span<const double> position, velocity, acceleration; ///< 3·N
    Frame frame;                                              ///< of the accelerations
    std::optional<std::uint64_t> failure; ///< number of the evaluation (from 1) that first was not finite
    // Where they were asked for:
    double kinetic = 0.0;
    double potential = 0.0;
    std::array<double, 3> momentum{};
    std::array<double, 3> angular_momentum{};
    std::span<const double> potentials; ///< N, without G; with MotionSetup::compares
};

class DeviceMotion {
public:
    /// Brings the bodies to the GPUs and queues the first evaluation.
    /// @throws BackendUnavailable without CUDA or such a device; DeviceError where the memory is full;
    ///         InvalidArgument for more bodies than a sum on a GPU takes.
    DeviceMotion(const MotionSetup& setup, const Bodies& bodies);
    DeviceMotion(DeviceMotion&&) noexcept;
    DeviceMotion& operator=(DeviceMotion&&) noexcept;
    ~DeviceMotion();

    /// Queues steps of length `dt`. Waits until all but the last batches queued before are done.
    /// @throws DeviceError for what went wrong in earlier work.
    void advance(std::uint64_t steps, double dt);

    /// Queues a copy of the present state to the host, with sums over it where `diagnostics`. Steps queued
    /// later do not wait for it.
    void capture(bool diagnostics);
    /// Waits for the last `capture`.
    const CapturedState& captured();
    /// Waits for everything.
    void synchronize();

    /// Goes on with sums of these options: takes the last step again, or, before the first, evaluates again.
    /// @pre MotionSetup::compares, and nothing is captured that was not waited for
    void take_again(const SumOptions& sums);

    /// The first evaluation seen so far that was not finite.
    [[nodiscard]] std::optional<std::uint64_t> failure() const;
    /// Why MotionSetup::sums refused the places, or empty.
    [[nodiscard]] std::string refusal() const;
    [[nodiscard]] StepPath path() const;             ///< the one taken, never `automatic`
    [[nodiscard]] Variant variant() const;           ///< of the sums
    [[nodiscard]] std::uint64_t evaluations() const; ///< queued so far
    [[nodiscard]] double seconds() const;            ///< the GPU took for the batches that are done
    [[nodiscard]] double seconds_per_step() const;   ///< of the last batch that is done; 0 before
    /// Milliseconds of GPU time for `steps` steps, by events.
    double time_steps(std::uint64_t steps, double dt);
    /// Milliseconds of the sums alone in the last `time_steps`. @pre `times_sums`.
    double sum_milliseconds();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace farfield::cuda
