// The kernels that `farfield reproduce m2l-2d` compares, without a CUDA header.
#pragma once

#include "studies/m2l_2d/problem.h"
#include "sums/direct/cuda/rung_resources.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::m2l2d {

enum class Variant {
    stored_double,
    stored_float,
    diagonals,
    variable_powers,
    fixed_powers,
    unrolled,
    overlapped,
    shared_operator,
    rotations,
    staged,
    tensor
};

struct VariantInfo {
    Variant variant;
    std::string_view name;
    std::string_view source; ///< in the paper; empty: not there
    Form form;
    bool writes; ///< has a form that writes every local expansion to memory
    bool fuses;  ///< has a form that adds up a target's 27 expansions without writing them
};
inline constexpr std::array variant_table{
    VariantInfo{Variant::stored_double, "stored matrix, 8 bytes a number", "4.1.1", Form::paper, true, false},
    VariantInfo{Variant::stored_float, "stored matrix, float", "", Form::paper, true, false},
    VariantInfo{Variant::diagonals, "diagonals, 27 threads a block", "4.1.1, Figure 5a", Form::paper, true,
                false},
    VariantInfo{Variant::variable_powers, "rows, powers by varying trips", "4.1.1, Figure 6", Form::paper,
                true, false},
    VariantInfo{Variant::fixed_powers, "rows, powers by fixed trips", "4.1.1, Figure 7", Form::paper, true,
                false},
    VariantInfo{Variant::unrolled, "rows, unrolled", "4.1.2", Form::paper, true, false},
    VariantInfo{Variant::overlapped, "rows, overlapped", "4.1.2", Form::paper, true, false},
    VariantInfo{Variant::shared_operator, "shared real operator", "", Form::with_logarithm, true, true},
    VariantInfo{Variant::rotations, "turns by 90°", "", Form::with_logarithm, true, true},
    VariantInfo{Variant::staged, "turns by 90°, sources in shared memory", "", Form::with_logarithm, false,
                true},
    VariantInfo{Variant::tensor, "tensor cores, 3×TF32", "", Form::with_logarithm, false, true},
};
constexpr const VariantInfo& info_of(Variant variant) {
    return variant_table[static_cast<std::size_t>(variant)];
}

/// Milliseconds of one launch.
struct TranslationTime {
    double kernel = 0;
    double reduction = 0; ///< of the form that writes every expansion
};
struct TransferTime {
    double to_gpu = 0, to_host = 0;
};

/// M2L of one problem in float on the current GPU, over and over. @throws BackendUnavailable, DeviceError.
class TranslationRuns {
public:
    explicit TranslationRuns(const Problem& problem);
    TranslationRuns(TranslationRuns&&) noexcept;
    TranslationRuns& operator=(TranslationRuns&&) noexcept;
    ~TranslationRuns();

    /// Every local expansion is written to memory, then those of a target are added. Medians of `repeats`.
    /// @pre info_of(variant).writes
    TranslationTime write_all(Variant variant, int repeats);
    /// @pre info_of(variant).fuses
    double fused(Variant variant, int repeats);
    /// Multipoles from pinned memory, local expansions back.
    TransferTime transfers(int repeats);
    /// Milliseconds to fill as many bytes as `write_all` writes: what it takes at least.
    double fill(int repeats);

    /// What a kernel takes of a multiprocessor.
    [[nodiscard]] cuda::RungResources resources(Variant variant, bool is_fused) const;
    /// Its mangled name.
    [[nodiscard]] std::string kernel_name(Variant variant, bool is_fused) const;
    /// Local expansions of all boxes by the last run.
    [[nodiscard]] std::vector<Number> fetch() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Bytes a second of the current GPU's memory by its clock and width, 0 where the driver does not tell them.
/// @throws BackendUnavailable, DeviceError.
double rated_memory_bytes();

} // namespace farfield::m2l2d
