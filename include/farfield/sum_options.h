// What a sum can be told: kernel, method, outputs, precision and machine, and their names.
#pragma once

#include <farfield/communicator.h>
#include <farfield/device.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// The pair interaction.
enum class Kernel : std::uint8_t { gravity, coulomb, laplace2d, gauss, vortex2d };

/// The algorithm. `direct` computes every pair with all that the machine has; `fmm`, the fast multipole
/// method, computes near pairs so and the others by expansions, to a tolerance; `reference` computes every
/// pair in the plainest way, for every kernel, to compare with; `fgt`, the fast Gauss transform, sums
/// Gaussians to a tolerance; `treecode`, a tree code, lets far cells of points act by their multipole
/// expansions; `ewald` sums periodic boxes, near images one by one and the others by waves; `pme`, smooth
/// particle-mesh Ewald, has these waves on a mesh. `automatic` takes the one that ends first by the cost
/// table: those that approximate only where a tolerance or an order was given, or where there is a period. A
/// simulation chooses once, when it begins.
enum class Method : std::uint8_t { direct, fmm, reference, fgt, treecode, ewald, pme, automatic };

/// What a sum can compute; which of them a kernel has is in the table of kernels (docs/guide/conventions.md).
enum class Output : std::uint8_t { potential, field, gradient, hessian };
inline constexpr int output_count = 4;

/// A set of outputs. The empty set asks for all that the kernel has, but for the Hessian.
class OutputSet {
public:
    constexpr OutputSet() = default;
    constexpr OutputSet(Output output) // NOLINT(google-explicit-constructor): an output is a set of one
        : bits_(static_cast<std::uint8_t>(1U << static_cast<unsigned>(output))) {}

    [[nodiscard]] constexpr bool has(Output output) const {
        return (bits_ >> static_cast<unsigned>(output) & 1U) != 0;
    }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }
    constexpr OutputSet& operator|=(OutputSet other) {
        bits_ = static_cast<std::uint8_t>(bits_ | other.bits_);
        return *this;
    }
    friend constexpr OutputSet operator|(OutputSet a, OutputSet b) { return a |= b; }
    friend constexpr bool operator==(OutputSet, OutputSet) = default;

private:
    std::uint8_t bits_ = 0;
};
constexpr OutputSet operator|(Output a, Output b) { return OutputSet(a) | OutputSet(b); }

/// Arithmetic of the pair loop. `float32` and `float64` compute in that type, on inputs rounded to it (where
/// all points lie far off compared with their extent, rounded after the origin was moved among them, in
/// double); `mixed` takes coordinate differences from float hi+lo pairs of the double inputs and does the
/// rest in float. float32 gives a relative L2 error of 1e-7 for rounded inputs, up to 8e-7 for charges of
/// both signs, mixed for any. Both refuse points nearer to each other than 1e-38 of the extent, float's
/// range; float64 has no such limit. `automatic` is float64, but for sums with a tolerance of 5e-6 or more:
/// those begin in mixed, and go on in float64 where mixed falls short. A report names what was used.
enum class Precision : std::uint8_t { float32, float64, mixed, automatic };

/// Instruction set of the CPU kernels; `automatic` takes the best this machine has.
enum class Isa : std::uint8_t { automatic, scalar, sse42, avx2, avx512 };

/// What a pair of *distinct* points at the same place does when nothing softens it.
enum class Coincident : std::uint8_t { error, skip };

/// Whether a source's own strength counts where targets are the sources, in kernels that have a value at a
/// point itself (`gauss`). Without it the result at a point is that of all others: leave-one-out.
enum class SelfTerm : std::uint8_t { include, exclude };

/// What the largest error of an output is compared with, of kernels that are judged by it (`gauss`): the
/// largest value of that output, or what it would be at most if all strengths were at one place, Σ|q| for the
/// potential and Σ|q|/(σ√e) for the gradient. The latter is easily met where σ is small.
enum class RelativeTo : std::uint8_t { largest, sum };

