// Where a simulation runs: decided once, when it is made.
#pragma once

#include <farfield/simulation.h>

#include <cstdint>
#include <string>
#include <vector>

namespace farfield {

struct Place {
    DeviceKind kind = DeviceKind::cpu; ///< never `automatic`
    std::vector<int> gpus;             ///< of cuda: at least one
    std::string note;                  ///< what the user should know, or empty
};

/// The place that `force.device` stands for, for n bodies and this many steps. `automatic` takes the first
/// GPU where the whole run is expected to end sooner there, by rates measured on this machine.
/// @throws InvalidArgument for hermite4 on a GPU, BackendUnavailable for a GPU that is not there.
Place choose_place(const ForceOptions& force, Integrator integrator, std::int64_t n, double steps);

/// Seconds of a run on a GPU: its start, and for each evaluation of n² pairs what a step takes without any.
double seconds_on_gpu(double evaluations, std::int64_t n, double pairs_per_second);

} // namespace farfield
