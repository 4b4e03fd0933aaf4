// Sums over particles: φ(x_i) = Σ_j q_j K(x_i − y_j) and what derives from it, by a chosen method on a chosen
// machine.
//
// Sign conventions (docs/guide/conventions.md): gravity φ(x) = −Σ m/√(r²+ε²), Coulomb φ(x) = Σ q/√(r²+ε²);
// field = −∇φ for both, so a positive mass attracts and a positive charge repels. A point does not act on
// itself, also when softened. G = 1 and 1/(4πε₀) = 1: scale the strengths for other units. laplace2d:
// φ = −Σ q ln r, complex; gauss: φ = Σ q exp(−r²/2σ²), in which a point counts itself, and +∇φ. vortex2d: the
// stream function −Σ Γ ln r/2π as the potential and the velocity as the field, u − iv = Σ Γ/(2πi(z − z_j)).
#pragma once

#include <farfield/array.h>
#include <farfield/sum_options.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace farfield {

/// How far one output is from the exact sums of the same inputs, at sampled targets.
struct OutputError {
    Output output = Output::potential;
    /// Root of the squared differences, scaled from the samples to all targets, over the norm of the computed
    /// output; of a kernel judged by its largest error: the largest difference over the largest output. A
    /// field in a periodic box that is at most `tolerance`·q/a², as in a perfect crystal, counts as q/a²,
    /// with the root mean square q of strengths and the distance a of evenly spread ones, unless they are
    /// softened over more than a.
    double relative = 0.0;
    bool largest = false; ///< `relative` is the largest difference seen at the samples
    // Of the samples, differences over the root mean square (or the largest) of the computed output:
    double median = 0.0;
    double percent_99 = 0.0;
    double maximum = 0.0;
    std::int64_t samples = 0;
};

/// How far one output is from the exact sums of the same inputs at most: no estimate, but a bound.
struct OutputBound {
    Output output = Output::potential;
    double relative = 0.0; ///< ‖error‖ over the norm of the exact output, L2 over all targets
};

/// Seconds of one pass of a method.
struct PassTime {
    std::string name;
    double seconds = 0.0;
};

/// What only sums of every pair have.
struct DirectReport {
    std::int64_t pairs = 0; ///< directed interactions counted: M·N, or N·(N−1) where targets are the sources
    double pairs_per_second = 0.0;
    Variant variant = Variant::automatic; ///< the one really used
    std::int64_t coincident_pairs_skipped = 0;
};

/// What only the fast multipole method has.
struct FmmReport {
    int order = 0;            ///< p really used; 0 where the method is another
    M2L m2l = M2L::automatic; ///< the one really used
    int separation = 0;       ///< cells up to this distance act point by point
    int coarse = 0;           ///< cells an axis of the tree's level 0
    int levels = 0;           ///< of the tree
    std::int64_t cells = 0;   ///< of all levels
    std::int64_t leaves = 0;
    std::int64_t near_pairs = 0; ///< directed pairs that were computed one by one
    double multiply_adds = 0.0;  ///< of M2L, with padding, and about those of P2M and L2P
    double tree_seconds = 0.0;   ///< of `prepare_seconds`, on a GPU: keys, sorting, cells and lists
};

/// What only the fast Gauss transform has.
struct FgtReport {
    GaussStrategy strategy = GaussStrategy::automatic; ///< that was taken
    int width = 0;                 ///< grid points that a point touches along an axis; 0: no grid
    std::int64_t grid_numbers = 0; ///< of the grid
    double cutoff = 0.0;           ///< of pairs and boxes: farther ones are left out, in σ
    std::int64_t cells = 0;        ///< of pairs: those that hold targets
    std::int64_t near_pairs = 0;   ///< that were computed one by one
    std::int64_t clusters = 0;     ///< of sources
    /// Of clusters' longest expansion, whose terms are of total degree < order; of boxes' expansions, whose
    /// terms are of degree < order along each axis, 0 for none.
    int order = 0;
    std::int64_t expansion_terms = 0; ///< of clusters, over all targets
    std::int64_t boxes = 0;           ///< that hold sources
    double side = 0.0;                ///< of boxes, the longest, in σ
    // Pairs of boxes that act on each other, by how they do:
    std::int64_t pair_boxes = 0;       ///< point by point
    std::int64_t hermite_boxes = 0;    ///< Hermite expansion of the sources, at the targets
    std::int64_t taylor_boxes = 0;     ///< sources to the Taylor expansion about the targets
    std::int64_t translated_boxes = 0; ///< Hermite expansion to Taylor expansion
    // Of `prepare_seconds`, on a GPU:
    double sort_seconds = 0.0;  ///< of keys and sorting
    double order_seconds = 0.0; ///< to bring points into that order
};

