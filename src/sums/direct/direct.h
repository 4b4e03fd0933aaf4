// The direct sum on a CPU: holds prepared points, picks ISA and variant, runs, checks the results.
#pragma once

#include <farfield/sum.h>

#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// One direct sum, prepared for many strengths. Arrays are contiguous double, checked by the caller to be
/// finite and of the right size.
class DirectSum {
public:
    /// @throws InvalidArgument for a variant that does not apply, BackendUnavailable for an ISA that this CPU
    /// lacks.
    DirectSum(const SumOptions& options, bool self);

    [[nodiscard]] bool self() const { return self_; }
    void set_sources(std::vector<double> sources);
    void set_points(std::vector<double> sources, std::vector<double> targets);

    /// Null outputs are not computed. Fills the report's ISA, variant, threads, seconds and skipped pairs.
    /// @throws InvalidArgument for coincident points (see `Coincident`).
    void compute(std::span<const double> strengths, double* potential, double* field,
                 SumReport& report) const;

private:
    [[nodiscard]] const std::vector<double>& target_points() const { return self_ ? sources_ : targets_; }
    SumOptions options_;
    bool self_;
    std::vector<double> sources_; ///< N×3
    std::vector<double> targets_; ///< M×3, empty where targets are the sources
};

} // namespace farfield
