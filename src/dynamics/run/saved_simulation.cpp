// Simulations as files and as bytes, in the format of checkpoints: what is loaded goes on to the same bits.
#include "dynamics/run/checkpoint.h"
#include "io/seal.h"
#include "run/checkpoint.h"
#include "run/sealed_file.h"

#include <farfield/error.h>
#include <farfield/farfield.h>
#include <farfield/run.h>

#include <fmt/format.h>

#include <utility>

namespace farfield {
namespace {

constexpr const char* other_machine_remedy = "begin a new simulation from its bodies where it was saved";

std::vector<std::byte> image_of(const Simulation& simulation) {
    Checkpoint checkpoint;
    checkpoint.state = SimulationAccess::capture(simulation);
    checkpoint.start_time = checkpoint.state.time;
    checkpoint.force = simulation.force_options();
    checkpoint.time = simulation.time_options();
    checkpoint.backend = SimulationAccess::backend(simulation);
    checkpoint.version = std::string(version());
    return checkpoint_image(checkpoint);
}

// Automatic choices stay what they were: others would give other last bits.
Simulation simulation_of(Checkpoint checkpoint, const std::filesystem::path& name) {
    require_this_version(name, checkpoint.version, other_machine_remedy);
    auto force = checkpoint.force;
    if (force.device.kind == DeviceKind::automatic) force.device = {.kind = checkpoint.backend.device};
    if (checkpoint.backend.device == DeviceKind::cpu) force.isa = checkpoint.backend.isa;
    try {
        auto simulation = SimulationAccess::restore(std::move(checkpoint.state), force, checkpoint.time);
        if (SimulationAccess::backend(simulation) == checkpoint.backend) return simulation;
    } catch (const BackendUnavailable& error) {
        throw BackendUnavailable(
            fmt::format("the simulation in '{}' cannot be continued here: {}", name.string(), error.what()));
    }
    throw BackendUnavailable(fmt::format("the simulation in '{}' used another variant of the sums ({}); {}",
                                         name.string(), name_of(checkpoint.backend.variant),
                                         other_machine_remedy));
}

} // namespace

void save_simulation(const Simulation& simulation, const std::filesystem::path& path) {
    write_with_seal(path, image_of(simulation));
}

Simulation load_simulation(const std::filesystem::path& path) {
    return simulation_of(read_checkpoint(path), path);
}

std::vector<std::byte> simulation_bytes(const Simulation& simulation) { return image_of(simulation); }

Simulation simulation_from_bytes(std::span<const std::byte> bytes) {
    constexpr const char* name = "a simulation's bytes";
    return simulation_of(checkpoint_from_image(bytes, name), name);
}

} // namespace farfield
