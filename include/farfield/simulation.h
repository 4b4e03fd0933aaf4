// Simulations: bodies that move under the forces of a particle sum, or vortices in the plane that move with
// the velocity of one.
//
// Units: whatever the bodies are in; G is an option (1 by default). Energies follow the conventions of sum.h:
// potential energy is ½Σ m_i φ_i for gravity and ½Σ q_i φ_i for Coulomb.
#pragma once

#include <farfield/sum.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// The particles of a simulation. Vectors hold N entries, or 3·N row-major (x y z of body 0, of body 1, …).
struct Bodies {
    std::vector<double> position;  ///< N×3
    std::vector<double> velocity;  ///< N×3
    std::vector<double> mass;      ///< N, ≥ 0 (0: a test particle, which feels gravity and exerts none)
    std::vector<double> charge;    ///< N, or empty for bodies without charge; of vortices the circulations
    std::vector<std::uint64_t> id; ///< N, unique, from 1; left empty, `Simulation` numbers the rows 1 to N

    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(mass.size()); }
    /// @throws InvalidArgument where lengths disagree, a value is not finite, a mass is negative or an id
    /// repeats; names the row (counted from 0).
    void validate() const;
};

/// How vortices whose cores have spread are placed anew: not at all, or on a lattice of vortices with cores
/// as at the start, which interpolate the vorticity by their Gaussians (radial basis functions).
enum class Reinitialise : std::uint8_t { none, rbf };

std::string_view name_of(Reinitialise reinitialise);
template <>
std::optional<Reinitialise> from_name<Reinitialise>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Reinitialise>();

/// `[force]`: how accelerations are computed. With `coulomb` the force is q·E and acceleration divides by
/// mass, so bodies need charges and masses > 0. `hermite4` always computes in double, whatever `precision`.
/// With `vortex2d` bodies are vortices in the plane z = 0, whose `charge` is the circulation: they move with
/// the velocity of the sum, which stands in `velocity`, and masses do nothing. That runs on the CPU.
struct ForceOptions {
    Kernel kernel = Kernel::gravity;
    Method method = Method::direct;
    double G = 1.0;         ///< gravitational (or Coulomb) constant, > 0
    double softening = 0.0; ///< Plummer softening ε ≥ 0
    /// Lengths of a periodic box along x, y and z, as in `SumOptions`; 0: open along that axis. Bodies that
    /// leave [0, length) come back on the other side after each step. On the CPU, with integrators that need
    /// no jerks.
    std::array<double, 3> period{};
    /// Of periodic boxes; simulations take no `vacuum`, whose potential jumps where a body comes back.
    Boundary boundary = Boundary::tin_foil;
    Background background = Background::none; ///< of periodic boxes; gravity needs `uniform`
    double sigma = 0.0;     ///< vortex2d: size σ of the cores at the start; 0: point vortices
    double viscosity = 0.0; ///< vortex2d: ν ≥ 0; cores spread, dσ²/dt = 2ν, and need a σ
    // vortex2d with viscosity: after the step in which cores reach core_growth·sigma, others take their place
    // on a lattice, with cores of size sigma. Circulation, impulse and angular impulse stay.
    Reinitialise reinitialise = Reinitialise::none;
    double core_growth = 1.4142135623730951; ///< > 1; √2: when σ² has doubled
    double overlap = 0.8;                    ///< spacing of the lattice over sigma, > 0, at most 1.5
    double vorticity_threshold = 1e-8;       ///< of the largest |ω|: the lattice covers where there is more
    double residual_tolerance = 1e-6; ///< of ω at the sites, relative, L2; missed: ToleranceNotReached
    /// > 0: accelerations and potentials are compared with exact sums at sampled bodies, at the start and
    /// with each `Diagnostics`. Where the relative error is larger, expansions get a higher order from there
    /// on and the last step is taken again; where none is left, ToleranceNotReached is thrown. 0: nothing is
    /// compared.
    double tolerance = 0.0;
    // Of the fast multipole method, as in `SumOptions`. An order given by hand stays.
    int order = 0;
    int separation = 0;
    int leaf = 0;
    double grading = 0.6;
    M2L m2l = M2L::automatic;
    double theta = 0.0; ///< of the tree code, as in `SumOptions`
    Precision precision = Precision::automatic;
    int threads = 0;
    Isa isa = Isa::automatic;
    Variant variant = Variant::automatic; ///< rung of direct sums; those of the ladder take one GPU
    DeviceChoice device{}; ///< on GPUs the whole simulation stays there; bodies come back for output
    MultiGpu multi_gpu = MultiGpu::threads;  ///< with several GPUs
    Exchange exchange = Exchange::automatic; ///< with several GPUs
    MpiGpu mpi_gpu = MpiGpu::automatic;      ///< with ranks that have a GPU each
    Communicator communicator{}; ///< ranks that share the work of each step; all are given all bodies
};

