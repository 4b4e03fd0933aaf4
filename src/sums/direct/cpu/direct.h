// The direct sum on a CPU: prepares points, picks ISA and variant, runs, checks the results.
#pragma once

#include "base/stopwatch.h"
#include "sums/kernels/kernel.h"
#include "sums/points/prepared.h"

#include <farfield/sum.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace farfield {

/// Where the sums go, contiguous; null where not wanted.
struct DirectResults {
    double* potential = nullptr; ///< M
    double* field = nullptr;     ///< M×3
    double* hessian = nullptr;   ///< M×6
};

/// One direct sum, prepared for many strengths. Arrays are contiguous double, checked by the caller to be
/// finite and of the right size.
class DirectSum {
public:
    /// @throws InvalidArgument for a variant that does not apply, BackendUnavailable for an ISA that this CPU
    /// lacks.
    DirectSum(const SumOptions& options, bool self);

    [[nodiscard]] bool self() const { return self_; }
    void set_sources(std::vector<double> sources);
    /// The memory of the sources set before, for the next ones.
    [[nodiscard]] std::vector<double> take_sources() { return std::move(sources_); }
    void set_points(std::vector<double> sources, std::vector<double> targets);

    /// Null outputs are not computed; `dipoles` are N×3, or there are none. Fills the report's ISA, variant,
    /// threads, skipped pairs and the seconds of three laps of `watch`. @throws InvalidArgument for
    /// coincident points (see `Coincident`); Interrupted where a hook asks to stop.
    void compute(std::span<const double> strengths, const DirectResults& results, SumReport& report,
                 LapWatch& watch, const SumHooks& hooks = {}, std::span<const double> dipoles = {});

private:
    template <class T>
    struct Prepared {
        PreparedPoints<T> sources;
        PreparedPoints<T> targets; ///< empty where targets are the sources
    };

    void prepare();
    void require_able(const DirectResults& results, bool dipoles) const;
    [[nodiscard]] const KernelInfo& kernel() const;
    template <class T>
    [[nodiscard]] const PreparedPoints<T>& targets_of(const Prepared<T>& prepared) const {
        return self_ ? prepared.sources : prepared.targets;
    }
    template <class T>
    void compute_as(Prepared<T>& prepared, std::span<const double> strengths, const DirectResults& results,
                    SumReport& report, LapWatch& watch, const SumHooks& hooks,
                    std::span<const double> dipoles);
    /// Asked for, or by the cost table, which short sums do not look at.
    [[nodiscard]] int threads(Variant variant, std::int64_t sources, std::int64_t targets) const;
    /// From the frame to the caller's units.
    void rescale(const DirectResults& results, std::int64_t m, int strength_exponent) const;
    /// Rows that are not finite, once more; returns how many coincident pairs were skipped.
    template <class T>
    std::int64_t repair(const Prepared<T>& prepared, const DirectResults& results, int strength_exponent,
                        int threads, const SumHooks& hooks) const;

    SumOptions options_; ///< ISA and variant resolved
    bool self_;
    std::vector<double> sources_;    ///< N×3
    std::vector<double> targets_;    ///< M×3, empty where targets are the sources
    std::vector<double> components_; ///< of the field and of the Hessian, one after the other
    Frame frame_;
    Prepared<float> as_float_; ///< one of the two is used, by the precision
    Prepared<double> as_double_;
};

} // namespace farfield
