// Conserved and structural quantities of a set of bodies; all sums in fixed order (reductions.h).
#pragma once

#include <farfield/simulation.h>

namespace farfield {

/// Everything but relative_energy_error, from a potential energy computed elsewhere. In a periodic box the
/// Lagrangian radii (radii.h) and the angular momentum depend on where its borders lie, and are not a number.
Diagnostics compute_diagnostics(const Bodies& bodies, double time, double potential_energy, bool periodic,
                                int threads);

/// −T/V, 0 where V = 0. Of a periodic box it is not a number: there Clausius' theorem has the pressure P of
/// the box, 2T + W = 3P × volume (Allen and Tildesley, Computer Simulation of Liquids, section 2.4), so that
/// no value of −T/V stands for equilibrium; and the virial W = Σ r·F of softened images is not V.
double virial_ratio(double kinetic, double potential, bool periodic);

/// (E − E₀)/|E₀|; E − E₀ where E₀ = 0.
double relative_energy_error(double energy, double initial_energy);

} // namespace farfield
