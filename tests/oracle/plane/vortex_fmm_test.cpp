// Fast multipole sums of vortices against sums in long double written from the definitions: points and blobs,
// small beside the leaves and as large as the cloud.
#include "effort.h"
#include "expect_error.h"
#include "oracle/plane/plane_oracle.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

namespace farfield {
namespace {

using oracle::PlanePoints;
using oracle::PlaneRandom;
using oracle::PlaneValues;
using oracle::relative_l2;

// ψ = −(Γ/2π)(ln r + ½E₁(x)), u − iv = Γ/(2πi z)·(1 − e^(−x)), x = r²/2σ²; E₁(x) = −Ei(−x).
PlaneValues vortex_sums(const PlanePoints& sources, const std::vector<double>& targets, double sigma,
                        bool self) {
    constexpr long double two_pi = 2.0L * std::numbers::pi_v<long double>;
    PlaneValues out;
    for (std::size_t i = 0; i < targets.size() / 2; ++i) {
        long double psi = 0.0L, u = 0.0L, v = 0.0L;
        for (std::size_t j = 0; j < sources.q.size(); ++j) {
            if (self && i == j) continue;
            const long double x = static_cast<long double>(targets[2 * i]) - sources.xy[2 * j];
            const long double y = static_cast<long double>(targets[2 * i + 1]) - sources.xy[2 * j + 1];
            const long double r2 = x * x + y * y;
            const long double gamma = sources.q[j] / two_pi;
            const long double core = sigma > 0.0 ? r2 / (2.0L * sigma * sigma) : HUGE_VALL;
            const long double factor = sigma > 0.0 ? -std::expm1(-core) : 1.0L;
            psi -= gamma * (std::log(r2) / 2.0L - (core < 700.0L ? std::expint(-core) / 2.0L : 0.0L));
            u -= gamma * y / r2 * factor;
            v += gamma * x / r2 * factor;
        }
        out.potential.push_back(psi);
        out.field.insert(out.field.end(), {u, v});
    }
    return out;
}

PlanePoints vortices(std::uint64_t seed, std::size_t n, double scale) {
    PlaneRandom random(seed);
    PlanePoints out;
    for (std::size_t i = 0; i < n; ++i) {
        out.xy.insert(out.xy.end(),
                      {scale * random.uniform(0, 1), scale * std::pow(random.uniform(0, 1), 3)});
        out.q.push_back(random.uniform(-1, 1));
    }
    return out;
}

TEST(VortexFmm, EveryToleranceAndCoreIsRight) {
    for (const double scale : {1.0, 1e-12})
        for (const double sigma : {0.0, 1e-3, 0.02, 0.1, 3.0}) {
            const auto sources = vortices(1, test::shorter() ? 500 : 900, scale);
            const auto targets = vortices(2, 200, scale).xy;
            const ConstArrayView strengths(std::span<const double>{sources.q});
            const auto exact = vortex_sums(sources, sources.xy, scale * sigma, true);
            const auto elsewhere = vortex_sums(sources, targets, scale * sigma, false);
            for (const double tolerance : {1e-3, 1e-6, 1e-11}) {
                SCOPED_TRACE(testing::Message() << scale << ' ' << sigma << ' ' << tolerance);
                SumOptions options{.kernel = Kernel::vortex2d, .method = Method::fmm, .tolerance = tolerance};
                options.sigma = scale * sigma;
                options.leaf = 8;
                const auto self = sum(sources.points(), strengths, options);
                EXPECT_LE(relative_l2(self.potential, exact.potential), tolerance);
                EXPECT_LE(relative_l2(self.field, exact.field), tolerance);
                const auto apart = sum(sources.points(), matrix_view(std::span<const double>(targets), 2),
                                       strengths, options);
                EXPECT_LE(relative_l2(apart.potential, elsewhere.potential), tolerance);
                EXPECT_LE(relative_l2(apart.field, elsewhere.field), tolerance);
                if (sigma <= 0.02 && tolerance > 1e-4) {
                    EXPECT_LT(self.report.fmm.near_pairs, self.report.direct.pairs / 2);
                }
            }
        }
}

TEST(VortexFmm, CoresOfCellsThatTouchAreNotLeftToExpansions) {
    const auto sources = vortices(3, 2000, 1.0);
    const auto exact = vortex_sums(sources, sources.xy, 0.05, true);
    for (const int depth : {-1, 5}) { // leaves narrower than cores, if nothing stopped them
        SumOptions options{
            .kernel = Kernel::vortex2d, .method = Method::fmm, .sigma = 0.05, .order = 24, .depth = depth};
        options.leaf = depth < 0 ? 2 : 0;
        const auto result = sum(sources.points(), std::span<const double>(sources.q), options);
        EXPECT_LE(relative_l2(result.field, exact.field), 1e-9);
        EXPECT_LE(relative_l2(result.potential, exact.potential), 1e-9);
    }
}

TEST(VortexFmm, EveryInstructionSetHasCores) {
    const auto sources = vortices(4, 500, 1.0);
    const auto exact = vortex_sums(sources, sources.xy, 0.01, true);
    for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        for (const auto precision : {Precision::mixed, Precision::float64}) {
            if (!is_available(isa)) continue;
            SCOPED_TRACE(std::string(name_of(isa)) + ' ' + std::string(name_of(precision)));
            const SumOptions options{.kernel = Kernel::vortex2d,
                                     .method = Method::fmm,
                                     .sigma = 0.01,
                                     .order = 32,
                                     .leaf = 6,
                                     .precision = precision,
                                     .isa = isa};
            const double expected = precision == Precision::mixed ? 2e-6 : 1e-11;
            const auto result = sum(sources.points(), std::span<const double>(sources.q), options);
            EXPECT_LE(relative_l2(result.field, exact.field), expected);
            EXPECT_LE(relative_l2(result.potential, exact.potential), expected);
        }
}

TEST(VortexFmm, BlobsMayMeetAndPointsMayNot) {
    auto sources = vortices(5, 300, 1.0);
    for (std::size_t k = 0; k < 2; ++k) sources.xy[2 * 200 + k] = sources.xy[2 * 9 + k];
    const SumOptions points{.kernel = Kernel::vortex2d, .method = Method::fmm, .order = 20, .leaf = 6};
    const auto message = test::error_of<InvalidArgument>(
        [&] { (void)sum(sources.points(), std::span<const double>(sources.q), points); });
    test::expect_contains(message, {"rows 9 and 200", "sigma"});
    auto blobs = points;
    blobs.sigma = 0.01;
    const auto fast = sum(sources.points(), std::span<const double>(sources.q), blobs);
    blobs.method = Method::reference;
    blobs.order = blobs.leaf = 0;
    const auto slow = sum(sources.points(), std::span<const double>(sources.q), blobs);
    const std::vector<long double> field(slow.field.begin(), slow.field.end());
    EXPECT_LE(relative_l2(fast.field, field), 1e-7);
}

} // namespace
} // namespace farfield
