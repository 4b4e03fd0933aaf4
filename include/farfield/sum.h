// Sums over particles: φ(x_i) = Σ_j q_j K(x_i − y_j) and the field −∇φ, by a chosen method on a chosen
// machine.
//
// Sign conventions (docs/guide/conventions.md): gravity φ(x) = −Σ m/√(r²+ε²), Coulomb φ(x) = Σ q/√(r²+ε²);
// field = −∇φ for both, so a positive mass attracts and a positive charge repels. A point does not act on
// itself, also when softened. G = 1 and 1/(4πε₀) = 1: scale the strengths for other units.
#pragma once

#include <farfield/array.h>
#include <farfield/device.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

/// The pair interaction.
enum class Kernel : std::uint8_t { gravity, coulomb };

/// The algorithm.
enum class Method : std::uint8_t { direct };

/// Arithmetic of the pair loop. `float32` and `float64` compute in that type, on inputs rounded to it (where
/// all points lie far off compared with their extent, rounded after the origin was moved among them, in
/// double); `mixed` takes coordinate differences from float hi+lo pairs of the double inputs and does the
/// rest in float. float32 gives a relative L2 error of about 1e-7 for rounded inputs, mixed for any. Both
/// need coordinates within a factor of 1e30 of the distances that matter, float's range; float64 has no such
/// limit.
enum class Precision : std::uint8_t { float32, float64, mixed };

/// Instruction set of the CPU kernels; `automatic` takes the best this machine has.
enum class Isa : std::uint8_t { automatic, scalar, sse42, avx2, avx512 };

/// What a pair of *distinct* points at the same place does when nothing softens it.
enum class Coincident : std::uint8_t { error, skip };

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
    register_tile,
    tensor
};

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
    Precision precision = Precision::float64;
    Coincident coincident = Coincident::error;
    int threads = 0; ///< 0: as many as OpenMP would use (OMP_NUM_THREADS); otherwise ≥ 1
    Isa isa = Isa::automatic;
    Variant variant = Variant::automatic;
    DeviceChoice device{};
    MultiGpu multi_gpu = MultiGpu::threads;  ///< with several GPUs
    Exchange exchange = Exchange::automatic; ///< with several GPUs
    /// A cudaStream_t, for sums on a GPU: all work of this plan there is queued on it, behind what the caller
    /// has queued, and done when a call returns. Null: CUDA's default stream where arrays lie on the GPU (so
    /// that what filled them on that stream is done), a stream of the plan's own otherwise.
    void* stream = nullptr;
};

/// What was done and how long it took. Filled by `SumPlan::execute`.
struct SumReport {
    std::int64_t sources = 0;
    std::int64_t targets = 0;
    std::int64_t pairs = 0; ///< directed interactions counted: M·N, or N·(N−1) where targets are the sources
    double prepare_seconds = 0.0;
    double compute_seconds = 0.0; ///< the pair loop; on a GPU by its own clock
    double finish_seconds = 0.0;  ///< checks and copies into the caller's arrays
    double pairs_per_second = 0.0;
    Isa isa = Isa::automatic;             ///< the one really used; on a GPU `automatic`
    Variant variant = Variant::automatic; ///< the one really used
    Precision precision = Precision::float64;
    int threads = 0;       ///< on a GPU 0
    DeviceChoice device{}; ///< the one really used, never `automatic`; GPUs by number
    std::int64_t coincident_pairs_skipped = 0;
    /// Hash of the cost table that `DeviceKind::automatic` followed; empty if the options or the arrays named
    /// the device.
    std::string cost_table{};
};

/// Where `execute` writes. Absent views are not computed. float32 or float64, whatever the precision.
struct SumOutputs {
    ArrayView potential{}; ///< M
    ArrayView field{};     ///< M×3, −∇φ
};

/// A sum prepared once and executed many times, for new strengths or moved points.
///
/// Points are N×3 (M×3 for targets), float32 or float64, any strides; they are copied in. Every array may lie
/// on the host or, for a sum on a GPU, on that GPU, where it is read and written in place: host and GPU may
/// be mixed. Where the sum runs is settled here, by `options.device`: points on a GPU take the sum there.
class SumPlan {
public:
    /// Targets are the sources themselves: no point acts on itself.
    /// @throws InvalidArgument for a wrong shape, a coordinate that is not finite (names the row), ε < 0 or
    ///         NaN, threads < 0, a variant that does not apply, or memory of another device than the sum's;
    ///         BackendUnavailable for an ISA this CPU lacks or a GPU this machine or build lacks; DeviceError
    ///         where a GPU fails, such as for lack of memory.
    explicit SumPlan(ConstArrayView sources, const SumOptions& options = {});
    /// Separate targets; a target that sits on a source follows `options.coincident`.
    SumPlan(ConstArrayView sources, ConstArrayView targets, const SumOptions& options = {});
    SumPlan(SumPlan&&) noexcept;
    SumPlan& operator=(SumPlan&&) noexcept;
    ~SumPlan();

    /// Computes the outputs that are present. `strengths`: N masses or charges.
    /// @throws InvalidArgument for wrong shapes, strengths that are not finite (names the row), or, with
    ///         `Coincident::error`, distinct coincident points without softening (names both rows);
    ///         DeviceError where a GPU fails.
    void execute(ConstArrayView strengths, const SumOutputs& outputs);

    /// Replaces the points (same counts) and keeps everything else.
    void update(ConstArrayView sources);
    void update(ConstArrayView sources, ConstArrayView targets);

    /// What the last `execute` did.
    [[nodiscard]] const SumReport& report() const;
    [[nodiscard]] const SumOptions& options() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Result of `sum`; owns its memory.
struct SumResult {
    std::vector<double> potential; ///< M values, empty unless asked for
    std::vector<double> field;     ///< 3·M values, row-major M×3, empty unless asked for
    SumReport report;
};

/// Which outputs `sum` computes.
struct SumWanted {
    bool potential = true;
    bool field = true;
};

/// One sum in one call. Throws as `SumPlan` does.
SumResult sum(ConstArrayView sources, ConstArrayView strengths, const SumOptions& options = {},
              SumWanted wanted = {});
SumResult sum(ConstArrayView sources, ConstArrayView targets, ConstArrayView strengths,
              const SumOptions& options = {}, SumWanted wanted = {});

/// True where this build has kernels for `isa` and this CPU can run them; `automatic` and `scalar` always.
bool is_available(Isa isa);

/// The ISA that `Isa::automatic` takes on this machine.
Isa best_isa();

/// Names as the command line, TOML and Python spell them ("gravity", "float", "avx512", …).
std::string_view name_of(Kernel kernel);
std::string_view name_of(Method method);
std::string_view name_of(Precision precision);
std::string_view name_of(Isa isa);
std::string_view name_of(Coincident coincident);
std::string_view name_of(Variant variant);

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
