// Where a simulation runs: decided once, when it is made.
#pragma once

#include "sums/costs/cost_table.h"

#include <farfield/simulation.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

struct RunDevice {
    DeviceKind kind = DeviceKind::cpu; ///< never `automatic`
    std::vector<int> gpus;             ///< of cuda: at least one
    std::string note;                  ///< what the user should know, or empty
};

/// The device that `force.device` stands for, for n bodies and this many steps. `automatic` takes the first
/// GPU if the whole run ends sooner there by the cost table of this process.
/// @throws InvalidArgument for hermite4 on a GPU, BackendUnavailable for a GPU that is not there, and what
/// loading the user's cost table throws.
RunDevice choose_run_device(const ForceOptions& force, Integrator integrator, std::int64_t n, double steps);

/// Why this method runs no simulations on the GPU that was asked for.
std::string why_not_resident(const ForceOptions& force, Method method);

/// Evaluations of the forces in so many steps.
double evaluations_in(Integrator integrator, double steps);

/// True where the options leave something to the cost table: the device, the method or the shape of its tree.
bool leaves_to_cost_table(const ForceOptions& force);

/// Hash of the cost table of this process; empty if the options leave it nothing to choose. Throws as loading
/// the table does.
std::string deciding_cost_table(const ForceOptions& force);

/// What a run on a GPU costs.
struct GpuRunRates {
    double start_seconds = 0.0;    ///< CUDA, the code, and the bodies on their way
    double step_seconds = 0.0;     ///< of an evaluation of hardly any pairs
    double pairs_per_second = 0.0; ///< directed pairs
};

/// start + evaluations · (step + n² / rate)
double seconds_on(const GpuRunRates& rates, double evaluations, std::int64_t n);

/// The rates of a GPU by the name that CUDA gives it.
GpuRunRates gpu_run_rates(const CostTable& table, std::string_view gpu_name, Precision precision);

/// True if this many evaluations of n² pairs end sooner on that GPU than on the CPU that the options name.
/// A pure function of its arguments.
bool gpu_ends_sooner(const CostTable& table, std::string_view gpu_name, const ForceOptions& force,
                     double evaluations, std::int64_t n);

} // namespace farfield
