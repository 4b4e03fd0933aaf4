// What an integrator is: one file with a step function and a descriptor. The names in case files, in Python
// and in the docs come from the descriptors; registry.cpp lists them.
#pragma once

#include "dynamics/forces/settings.h"
#include "dynamics/vorticity/reinitialisations.h"
#include "sums/points/prepared.h"

#include <farfield/simulation.h>

#include <span>
#include <string_view>
#include <vector>

namespace farfield {

class Forces;

/// Everything that a step reads and leaves behind; with the step count it is the whole state of a simulation.
struct MotionState {
    Bodies bodies;
    std::vector<double> acceleration; ///< N×3, as last evaluated
    std::vector<double> jerk;         ///< N×3, as last evaluated; empty for integrators without jerks
    double timescale = 0.0;           ///< hermite4: shortest time scale of the motion, for adaptive steps
    Frame frame;                      ///< on GPUs: that of the accelerations
    double core_variance = 0.0;       ///< σ² of the cores of vortices
    Reinitialisations reinitialised;  ///< of vortices
    ForceSettings force;              ///< those that the accelerations come from
};

struct IntegratorDescriptor {
    Integrator value;
    std::string_view name;
    int order;             ///< global error ~ step^order
    bool symplectic;       ///< and time-reversible
    bool uses_jerk;        ///< evaluates accelerations and jerks, in double
    bool on_gpu;           ///< simulations that live on GPUs have it, too
    int evaluations;       ///< of forces a step
    std::string_view text; ///< one line for help and docs
    /// First evaluation at the initial positions.
    void (*start)(MotionState& state, Forces& forces);
    /// Advances the state by dt > 0.
    void (*step)(MotionState& state, Forces& forces, double dt);
};

const IntegratorDescriptor& leapfrog_descriptor();
const IntegratorDescriptor& yoshida4_descriptor();
const IntegratorDescriptor& hermite4_descriptor();
const IntegratorDescriptor& rk4_descriptor();

/// All of them, in the order of the enum's values.
std::span<const IntegratorDescriptor* const> integrators();
const IntegratorDescriptor& descriptor_of(Integrator integrator);

/// Kick-drift-kick: one leapfrog step, shared by leapfrog and yoshida4 (where dt may be negative).
void kick_drift_kick(MotionState& state, Forces& forces, double dt);
/// Accelerations at the present positions.
void start_with_accelerations(MotionState& state, Forces& forces);

/// Step of the Aarseth criterion for state.timescale, η = eta; see hermite4.cpp.
double aarseth_step(const MotionState& state, double eta);
/// Before the first step there are no higher derivatives: η · min |a|/|j| (infinite where all jerks vanish).
double first_aarseth_step(const MotionState& state, double eta);

} // namespace farfield
