// The flow of the vortices of a simulation: their velocities and stream function from a sum over the plane
// z = 0, and what the flow keeps.
#pragma once

#include "dynamics/forces/compare.h"
#include "dynamics/forces/forces.h"
#include "dynamics/forces/settings.h"

#include <farfield/simulation.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace farfield {

/// @throws InvalidArgument for bodies that are no vortices in the plane z = 0, and for options, integrators
/// and devices that do not go with them.
void check_vortices(const ForceOptions& options, Integrator integrator, const Bodies& bodies);

class VortexFlow {
public:
    /// For options that check_vortices allows, with a precision. `settings` outlives it.
    VortexFlow(const ForceOptions& options, ForceSettings& settings)
        : options_(options), settings_(settings) {}

    /// As Forces::watch.
    void watch(std::function<bool()> stop_requested) { stop_requested_ = std::move(stop_requested); }

    /// Velocities (N×3, z = 0) of the vortices at `position` (N×3), with cores of size² `variance`.
    /// @throws InvalidArgument naming the vortex whose place or velocity is not finite.
    void velocities(const Bodies& vortices, const std::vector<double>& position, double variance,
                    std::vector<double>& out);

    /// What is kept, as a row of diagnostics, at the positions of the vortices.
    Diagnostics invariants(const Bodies& vortices, double variance);
    /// Errors of these velocities, and of the stream function that the last invariants were computed from.
    [[nodiscard]] ForceErrors compare(const Bodies& vortices, double variance) const;

    /// As Forces::renew.
    void renew();

    [[nodiscard]] const ForceBackend& backend() const { return backend_; }
    [[nodiscard]] const ForceOptions& options() const { return options_; }
    [[nodiscard]] double pairs() const { return pairs_; }
    [[nodiscard]] double seconds() const { return seconds_; }

private:
    struct Plan {
        std::optional<SumPlan> sum;
        double variance = -1.0;
        std::int64_t rows = 0;
    };

    void set_points(Plan& plan, const std::vector<double>& position, double variance,
                    Precision precision) const;

    ForceOptions options_;
    ForceSettings& settings_;
    std::function<bool()> stop_requested_;
    ForceBackend backend_;
    Plan velocity_plan_; ///< of options_.precision
    Plan stream_plan_;   ///< in double
    std::vector<double> stream_;
    double pairs_ = 0.0;
    double seconds_ = 0.0;
};

} // namespace farfield
