// Running a case: initial conditions, a simulation, and the files it leaves behind.
#pragma once

#include <farfield/simulation.h>
#include <farfield/units.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace farfield {

/// Where the bodies of a case come from.
enum class InitialKind : std::uint8_t {
    plummer,
    uniform_sphere,
    hernquist,
    king,
    two_clusters,
    figure_eight,
    solar_system,
    plasma,
    file,
    vortex_pair,
    leapfrogging_pairs,
    vortex_sheet,
    vortex_patch
};
std::string_view name_of(InitialKind kind);
template <>
std::optional<InitialKind> from_name<InitialKind>(std::string_view name);
template <>
std::vector<std::string_view> names_of<InitialKind>();

/// `[initial]`. Only the keys that the kind uses are read; docs/guide/case-file.md says which. Models are in
/// standard N-body units (G = M = 1, E = −1/4) unless the kind says otherwise.
struct InitialOptions {
    InitialKind kind = InitialKind::plummer;
    std::int64_t n = 0;     ///< number of bodies
    std::uint64_t seed = 1; ///< same seed, same bodies, bit for bit, on every machine
    /// plummer, hernquist: largest radius sampled; 0 = none (hernquist: 100 scale lengths, or at least 1.34)
    double cutoff_radius = 0.0;
    double virial_ratio = 0.5; ///< uniform-sphere: −T/V; 0 = cold, 0.5 = equilibrium
    double charge = 0.0; ///< uniform-sphere: Σ|q|, each body carries ±charge/n; 0 = bodies without charge
    double negative_fraction = 0.5; ///< uniform-sphere with charge: share of bodies with negative charge
    double w0 = 6.0;                ///< king: central potential W₀
    // two-clusters: two copies of `model` on an orbit in the x-y plane
    InitialKind model = InitialKind::plummer;
    double mass_ratio = 1.0;  ///< mass of the second over the first, in (0, 1]
    double separation = 10.0; ///< distance of the centres at the start
    double impact_parameter = 0.0;
    double relative_speed = 0.0; ///< speed of approach; 0 = parabolic
    // plasma: as many positive as negative charges in a box, [0, length) along each axis
    std::array<double, 3> box{}; ///< its lengths, > 0; of a case that leaves them out, ForceOptions::period
    double particle_mass = 1.0;
    double particle_charge = 1.0; ///< magnitude of each charge
    double temperature = 1.0;     ///< k_B T, in units of energy: ⟨m v²⟩ along an axis
    std::filesystem::path path;   ///< file: .hdf5/.h5 (GADGET-4), .csv, .npy, .tipsy
    // file, where it does not state its units: all three, as units.h reads them ("kpc", "1e10 Msun", "km/s"),
    // or none
    std::string length_unit;
    std::string mass_unit;
    std::string velocity_unit;
    // vortices in the plane
    double circulation = 1.0;       ///< of the first vortex, of each, or of all together; not 0
    double circulation_ratio = 1.0; ///< vortex-pair: of the second over the first
    double distance = 1.0;          ///< vortex-pair: of the two; leapfrogging-pairs: width of the outer pair
    double width_ratio = 0.5;       ///< leapfrogging-pairs: width of the inner pair over that of the outer
    double length = 1.0;            ///< vortex-sheet
    double amplitude = 0.01;        ///< vortex-sheet: of the sine that displaces it
    std::int64_t waves = 1;         ///< vortex-sheet: periods of the sine
    double radius = 1.0;            ///< vortex-patch: standard deviation of the Gaussian along an axis
};

/// `[output]`: intervals in time units; 0 = only at the start and the end (checkpoints: only by the clock,
/// when interrupted and at the end).
struct OutputOptions {
    double snapshot_every = 0.0;
    double diagnostics_every = 0.0;
    double checkpoint_every = 0.0;
    double checkpoint_clock = 600.0; ///< seconds of the clock between checkpoints; 0 = none by the clock
    double energy_warning = 0.01;    ///< error of the energy at the end that is warned of; 0 = no warning
    bool pictures = true;            ///< a PNG beside each snapshot
    std::string plane = "xy";        ///< projection of the pictures: xy, xz or yz
    bool animation = false;          ///< animation.png of all snapshots when the run ends
    double picture_width = 0.0; ///< width of the picture in length units; 0 = chosen from the first snapshot
};

/// A whole simulation as a case file describes it.
struct Case {
    std::string name; ///< from the file name, or `name` in the file
    InitialOptions initial;
    ForceOptions force;
    TimeOptions time;
    OutputOptions output;
};

/// Reads a case file (TOML) and applies overrides of the form "section.key=value".
/// @throws InvalidArgument with file, line and column, and the nearest known key, for anything that is not
/// allowed;
///         IoError where the file cannot be read.
Case read_case(const std::filesystem::path& path, const std::vector<std::string>& overrides = {});

/// The names of all keys, "section.key", in the order of the table.
std::vector<std::string> case_keys();

/// Every key a case file may have (allowed values, default, unit, meaning), as Markdown tables.
std::string case_key_table();

