// Which method computes the forces of a simulation, and what of it tolerance and cost table decide: settled
// once, when it begins.
#pragma once

#include "dynamics/forces/settings.h"
#include "sums/method/problem.h"

#include <farfield/simulation.h>

namespace farfield {

/// The sum of their forces.
SumProblem problem_of_bodies(const SumOptions& options, const Bodies& bodies);

/// For bodies that check_force allows and a simulation of about so many steps. `Method::automatic` takes what
/// ends first by the cost table of this process, and needs a tolerance or an order for anything but every
/// pair; on the CPU the number of threads does not matter.
/// @throws what choose_run_device throws for the method that computes every pair.
ForceSettings settle_force(const ForceOptions& force, Integrator integrator, const Bodies& bodies,
                           double steps);

} // namespace farfield
