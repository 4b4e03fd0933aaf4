// Steps of bodies that stay on GPUs: steps are queued there, and the host's arrays follow on demand.
#pragma once

#include "dynamics/cuda/device_motion.h"
#include "dynamics/propagators/propagator.h"

namespace farfield {

class ResidentPropagator final : public Propagator {
public:
    /// Evaluates the accelerations of `motion` in its frame and brings them to the host. `force`: that of the
    /// options with its method settled.
    /// @throws InvalidArgument for bodies whose accelerations are not finite; BackendUnavailable,
    /// DeviceError,
    ///         ToleranceNotReached.
    ResidentPropagator(const PropagatorOptions& options, const ForceOptions& force, MotionState& motion,
                       const std::vector<int>& gpus);

    void advance(const Steps& steps) override;
    void capture(bool diagnostics) override;
    std::optional<Diagnostics> fetch() override;
    /// Sums that the host waits for leave it no time for files, and with a tolerance the last step may have
    /// to be taken again before the next.
    [[nodiscard]] bool overlaps() const override { return computes_every_pair_; }
    void update_motion() override;
    [[nodiscard]] std::uint64_t batch(double seconds) const override;
    [[nodiscard]] ForceBackend backend() const override;
    [[nodiscard]] double pairs() const override;
    [[nodiscard]] double seconds() const override { return device_.seconds(); }
    [[nodiscard]] std::vector<std::string> notes() const override { return {}; }

private:
    [[nodiscard]] double seconds_per_step() const;
    [[nodiscard]] Diagnostics diagnostics_of(const cuda::CapturedState& captured) const;
    /// Waits for the captured state and takes it over.
    const cuda::CapturedState& bring();
    ForceErrors compared();
    void copy_to_motion(const cuda::CapturedState& captured);
    [[noreturn]] void refuse(std::uint64_t evaluation);

    cuda::DeviceMotion device_;
    MotionState& motion_;
    ForceOptions force_;
    bool computes_every_pair_; ///< of open space, by kernels that need no wait
    std::uint64_t evaluations_a_step_;
    double bodies_;
    std::uint64_t queued_ = 0;   ///< steps so far
    std::uint64_t captured_ = 0; ///< steps before the state captured last
    std::uint64_t fetched_ = 0;  ///< steps before the state in `motion_`
    bool with_diagnostics_ = false;
    std::optional<Steps> first_; ///< the first that were queued: they tell which step an evaluation was in
};

} // namespace farfield
