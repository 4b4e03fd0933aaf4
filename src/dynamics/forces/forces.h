// The accelerations of a simulation: one SumPlan whose points follow the bodies, scaled by G and, for
// charges, by q/m. hermite4 takes accelerations and jerks from sums/direct/cpu/jerk.h instead.
#pragma once

#include "dynamics/bodies/body_rows.h"
#include "dynamics/forces/compare.h"
#include "dynamics/forces/settings.h"
#include "sums/points/homes.h"

#include <farfield/simulation.h>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace farfield {

/// What decides the bits of a sum, besides its input.
struct ForceBackend {
    DeviceKind device = DeviceKind::cpu;
    Isa isa = Isa::automatic;
    Variant variant = Variant::automatic;
    Precision precision = Precision::float64;
    friend bool operator==(const ForceBackend&, const ForceBackend&) = default;
};

/// A potential energy, and how far the sums behind it and the accelerations are off.
struct CheckedEnergy {
    double potential_energy = 0.0; ///< ½ Σ s_i φ_i with s the masses or charges, in double
    ForceErrors errors;            ///< 0 without a tolerance
};

class Forces {
public:
    /// For options, and later for bodies, that check_force (checks.h) allows. `settings` outlives it.
    /// @param rows  those that the bodies are, of all ranks' bodies; they outlive it, too
    Forces(const ForceOptions& options, ForceSettings& settings,
           const BodyRows& rows = BodyRows::all_of_them())
        : options_(options), settings_(settings), rows_(rows) {}

    /// Asked now and then within each evaluation from now on; where it says so, the evaluation is given up
    /// with `Interrupted`. Empty: never.
    void watch(std::function<bool()> stop_requested) { stop_requested_ = std::move(stop_requested); }
    [[nodiscard]] bool is_watched() const { return static_cast<bool>(stop_requested_); }

    /// Accelerations (N×3) at `position` (N×3) of the bodies.
    /// @throws InvalidArgument naming the body whose acceleration is not finite; BackendUnavailable.
    void accelerations(const Bodies& bodies, const std::vector<double>& position, std::vector<double>& out);

    /// Accelerations and their time derivatives (both N×3) at the given positions and velocities, in double;
    /// for methods with supports_jerk (method_support.h).
    void accelerations_and_jerks(const Bodies& bodies, const std::vector<double>& position,
                                 const std::vector<double>& velocity, std::vector<double>& acceleration,
                                 std::vector<double>& jerk);

    /// How many bodies all ranks have, of which `here` are this one's.
    [[nodiscard]] std::int64_t all_bodies(const Bodies& here) const { return rows_.all(here); }

    /// With a tolerance the potentials, and these accelerations at the positions of the bodies, are compared.
    CheckedEnergy energy(const Bodies& bodies, const std::vector<double>& acceleration);

    /// Of the bodies at the places of the last accelerations.
    [[nodiscard]] Homes homes() const;

    /// The settings have changed: from now on sums are computed by them.
    void renew();

    /// The backend of the last accelerations.
    [[nodiscard]] const ForceBackend& backend() const { return backend_; }
    [[nodiscard]] const ForceOptions& options() const { return options_; }
    [[nodiscard]] const ForceSettings& settings() const { return settings_; }
    [[nodiscard]] double pairs() const { return pairs_; }
    [[nodiscard]] double seconds() const { return seconds_; }

private:
    [[nodiscard]] ForceErrors compared(const Bodies& bodies, const std::vector<double>& acceleration,
                                       const std::vector<double>& potential) const;
    void check_places(const Bodies& bodies, const std::vector<double>& position) const;
    void set_points(std::optional<SumPlan>& plan, const std::vector<double>& position, Precision precision);
    [[nodiscard]] const std::vector<double>& strengths(const Bodies& bodies) const;
    void scale(const Bodies& bodies, std::vector<double>& field) const;

    ForceOptions options_;
    ForceSettings& settings_;
    const BodyRows& rows_;
    std::function<bool()> stop_requested_;
    ForceBackend backend_;
    std::vector<double> in_box_;            // of periodic boxes: positions that the plans were given
    std::optional<SumPlan> field_plan_;     // of options_.precision
    std::optional<SumPlan> potential_plan_; // double; not used where field_plan_ is double already
    double pairs_ = 0.0;
    double seconds_ = 0.0;
};

} // namespace farfield