/// Rungs of the direct sum (src/sums/direct/README.md); `automatic` takes the fastest that applies. On a CPU:
/// `naive`, `soa`, `simd`, `symmetric`. On GPUs: all but `simd` (src/sums/direct/cuda/README.md). `symmetric`
/// computes each pair once and needs targets = sources, as all rungs do but `naive`, `soa` and `simd` on a
/// CPU and `register_tile`. `atomics` and `atomics_tiled` are not bit-identical from run to run. `tensor`
/// computes the field in precision `float` and nothing else; `automatic` does not take it.
enum class Variant : std::uint8_t {
    automatic,
    naive,
    soa,
    simd,
    symmetric,
    one_thread,
    constant,
    rsqrt,
    shared,
    unrolled,
    softened,
    fma,
    unrolled_128,
    flush,
    two_loops,
    atomics,
    atomics_tiled,
    fast_math,
    float4,
    atomics_pointer,
    atomics_index,
    register_tile,
    tensor
};

/// How the fast multipole method takes multipole to local expansions of 1/r (in the plane there is one way):
/// by one product for all mirror images of an offset, by rotation to the z axis, or by a plain product for
/// each offset, to compare with. `automatic` takes the one of the first two that ends first by the cost
/// table.
enum class M2L : std::uint8_t { automatic, mirrored, rotation, matrix };

/// How the fast Gauss transform sums: by a regular grid, pair by pair up to a cut-off, by expansions of
/// clusters of sources, or by Hermite and Taylor expansions of boxes. `automatic` takes what ends first by
/// the cost table.
enum class GaussStrategy : std::uint8_t { automatic, grid, pairs, clusters, boxes };

/// What lies around the images of a periodic box, which fill a growing sphere: a conductor, which screens the
/// dipole moment M of the box, or nothing. The latter adds 2π|M|²/3V to the energy, with M from the positions
/// as they are given.
enum class Boundary : std::uint8_t { tin_foil, vacuum };

/// What a periodic box holds beside its sources. `uniform`: as much of the opposite strength as all sources
/// have, spread evenly, so that the sum exists.
enum class Background : std::uint8_t { none, uniform };

/// Everything a sum can be told. Plain data; defaults are what most users want.
///
/// `threads` and `isa` are for the CPU. A sum on a GPU ignores `isa`, and uses `threads` only to look again,
/// on the CPU, at rows whose result is not finite. With `DeviceKind::automatic` an `isa`, or a variant that
/// only the CPU has, asks for the CPU; otherwise times computed from a cost table decide, for one execution
/// of the plan. No clock is read: the same options, points, GPUs and table give the same device.
struct SumOptions {
    Kernel kernel = Kernel::gravity;
    Method method = Method::direct;
    double softening = 0.0; ///< Plummer softening ε ≥ 0, in the length unit of the points
    /// In the length unit of the points. gauss: the width σ > 0; vortex2d: the size of the vortices' Gaussian
    /// core, 0 for point vortices.
    double sigma = 0.0;
    /// Lengths of a periodic box along x, y and z, in the length unit of the points; 0: open along that axis.
    /// All images of all sources act, a point's own images, too, but not the point itself. Of kernels
    /// `coulomb` and, with a background, `gravity`.
    std::array<double, 3> period{};
    Boundary boundary = Boundary::tin_foil;   ///< of boxes that are periodic along all axes
    Background background = Background::none; ///< of the same
    SelfTerm self_term = SelfTerm::include;
    /// > 0: every output is compared with exact sums at sampled targets, once a plan, and `execute` throws
    /// where its relative error is larger. 0: nothing is compared.
    double tolerance = 0.0;
    RelativeTo relative_to = RelativeTo::largest;
    /// A bound of every output's error, not only what samples show, has to be within the tolerance, or
    /// `execute` throws. Method `fmm` alone has bounds, without softening (src/sums/fmm/README.md,
    /// "Guaranteed bounds").
    bool guaranteed = false;
    // Of the fast multipole method; by default the library chooses them, from the tolerance and the cost
    // table. The tree code has an order and a leaf, too.
    int order = 0;  ///< p ≥ 1 of the expansions, which have (p + 1)² coefficients, in the plane p + 1
    int depth = -1; ///< ≥ 0: a uniform tree whose leaves are 8^depth cells, in the plane 4^depth
    /// 1 or 2: cells up to this distance act point by point (`ws`); 0: 1, or with `guaranteed` 2
    int separation = 0;
    int leaf = 0;         ///< ≥ 1: points of a leaf, about
    double grading = 0.6; ///< α: far cells get lower orders (src/sums/fmm/README.md); 0: all get p
    M2L m2l = M2L::automatic;
    GaussStrategy strategy = GaussStrategy::automatic; ///< of the fast Gauss transform
    /// Of the tree code: cells act by their expansions where their size over their distance is less
    /// (src/sums/treecode/README.md); 0: as far as the tolerance allows, 0.5 without one.
    double theta = 0.0;
    /// What executions are going to ask for, where it matters to the choice of a device: GPUs have no Hessian
    /// as yet. Empty: all that the kernel has, but for the Hessian.
    OutputSet outputs{};
    bool dipoles = false; ///< sources are going to have dipoles: GPUs take none as yet
    Precision precision = Precision::automatic;
    Coincident coincident = Coincident::error;
    int threads = 0; ///< 0: as many as OpenMP would use (OMP_NUM_THREADS); otherwise ≥ 1
    Isa isa = Isa::automatic;
    Variant variant = Variant::automatic;
    DeviceChoice device{};
    MultiGpu multi_gpu = MultiGpu::threads;  ///< with several GPUs
    Exchange exchange = Exchange::automatic; ///< with several GPUs
    MpiGpu mpi_gpu = MpiGpu::automatic;      ///< with ranks that have a GPU each
    /// A cudaStream_t, for sums on a GPU: all work of this plan there is queued on it, behind what the caller
    /// has queued, and done when a call returns. Null: CUDA's default stream where arrays lie on the GPU (so
    /// that what filled them on that stream is done), a stream of the plan's own otherwise.
    void* stream = nullptr;
    /// Ranks that sum together: each gives its own sources (and targets) and gets the results at its own; all
    /// of all ranks act. Everything else is the same on all of them.
    Communicator communicator{};
};