/// `leapfrog` is kick-drift-kick (order 2, symplectic, reversible); `yoshida4` composes three leapfrogs
/// (Yoshida 1990, order 4, symplectic); `hermite4` is the predictor-corrector of Makino & Aarseth (1992),
/// order 4; `rk4` is the classical Runge-Kutta method, order 4, which vortices take.
enum class Integrator : std::uint8_t { leapfrog, yoshida4, hermite4, rk4 };

/// `[time]`: steps are counted by an integer, t = t0 + n·step; an `end` that is not a multiple of `step`
/// shortens the last step.
struct TimeOptions {
    Integrator integrator = Integrator::leapfrog;
    double step = 0.0;     ///< > 0; with `adaptive` the largest step allowed
    double end = 0.0;      ///< ≥ start time of the bodies
    bool adaptive = false; ///< hermite4 only: one shared step by the criterion of Aarseth (1985)
    double eta = 0.02;     ///< accuracy parameter η of that criterion
};

std::string_view name_of(Integrator integrator);
template <>
std::optional<Integrator> from_name<Integrator>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Integrator>();

/// What a flow of vortices in the plane keeps. The Hamiltonian is `Diagnostics::total`.
struct VortexInvariants {
    double circulation = 0.0;        ///< Σ Γ
    std::array<double, 2> impulse{}; ///< Σ Γ x, Σ Γ y
    double angular_impulse = 0.0;    ///< Σ Γ (|x|² + 2σ²); with viscosity it grows as 4ν Σ Γ
    double hamiltonian_scale = 0.0;  ///< (Σ |Γ|)²/4π: what a change of the Hamiltonian is compared with
    double sigma = 0.0;              ///< of the cores at this time
    std::int64_t count = 0;          ///< of vortices
    // With ForceOptions::reinitialise:
    std::uint64_t reinitialisations = 0; ///< so far
    double residual = 0.0; ///< of the last one: of ω at the sites of the lattice, relative, in the L2 norm
    /// Of the last one: the difference of ω in the middle between four sites, where it is largest; relative,
    /// L2.
    double vorticity_error = 0.0;
};

/// Conserved and structural quantities at one time; every sum is done in one fixed order, so they are
/// bit-identical for any number of threads.
struct Diagnostics {
    double time = 0.0;
    std::uint64_t step = 0; ///< taken so far
    double kinetic = 0.0;
    double potential = 0.0;
    double total = 0.0; ///< of vortices the Hamiltonian ½Σ Γ ψ = −(1/4π) ΣΣ Γᵢ Γⱼ ln rᵢⱼ, of blobs with E₁
    /// (E − E₀)/|E₀| against the first diagnostics of the simulation; E − E₀ where E₀ = 0. Of vortices
    /// (H − H₀)/`hamiltonian_scale`, as the unit of length decides where H is 0; 0 with viscosity, which does
    /// not keep H.
    double relative_energy_error = 0.0;
    std::array<double, 3> momentum{};
    std::array<double, 3> angular_momentum{}; ///< about the origin; in periodic boxes not a number
    double virial_ratio = 0.0;                ///< −T/V; 0 where V = 0; in periodic boxes not a number
    /// Radii about the density centre that hold 10, 50, 90 % of the mass; in periodic boxes not a number.
    std::array<double, 3> lagrangian_radii{};
    // With a tolerance: relative errors in the L2 norm, from exact sums at sampled bodies. Otherwise 0.
    double acceleration_error = 0.0;
    /// Of the potentials that `potential` is summed from; not a number where GPUs compute every pair.
    double potential_error = 0.0;
    std::optional<VortexInvariants> vortices{}; ///< of vortices; then the rest but errors and `total` is 0
};

