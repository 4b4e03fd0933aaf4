// The kernels that `farfield reproduce hermite` compares, without a CUDA header.
#pragma once

#include "math/host_device.h"
#include "studies/hermite/problem.h"
#include "sums/direct/cuda/rung_resources.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::hermite {

enum class Variant { pairs, amalgamated, filled_chunks, chunks, unrolled, balanced, loaded_factorials, ours };

struct VariantInfo {
    Variant variant;
    std::string_view name;
    std::string_view source; ///< in the paper; empty: not there
};
inline constexpr std::array variant_table{
    VariantInfo{Variant::pairs, "a launch for each pair of boxes", "4.2.1"},
    VariantInfo{Variant::amalgamated, "all clusters in one launch", "4.2.1, equations 10 and 11"},
    VariantInfo{Variant::filled_chunks, "clusters in chunks that fill shared memory", "4.2.1, 4.2.4"},
    VariantInfo{Variant::chunks, "chunks of as many numbers as threads", "4.2.1, 4.2.4"},
    VariantInfo{Variant::unrolled, "chunks, Horner's rule unrolled", "4.2.3, Figures 8 and 9"},
    VariantInfo{Variant::balanced, "chunks, unrolled, balanced reads", "5.5, Figure 10"},
    VariantInfo{Variant::loaded_factorials, "the same, factorials read", "4.2.5, 5.6"},
    VariantInfo{Variant::ours, "ours", ""},
};
constexpr const VariantInfo& info_of(Variant variant) {
    return variant_table[static_cast<std::size_t>(variant)];
}

/// The paper's GPU has so much shared memory, and so many threads a block.
inline constexpr int paper_shared_bytes = 16384, paper_threads = 512;
/// Clusters of a chunk, which has coefficients, two coordinates a cluster and p factorials: as many as fit
/// into that memory, or as many as have a number for each thread at most.
FF_HD constexpr int chunk_clusters(Variant variant, int p) {
    const int numbers = variant == Variant::filled_chunks ? paper_shared_bytes / 4 : paper_threads;
    return (numbers - p) / (p * p + 2);
}
/// Targets of a box, for the launches of `pairs`.
inline constexpr int targets_a_box = 1024;
/// Of one evaluation.
constexpr std::int64_t launches_of(Variant variant, int terms, std::int64_t targets, int clusters) {
    const auto needed = [](std::int64_t all, std::int64_t each) { return (all + each - 1) / each; };
    if (variant == Variant::pairs) return needed(targets, targets_a_box) * clusters;
    if (variant == Variant::amalgamated || variant == Variant::ours) return 1;
    return needed(clusters, chunk_clusters(variant, terms));
}

/// Hermite series of one problem in float on the current GPU, over and over.
/// @throws BackendUnavailable, DeviceError.
class EvaluationRuns {
public:
    explicit EvaluationRuns(const Problem& problem);
    EvaluationRuns(EvaluationRuns&&) noexcept;
    EvaluationRuns& operator=(EvaluationRuns&&) noexcept;
    ~EvaluationRuns();

    /// Milliseconds of one evaluation at all targets, the median of `repeats`.
    double milliseconds(Variant variant, int repeats);
    /// What a kernel takes of a multiprocessor.
    [[nodiscard]] cuda::RungResources resources(Variant variant) const;
    /// Its mangled name.
    [[nodiscard]] std::string kernel_name(Variant variant) const;
    /// Of the last run, at all targets.
    [[nodiscard]] std::vector<float> fetch() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace farfield::hermite
