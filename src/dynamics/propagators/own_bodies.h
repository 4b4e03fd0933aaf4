// Steps on ranks that have bodies of their own. The methods of sums that take each rank's points
// (MethodInfo::takes_own_points) send them where they are summed over, by the places that they have and the
// work that they are at each evaluation. Where many have to travel, the bodies move there for good, and a
// rank keeps its own in the order of the sum's tree, so that neighbours in space are neighbours in memory.
// Neither accelerations nor what is compared depends on who has which bodies: a run may be stopped and go on
// anywhere. All bodies come together for what is written or asked for.
#pragma once

#include "dynamics/bodies/body_rows.h"
#include "dynamics/propagators/host.h"

#include <optional>

namespace farfield {

class OwnBodiesPropagator final : public Propagator {
public:
    /// Called by all ranks, which all have all bodies, and but for rank 0 let go of them
    /// (PropagatorOptions::releases). Of `force` each rank gives its own to sums.
    OwnBodiesPropagator(const PropagatorOptions& options, const ForceOptions& force, MotionState& motion,
                        const std::string& note);

    void watch(const std::function<bool()>& stop_requested) override { steps_->watch(stop_requested); }
    void advance(const Steps& steps) override;
    void capture(bool diagnostics) override { with_diagnostics_ = diagnostics; }
    /// The state comes to `motion` of rank 0 alone.
    std::optional<Diagnostics> fetch() override;
    [[nodiscard]] bool overlaps() const override { return false; }
    /// The state comes to `motion` of all ranks, which all make this call.
    void update_motion() override;
    void release() override;
    /// How many bodies went from rank to rank so far.
    [[nodiscard]] std::int64_t moved() const { return moved_; }
    [[nodiscard]] std::uint64_t batch(double seconds) const override { return steps_->batch(seconds); }
    [[nodiscard]] ForceBackend backend() const override { return steps_->backend(); }
    [[nodiscard]] double pairs() const override { return steps_->pairs(); }
    [[nodiscard]] double seconds() const override { return steps_->seconds(); }
    [[nodiscard]] std::vector<std::string> notes() const override { return steps_->notes(); }

private:
    void bring_to_root();
    /// Bodies move to the ranks that sum over them, if many are elsewhere, or out of order.
    void deal();

    MotionState& motion_; ///< of all bodies
    ForceOptions force_;
    bool has_charges_;
    BodyRows rows_;
    MotionState own_;
    std::optional<HostPropagator> steps_; ///< of `own_`
    bool with_diagnostics_ = false;
    std::int64_t moved_ = 0; ///< bodies that went from rank to rank
    // Of all ranks alike.
    bool is_everywhere_ = false; ///< `motion_` is the present state
    bool is_released_ = false;   ///< `motion_` of ranks but 0 is empty
};

} // namespace farfield