/// What only the tree code has.
struct TreecodeReport {
    int order = 0;       ///< p really used
    double theta = 0.0;  ///< size over distance that cells had to be below; 0: only the estimate decided
    double accuracy = 0; ///< estimate of a cell's error over all that acts on a target; 0: only theta decided
    int levels = 0;      ///< of the tree
    std::int64_t cells = 0;      ///< of all levels
    std::int64_t groups = 0;     ///< of targets that share a walk
    std::int64_t near_pairs = 0; ///< directed pairs that were computed one by one
    std::int64_t far_pairs = 0;  ///< of a cell and a target
    double tree_seconds = 0.0;   ///< of `prepare_seconds`
};

/// What only sums over periodic boxes have.
struct LatticeReport {
    double splitting = 0.0;             ///< α: near images count with erfc(αr)/r, waves with the rest
    double cutoff = 0.0;                ///< of near images, in the length unit of the points
    double wave_cutoff = 0.0;           ///< of wave numbers, in the inverse of that unit; method `ewald`
    std::int64_t near_pairs = 0;        ///< targets times the images that were looked at; of `fmm` in a cube
                                        ///< on CPUs pairs across its faces, of leaves that are neighbours
    std::int64_t waves = 0;             ///< k and −k once; method `ewald`
    std::array<std::int64_t, 3> mesh{}; ///< points along x, y and z; method `pme`
    int order = 0;                      ///< of the splines of method `pme`; of the expansions of the others
    double excess_strength = 0.0;       ///< Σ q, which a uniform background makes up for
    // Of methods that take near images as further points, and far ones by expansions:
    std::int64_t rim_images =
        0;         ///< points in a rim around the box, beside those in it, or on CPUs in its next leaves
    int cells = 0; ///< of the box, each with an expansion
};

/// What was done and how long it took. Filled by `SumPlan::execute`.
struct SumReport {
    std::int64_t sources = 0;
    std::int64_t targets = 0;
    Method method = Method::direct;
    std::string reason; ///< why this method
    // Of a direct sum of fewer than 4096 pairs on the CPU only the whole is measured, as compute_seconds: to
    // look at the clock in between would take about as long as the sum.
    double prepare_seconds = 0.0;
    double compute_seconds = 0.0; ///< all passes; on a GPU by its own clock
    double finish_seconds = 0.0;  ///< checks and copies into the caller's arrays
    double verify_seconds =
        0.0; ///< exact sums at sampled targets, what they need, and bounds; 0 without a tolerance
    std::vector<PassTime> passes;    ///< of `compute_seconds`
    std::vector<OutputError> errors; ///< of the last execution that was compared; empty before
    std::vector<OutputBound> bounds; ///< with `SumOptions::guaranteed`, of the worst vector of strengths
    double predicted_bytes = 0.0;    ///< of memory, beside the caller's arrays
    Isa isa = Isa::automatic;        ///< the one really used; on a GPU `automatic`
    Precision precision = Precision::float64;
    int threads = 0;       ///< that could take part; on a GPU 0
    DeviceChoice device{}; ///< the one really used, never `automatic`; GPUs by number
    /// ½ Σ q φ of a sum of one vector of strengths whose targets are the sources and whose potential was
    /// computed; with dipoles ½ Σ (q φ − p·E), where the field was computed, too.
    std::optional<double> energy{};
    DirectReport direct;     ///< of the methods that compute every pair
    FmmReport fmm;           ///< of method `fmm`
    FgtReport fgt;           ///< of method `fgt`
    TreecodeReport treecode; ///< of method `treecode`
    LatticeReport lattice;   ///< of periodic boxes
    /// Hash of the cost table that `DeviceKind::automatic` followed; empty if the options or the arrays named
    /// the device.
    std::string cost_table{};
};

/// What the sources carry; either may be absent.
struct SumStrengths {
    ConstArrayView charges{}; ///< N masses or charges, N×2 complex ones; several vectors as N×k (N×2k)
    ConstArrayView dipoles{}; ///< N×3, of kernels that have dipoles; several vectors as N×3k
};

/// Where `execute` writes. Absent views are not computed. float32 or float64, whatever the precision. A value
/// has one column a number: complex potentials are M×2.
struct SumOutputs {
    ArrayView potential{}; ///< M, or M×columns
    /// M×dimension, −∇φ; of laplace2d (Re w, −Im w), w = Σ q/(z − z_j); of vortex2d the velocity
    ArrayView field{};
    ArrayView gradient{}; ///< M×dimension, +∇φ
    ArrayView hessian{};  ///< M×6, +∂²φ: xx, xy, xz, yy, yz, zz

