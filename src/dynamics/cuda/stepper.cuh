// What takes steps: the state on the GPUs and a way to put steps there (step_path.h).
#pragma once

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "dynamics/cuda/control.cuh"
#include "dynamics/cuda/device_motion.h"
#include "sums/direct/cuda/rungs.h"

#include <cuda_runtime_api.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace farfield::cuda {

/// What the host prepares: everything in double.
struct MotionInput {
    const MotionSetup* setup = nullptr;
    const Bodies* bodies = nullptr;
    std::vector<double> strength; ///< scaled into [0.5, 1) at most
    std::vector<double> factor;   ///< see acceleration_of
    int strength_exponent = 0;    ///< that of `strength`'s scaling
    Unscale unscale;              ///< of fields
    double frame_scale = 1.0;
    double frame_softening = 0.0;
    double sign = 1.0; ///< of the sums, where they do not carry that of the kernel
    [[nodiscard]] int n() const { return static_cast<int>(strength.size()); }
};

/// 2^exponent as two factors, neither of which overflows.
inline Unscale power_of_two(int exponent) {
    return {std::ldexp(1.0, exponent / 2), std::ldexp(1.0, exponent - exponent / 2)};
}

/// The bodies [begin, begin + n) on their GPU. Work on them is queued on `stream`.
struct StatePart {
    StatePart(const MotionInput& input, int device, int begin, int end, cudaStream_t stream);

    int device, begin, n;
    cudaStream_t stream;
    DeviceArray<double> x, v, a; ///< 3·n
    DeviceArray<double> factor;
    DeviceArray<Control> control;
};

class Stepper {
public:
    virtual ~Stepper() = default;
    /// Queues accelerations at the present places.
    virtual void evaluate() = 0;
    /// Queues steps of length dt.
    virtual void steps(std::uint64_t count, double dt) = 0;
    /// Goes on with sums of these options (MotionSetup::sums).
    virtual void renew(const SumOptions& /*sums*/) {}
    /// Why sums refused the places (MotionSetup::sums), or empty.
    [[nodiscard]] virtual std::string refusal() const { return {}; }
    /// Of the sums since the last call, where they are timed (MotionSetup::times_sums); waits for them.
    virtual double sum_milliseconds() { return 0.0; }
    [[nodiscard]] std::span<StatePart> parts() { return parts_; }

protected:
    std::vector<StatePart> parts_;
};

/// True for the rungs that several GPUs share, and that can be recorded into graphs.
constexpr bool is_for_engine(Rung rung) { return rung == Rung::symmetric || rung == Rung::register_tile; }

/// The steppers; `path` is not `automatic`.
std::unique_ptr<Stepper> make_launched(const MotionInput& input, StepPath path, Rung rung);
/// Null where this GPU cannot hold all blocks at the same time.
std::unique_ptr<Stepper> make_persistent(const MotionInput& input);

} // namespace farfield::cuda