/// Bodies, a force and an integrator; advanced step by step by the caller. `run_case` (run.h) adds files
/// around it.
class Simulation {
public:
    /// Evaluates the first accelerations; `stop_requested` is asked now and then meanwhile.
    /// @throws InvalidArgument for bodies or options that are not allowed (names the value and the remedy);
    ///         ToleranceNotReached; Interrupted where `stop_requested` said so.
    Simulation(Bodies bodies, const ForceOptions& force, const TimeOptions& time, double start_time = 0.0,
               const std::function<bool()>& stop_requested = {});
    Simulation(Simulation&&) noexcept;
    Simulation& operator=(Simulation&&) noexcept;
    ~Simulation();

    /// Advances one step (the last one may be shorter). Does nothing once `finished()`. On GPUs the step is
    /// queued, and what goes wrong in it is thrown by a later call, at the latest by `bodies`. On the CPU
    /// `stop_requested` is asked now and then within a step of many bodies; where it says so, the step is
    /// given up, and the simulation is as before it.
    /// @throws InvalidArgument naming step and body where an acceleration stops being finite; the state is
    ///         then that of an unfinished step, not to be continued from. DeviceError.
    void step(const std::function<bool()>& stop_requested = {});
    /// Takes `count` steps, or fewer: where the end comes first, or where `stop_requested` says so, which is
    /// asked after each step and within steps of many bodies, as in `step`. Ranks stop together where one is
    /// asked to.
    /// @throws as `step` does.
    void steps(std::uint64_t count, const std::function<bool()>& stop_requested = {});
    /// Steps until the time is `time_end` or the end of the options, whichever is first. A `time_end` between
    /// two steps shortens the last one, and later steps are counted from there. Ends early where
    /// `stop_requested` says so, which is asked after each step and within steps of many bodies, as in `step`
    /// (on GPUs about twenty times a second).
    /// @throws InvalidArgument for a time that is not finite or has passed; as `step` does.
    void advance_to(double time_end, const std::function<bool()>& stop_requested = {});

    /// Replaces the positions (N×3), or the velocities, and evaluates the accelerations anew, in which
    /// `stop_requested` is asked as in the constructor. Later energy errors refer to the next diagnostics.
    /// @throws InvalidArgument for another count, values that are not finite and bodies whose accelerations
    ///         are not; Interrupted; DeviceError. The bodies are then as before.
    void set_positions(std::span<const double> positions, const std::function<bool()>& stop_requested = {});
    void set_velocities(std::span<const double> velocities, const std::function<bool()>& stop_requested = {});
    /// Replaces step, end, `adaptive` and `eta` from the present time on, at which fixed steps are counted
    /// anew. @throws InvalidArgument for options that are not allowed, or another integrator.
    void set_time_options(const TimeOptions& options);

    [[nodiscard]] bool finished() const;
    [[nodiscard]] double time() const;
    [[nodiscard]] std::uint64_t step_count() const;
    /// Steps left at the present step length.
    [[nodiscard]] std::uint64_t steps_remaining() const;
    /// The bodies as they are now. Their arrays stay where they are for the life of the simulation, also when
    /// it is moved, so that views of them see each step (but where vortices are placed anew, see
    /// `ForceOptions::reinitialise`: then there are others, in other arrays); on GPUs they follow when this
    /// is called, which waits for the steps queued there. @throws InvalidArgument as `step` does,
    /// DeviceError.
    [[nodiscard]] const Bodies& bodies() const;
    [[nodiscard]] const ForceOptions& force_options() const;
    [[nodiscard]] const TimeOptions& time_options() const;
    /// What the caller should know of the options: a shortened last step, a precision that is not used.
    [[nodiscard]] const std::vector<std::string>& notes() const;
    /// Accelerations as last evaluated, N×3: at the present positions, with hermite4 at the predicted ones.
    [[nodiscard]] const std::vector<double>& acceleration() const;
    /// Computes the diagnostics of the present state. With a tolerance that the accelerations miss the last
    /// step is taken again, with a higher order: the bodies then move by the error that was found. @throws
    /// ToleranceNotReached; Interrupted where `stop_requested`, asked now and then with many bodies on the
    /// CPU, said so.
    [[nodiscard]] Diagnostics diagnostics(const std::function<bool()>& stop_requested = {});
    /// Directed pairs evaluated and seconds spent in forces since construction.
    [[nodiscard]] double pairs_evaluated() const;
    [[nodiscard]] double force_seconds() const;

private:
    friend struct SimulationAccess; // checkpoints (src/dynamics) read and restore the complete state
    struct Impl;
    explicit Simulation(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace farfield