    [[nodiscard]] const ArrayView& of(Output output) const {
        switch (output) {
        case Output::potential:
            return potential;
        case Output::field:
            return field;
        case Output::gradient:
            return gradient;
        default:
            return hessian;
        }
    }
    [[nodiscard]] ArrayView& of(Output output) {
        return const_cast<ArrayView&>(
            std::as_const(*this).of(output)); // NOLINT(*-const-cast): its own member
    }
    [[nodiscard]] OutputSet present() const {
        OutputSet set;
        for (int k = 0; k < output_count; ++k)
            if (of(static_cast<Output>(k))) set |= static_cast<Output>(k);
        return set;
    }
};

/// What a long sum calls now and then, from the thread that called `execute`.
struct SumHooks {
    std::function<void(double share)> progress; ///< share of the work done, from 0 to 1
    std::function<bool()> stop_requested;       ///< true: give up; `execute` throws `Interrupted`
};

/// A sum prepared once and executed many times, for new strengths or moved points.
///
/// Points are N×3 (M×3 for targets; two columns for kernels of the plane), float32 or float64, any strides;
/// they are copied in. Every array may lie on the host or, for a sum on a GPU, on that GPU, where it is read
/// and written in place: host and GPU may be mixed. Where the sum runs is settled here, by `options.device`:
/// points on a GPU take the sum there.
class SumPlan {
public:
    /// Targets are the sources themselves: no point acts on itself.
    /// @throws InvalidArgument for a wrong shape, a coordinate that is not finite (names the row), ε < 0 or
    ///         NaN, threads < 0, a kernel that the method does not compute, a variant that does not apply, or
    ///         memory of another device than the sum's; BackendUnavailable for an ISA this CPU lacks or a GPU
    ///         this machine or build lacks; DeviceError where a GPU fails, such as for lack of memory.
    explicit SumPlan(ConstArrayView sources, const SumOptions& options = {});
    /// Separate targets; a target that sits on a source follows `options.coincident`.
    SumPlan(ConstArrayView sources, ConstArrayView targets, const SumOptions& options = {});
    SumPlan(SumPlan&&) noexcept;
    SumPlan& operator=(SumPlan&&) noexcept;
    ~SumPlan();

    /// Computes the outputs that are present. `strengths`: N masses or charges; N×2 for complex ones. Several
    /// vectors of strengths are summed in one call as N×k (complex: N×2k); each output then has k times as
    /// many columns, those of one vector side by side.
    /// @throws InvalidArgument for wrong shapes, an output that the kernel does not have, strengths that are
    ///         not finite (names the row), or, with `Coincident::error`, distinct coincident points without
    ///         softening (names both rows); ToleranceNotReached where `options.tolerance` is not kept;
    ///         Interrupted where a hook asked to stop; DeviceError where a GPU fails. What outputs then hold
    ///         is not defined.
    void execute(ConstArrayView strengths, const SumOutputs& outputs, const SumHooks& hooks = {});

    /// The same for sources with charges, dipoles, or both: φ = Σ q/r + Σ p·(x − y)/r³.
    /// @throws InvalidArgument also for dipoles where kernel or device has none, and where nothing is given.
    void execute(const SumStrengths& strengths, const SumOutputs& outputs, const SumHooks& hooks = {});

    /// Replaces the points (same counts) and keeps everything else.
    void update(ConstArrayView sources);
    void update(ConstArrayView sources, ConstArrayView targets);

    /// What the last `execute` did.
    [[nodiscard]] const SumReport& report() const;
    [[nodiscard]] const SumOptions& options() const;

private:
    friend struct SumPlanAccess;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Result of `sum`; owns its memory. Row-major; empty unless asked for.
struct SumResult {
    std::vector<double> potential; ///< M values (2·M for complex ones)
    std::vector<double> field;     ///< M×dimension
    std::vector<double> gradient;  ///< M×dimension
    std::vector<double> hessian;   ///< M×6: xx, xy, xz, yy, yz, zz
    SumReport report;
};

/// One sum in one call. Throws as `SumPlan` does. The empty set asks for all outputs of the kernel, but for
/// the Hessian.
SumResult sum(ConstArrayView sources, ConstArrayView strengths, const SumOptions& options = {},
              OutputSet wanted = {});
SumResult sum(ConstArrayView sources, ConstArrayView targets, ConstArrayView strengths,
              const SumOptions& options = {}, OutputSet wanted = {});
SumResult sum(ConstArrayView sources, const SumStrengths& strengths, const SumOptions& options = {},
              OutputSet wanted = {});
SumResult sum(ConstArrayView sources, ConstArrayView targets, const SumStrengths& strengths,
              const SumOptions& options = {}, OutputSet wanted = {});

} // namespace farfield