/// True where this build has kernels for `isa` and this CPU can run them; `automatic` and `scalar` always.
bool is_available(Isa isa);

/// The ISA that `Isa::automatic` takes on this machine.
Isa best_isa();

/// Names as the command line, TOML and Python spell them ("gravity", "float", "avx512", …).
std::string_view name_of(Kernel kernel);
std::string_view name_of(Method method);
std::string_view name_of(Output output);
std::string_view name_of(Precision precision);
std::string_view name_of(Isa isa);
std::string_view name_of(Coincident coincident);
std::string_view name_of(SelfTerm self_term);
std::string_view name_of(Boundary boundary);
std::string_view name_of(Background background);
std::string_view name_of(RelativeTo relative_to);
std::string_view name_of(M2L m2l);
std::string_view name_of(GaussStrategy strategy);
std::string_view name_of(Variant variant);

/// "potential,field": the names of a set, and the set of such names.
/// @throws InvalidArgument naming what is not known.
std::string name_of(OutputSet outputs);
OutputSet outputs_from_names(std::string_view names);

/// The inverse of `name_of`; empty for a name that is not known.
template <class Enum>
std::optional<Enum> from_name(std::string_view name);

/// All names of an enum in the order of its values, for help texts and suggestions.
template <class Enum>
std::vector<std::string_view> names_of();

template <>
std::optional<Kernel> from_name<Kernel>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Kernel>();
template <>
std::optional<Method> from_name<Method>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Method>();
template <>
std::optional<Output> from_name<Output>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Output>();
template <>
std::optional<Precision> from_name<Precision>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Precision>();
template <>
std::optional<Isa> from_name<Isa>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Isa>();
template <>
std::optional<Coincident> from_name<Coincident>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Coincident>();
template <>
std::optional<SelfTerm> from_name<SelfTerm>(std::string_view name);
template <>
std::vector<std::string_view> names_of<SelfTerm>();
template <>
std::optional<Boundary> from_name<Boundary>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Boundary>();
template <>
std::optional<Background> from_name<Background>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Background>();
template <>
std::optional<RelativeTo> from_name<RelativeTo>(std::string_view name);
template <>
std::vector<std::string_view> names_of<RelativeTo>();
template <>
std::optional<M2L> from_name<M2L>(std::string_view name);
template <>
std::vector<std::string_view> names_of<M2L>();
template <>
std::optional<GaussStrategy> from_name<GaussStrategy>(std::string_view name);
template <>
std::vector<std::string_view> names_of<GaussStrategy>();
template <>
std::optional<Variant> from_name<Variant>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Variant>();
template <>
std::optional<MultiGpu> from_name<MultiGpu>(std::string_view name);
template <>
std::vector<std::string_view> names_of<MultiGpu>();
template <>
std::optional<Exchange> from_name<Exchange>(std::string_view name);
template <>
std::vector<std::string_view> names_of<Exchange>();

} // namespace farfield
