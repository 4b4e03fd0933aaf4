#include "studies/bench_points.h"

#include "backend/threads/parallel.h"
#include "sums/kernels/kernel.h"

#include <farfield/run.h>

#include <algorithm>
#include <cmath>

namespace farfield {

BenchPoints make_bench_points(std::int64_t n) {
    InitialOptions options;
    options.kind = InitialKind::plummer;
    options.n = n;
    auto bodies = make_bodies(options);
    return {std::move(bodies.position), std::move(bodies.mass)};
}

SampledTruth::SampledTruth(const BenchPoints& points, std::size_t targets, bool rounded, double softening,
                           std::size_t samples) {
    samples = std::min(targets, samples);
    for (std::size_t s = 0; s < samples; ++s) rows_.push_back(s * targets / samples);
    field_.resize(3 * samples);
    auto seen = points;
    if (rounded)
        for (auto* values : {&seen.xyz, &seen.mass})
            for (double& value : *values) value = static_cast<double>(static_cast<float>(value));
    const auto& kernel = gravity_kernel();
    parallel_for(thread_count(0), static_cast<std::int64_t>(samples), [&](std::int64_t task) {
        const auto s = static_cast<std::size_t>(task);
        const auto i = rows_[s];
        long double sums[4] = {0.0L, 0.0L, 0.0L, 0.0L}; // potential, field
        (void)kernel.exact_long({.sources = static_cast<std::int64_t>(seen.mass.size()),
                                 .points = seen.xyz.data(),
                                 .strengths = seen.mass.data(),
                                 .target = seen.xyz.data() + 3 * i,
                                 .own = static_cast<std::int64_t>(i),
                                 .softening = softening},
                                sums);
        for (std::size_t k = 0; k < 3; ++k) field_[3 * s + k] = sums[1 + k];
    });
}

double SampledTruth::error(const std::vector<double>& field) const {
    long double difference = 0.0L;
    long double norm = 0.0L;
    for (std::size_t s = 0; s < rows_.size(); ++s)
        for (std::size_t k = 0; k < 3; ++k) {
            const auto off = static_cast<long double>(field[3 * rows_[s] + k]) - field_[3 * s + k];
            difference += off * off;
            norm += field_[3 * s + k] * field_[3 * s + k];
        }
    return norm > 0.0L ? static_cast<double>(std::sqrt(difference / norm)) : 0.0;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const auto middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

} // namespace farfield
