#include "sums/direct/direct.h"

#include "backend/threads/parallel.h"
#include "sums/direct/reference.h"
#include "sums/direct/repair.h"

#include <farfield/error.h>

#include <chrono>

namespace farfield {

DirectSum::DirectSum(const SumOptions& options, bool self) : options_(options), self_(self) {
    if (options.variant == Variant::symmetric && !self)
        throw InvalidArgument("variant 'symmetric' computes each pair once and needs targets = sources; use "
                              "'auto' or 'simd' with separate targets");
}

void DirectSum::set_sources(std::vector<double> sources) { sources_ = std::move(sources); }

void DirectSum::set_points(std::vector<double> sources, std::vector<double> targets) {
    sources_ = std::move(sources);
    targets_ = std::move(targets);
}

void DirectSum::compute(std::span<const double> strengths, double* potential, double* field,
                        SumReport& report) const {
    using Clock = std::chrono::steady_clock;
    const auto seconds = [](Clock::time_point a, Clock::time_point b) {
        return std::chrono::duration<double>(b - a).count();
    };
    const auto start = Clock::now();
    const auto& targets = target_points();
    report.isa = Isa::scalar;
    report.variant = Variant::naive;
    report.threads = 1;
    const auto n = static_cast<std::int64_t>(sources_.size() / 3);
    const auto m = static_cast<std::int64_t>(targets.size() / 3);
    reference_direct_sum({.kernel = Kernel::coulomb,
                          .sources = n,
                          .targets = m,
                          .source_points = sources_.data(),
                          .strengths = strengths.data(),
                          .target_points = targets.data(),
                          .self = self_,
                          .softening = options_.softening,
                          .potential = potential,
                          .field = field});
    const auto computed = Clock::now();
    report.coincident_pairs_skipped = repair_rows({.sources = n,
                                                   .targets = m,
                                                   .source_points = sources_.data(),
                                                   .strengths = strengths.data(),
                                                   .target_points = targets.data(),
                                                   .self = self_,
                                                   .softening = options_.softening,
                                                   .precision = options_.precision,
                                                   .coincident = options_.coincident,
                                                   .threads = thread_count(options_.threads),
                                                   .potential = potential,
                                                   .field = field});
    if (options_.kernel == Kernel::gravity) {
        for (std::int64_t i = 0; potential != nullptr && i < m; ++i) potential[i] = -potential[i];
        for (std::int64_t i = 0; field != nullptr && i < 3 * m; ++i) field[i] = -field[i];
    }
    report.compute_seconds = seconds(start, computed);
    report.finish_seconds = seconds(computed, Clock::now());
}

} // namespace farfield