/// How a simulation starts.
struct InitialState {
    Bodies bodies;
    double time = 0.0;                     ///< of the bodies; 0 unless a file says otherwise
    double G = 1.0;                        ///< the gravitational constant in the units of the bodies
    std::string G_origin{};                ///< file: where G is from, in words
    Units units{};                         ///< of the bodies; N-body units where they have no size
    std::vector<std::string> body_names{}; ///< a name a body; empty: they have none
};

/// Makes the initial state of a case. @throws InvalidArgument naming key, value and what is allowed, also
/// where a file of a cosmological run or in physical units does not tell G; IoError.
InitialState make_initial_state(const InitialOptions& options);

/// The bodies alone, whether or not their G is known. Throws as make_initial_state does otherwise.
Bodies make_bodies(const InitialOptions& options);

/// The gravitational constant in the units of the bodies: what `force.G` should be where a case does not give
/// it. 1, but k² = 0.01720209895² au³ day⁻² per solar mass for solar-system, and what the file says for file.
double natural_G(const InitialOptions& options);

/// What a progress display needs, after each step.
struct RunProgress {
    std::uint64_t step = 0;
    std::uint64_t steps_total = 0; ///< an estimate with adaptive steps
    double time = 0.0;
    double end = 0.0;
    double relative_energy_error = 0.0; ///< of the last diagnostics row
    double pairs_per_second = 0.0;
    double seconds_elapsed = 0.0;
    double seconds_left = 0.0;
};

/// How the caller watches and stops a run. All may be empty.
struct RunHooks {
    std::function<void(const RunProgress&)> progress;
    std::function<bool()> stop_requested;            ///< polled after each step
    std::function<void(const std::string&)> message; ///< one line: warnings and notes
};

struct RunSettings {
    std::filesystem::path
        out; ///< created if missing; refused if it holds an earlier run and `restart` is false
    bool restart = false;
};

struct RunResult {
    bool finished = false; ///< false: stopped by `stop_requested`, checkpoint written
    double time = 0.0;
    std::uint64_t steps = 0;
    double relative_energy_error = 0.0;
    /// |E − E₀| / max(|E₀|, (T₀ + |V₀|)/10) of the last row of diagnostics: it tells the quality of a run
    /// also where E₀ is about 0.
    double energy_error = 0.0;
    // With a tolerance: the largest relative errors found at the start and at rows of diagnostics, in the L2
    // norm.
    double acceleration_error = 0.0;
    double potential_error = 0.0;
    std::string warning; ///< that energy_error exceeds output.energy_warning; empty: it does not
    std::vector<std::filesystem::path> files; ///< everything the run left in `out`
};

/// Runs a case to its end, or until `stop_requested`, writing into `settings.out`:
///
///   case.toml         the case with every option it uses; `read_case` reads it back
///   diagnostics.csv   of bodies
///   time,kinetic,potential,total,relative_energy_error,px,py,pz,lx,ly,lz,virial_ratio,
///                     r10,r50,r90, one row an output time; diagnostics.png plots it; with a tolerance also
///                     acceleration_error,potential_error; of periodic boxes without lx to r90;
///                     of vortices time,step,circulation,impulse_x,
///                     impulse_y,angular_impulse,hamiltonian,hamiltonian_error,sigma
///   snapshot_NNNN.h5  (and .png) from 0000, GADGET-4 layout; animation.png, if asked for, when the run ends
///   checkpoint.h5     and checkpoint.previous.h5, the one before it
///   summary.json      machine, options, timings: the only file with wall-clock times in it
///
/// The k-th output of a kind is written after the first step that ends at or after start + k·every; steps are
/// never cut to meet it. Start and end are always written.
///
/// With `restart` the run continues from the newest checkpoint that is whole, and snapshots and
/// diagnostics.csv become byte-identical to those of an undisturbed run, however often and wherever it was
/// killed. Without a checkpoint it starts from the beginning. What decides the results must be the same as
/// before; these may change: time.end (to later; an end that is not on the output grid leaves its extra row
/// and snapshot), output.checkpoint_every, checkpoint_clock, energy_warning, pictures, animation, threads.
/// The instruction set stays that of the checkpoint, and so do a method and an order that the run chose.
///
/// @throws InvalidArgument for a case that is not allowed, a folder with an earlier run and no `restart`, a
///         checkpoint of another case, version or ISA; IoError where the folder or a file cannot be written
///         or every checkpoint is damaged; BackendUnavailable where this machine cannot go on to the bit;
///         ToleranceNotReached where force.tolerance is missed and nothing does better, checkpoints stay.
RunResult run_case(const Case& simulation_case, const RunSettings& settings, const RunHooks& hooks = {});

/// Writes the complete state and the options of a simulation, in the format of checkpoint.h5; an earlier file
/// is replaced as a whole. @throws IoError.
void save_simulation(const Simulation& simulation, const std::filesystem::path& path);

/// The simulation of such a file, or of the checkpoint of a run; it goes on to the same bits as the one that
/// was saved.
/// @throws IoError where the file cannot be read or is damaged; InvalidArgument for one of another version of
///         Farfield; BackendUnavailable where this machine cannot go on to the bit.
Simulation load_simulation(const std::filesystem::path& path);

/// The same in memory, without a checksum.
std::vector<std::byte> simulation_bytes(const Simulation& simulation);
Simulation simulation_from_bytes(std::span<const std::byte> bytes);

} // namespace farfield
