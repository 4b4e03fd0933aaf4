// The parts of the fast Gauss transform by boxes: bounds against truncated series in long double, near boxes
// against all boxes, translations and loops against their definitions, and sums whose every source keeps the
// bound.
#include "backend/simd/isa.h"
#include "sums/gauss/boxes/boxes.h"
#include "sums/gauss/boxes/hermite_function.h"
#include "sums/gauss/boxes/truncation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <vector>

namespace farfield {
namespace {

using Numbers = std::vector<double>;
constexpr int many = 160; ///< terms that are as good as all

/// ψ_n(v) and μ_n(u) for n < many, by their recurrences in long double.
std::vector<long double> functions_at(long double v) {
    std::vector<long double> out;
    long double before = 0.0L, now = std::exp(-0.5L * v * v);
    for (int n = 0; n < many; ++n) {
        out.push_back(now);
        const long double next = (v * now - std::sqrt(static_cast<long double>(n)) * before) /
                                 std::sqrt(static_cast<long double>(n + 1));
        before = now;
        now = next;
    }
    return out;
}
std::vector<long double> powers_at(long double u) {
    std::vector<long double> out;
    long double now = 1.0L;
    for (int n = 0; n < many; now *= u / std::sqrt(static_cast<long double>(++n))) out.push_back(now);
    return out;
}

/// A Gaussian along an axis and its slope, as a truncated series has them.
struct Along {
    long double value = 0.0L, slope = 0.0L;
};
enum class Series : std::uint8_t { exact, hermite, taylor, translated };

/// Of a source at u from its box, a target at w from its own, boxes `apart`.
Along along(Series series, long double u, long double w, long double apart, int p) {
    Along out;
    const long double v = apart + w, r = v - u;
    if (series == Series::exact) return {std::exp(-0.5L * r * r), -r * std::exp(-0.5L * r * r)};
    const auto of_source = powers_at(u), of_target = powers_at(w);
    const auto at_target = functions_at(v), at_source = functions_at(u - apart),
               between = functions_at(apart);
    for (int n = 0; n < p; ++n) {
        const auto i = static_cast<std::size_t>(n);
        if (series == Series::hermite) {
            out.value += of_source[i] * at_target[i];
            out.slope -= of_source[i] * std::sqrt(n + 1.0L) * at_target[i + 1];
        } else if (series == Series::taylor) {
            out.value += of_target[i] * at_source[i];
            if (n > 0) out.slope += std::sqrt(static_cast<long double>(n)) * of_target[i - 1] * at_source[i];
        } else {
            for (int m = 0; m < p; ++m) {
                const auto j = static_cast<std::size_t>(m);
                const long double both = std::exp(0.5L * (std::lgamma(n + m + 1.0L) - std::lgamma(n + 1.0L) -
                                                          std::lgamma(m + 1.0L))) *
                                         (m % 2 == 0 ? 1.0L : -1.0L) * of_source[i] * between[i + j];
                out.value += both * of_target[j];
                if (m > 0) out.slope += both * std::sqrt(static_cast<long double>(m)) * of_target[j - 1];
            }
        }
    }
    return out;
}

TEST(BoxTruncation, BoundsHoldForEverySourceAndTarget) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    double nearest = 0.0;
    for (const auto series : {Series::hermite, Series::taylor, Series::translated})
        for (int trial = 0; trial < 4000; ++trial) {
            const int d = 1 + trial % 4, p = 1 + trial / 4 % 14;
            const double r = 1.0 + 0.9 * uniform(random), edge = trial % 3 == 0 ? r : r * uniform(random);
            long double exact = 1.0L, found = 1.0L, square = 0.0L;
            std::vector<Along> of_exact, of_found;
            for (int k = 0; k < d; ++k) {
                const double apart = 2.0 * r * std::round(2.0 * uniform(random)), w = r * uniform(random);
                of_exact.push_back(along(Series::exact, edge, w, apart, p));
                of_found.push_back(along(series, edge, w, apart, p));
                exact *= of_exact.back().value;
                found *= of_found.back().value;
            }
            for (int k = 0; k < d; ++k) {
                long double difference = 0.0L;
                for (const auto* values : {&of_exact, &of_found}) {
                    long double slope = values == &of_exact ? 1.0L : -1.0L;
                    for (int j = 0; j < d; ++j) {
                        const auto& one = (*values)[static_cast<std::size_t>(j)];
                        slope *= j == k ? one.slope : one.value;
                    }
                    difference += slope;
                }
                square += difference * difference;
            }
            const BoxTruncation truncation{
                .dimension = d, .radius = r, .translated = series == Series::translated};
            const auto error = static_cast<double>(std::abs(exact - found));
            const auto slope = static_cast<double>(std::sqrt(square) * std::exp(0.5L));
            SCOPED_TRACE(testing::Message() << d << "-dimensional, p " << p << ", r " << r);
            EXPECT_LE(error, box_error(truncation, p) + 1e-15);
            EXPECT_LE(slope, box_gradient_error(truncation, p) + 1e-15);
            if (d == 1 && error > 1e-10) nearest = std::max(nearest, error / box_error(truncation, p));
        }
    EXPECT_GT(nearest, 0.1); // not loose by more than that everywhere
}

// Greengard and Strain's product of the axes' tails is less than the error in two dimensions.
TEST(BoxTruncation, ProductsOfTailsAreNoBound) {
    const int p = 8;
    const double r = 0.5, tail = box_error({.dimension = 1, .radius = r}, p);
    double worst = 0.0;
    for (double v = -3.0; v <= 3.0; v += 0.05) {
        const auto exact = along(Series::exact, r, 0.0L, v, p), found = along(Series::hermite, r, 0.0L, v, p);
        const auto other = along(Series::exact, r, 0.0L, r, p), same = along(Series::hermite, r, 0.0L, r, p);
        worst = std::max(worst,
                         static_cast<double>(std::abs(exact.value * other.value - found.value * same.value)));
    }
    EXPECT_GT(worst, 1e3 * tail * tail);
    EXPECT_LE(worst, box_error({.dimension = 2, .radius = r}, p));
}

TEST(BoxTruncation, OrdersAreTheLeastThatKeepTheTolerance) {
    for (const bool translated : {false, true})
        for (const bool with_gradient : {false, true})
            for (const int d : {1, 2, 3})
                for (const double r : {0.0, 0.25, 0.5, 1.0, 2.0})
                    for (const double tolerance : {1e-2, 1e-6, 1e-10}) {
                        const BoxTruncation of{d, r, translated, with_gradient};
                        const int p = box_order(of, tolerance);
                        if (p == 0) continue;
                        const auto error = [&](int order) {
                            return with_gradient
                                       ? std::max(box_error(of, order), box_gradient_error(of, order))
                                       : box_error(of, order);
                        };
                        if (r == 0.0) {
                            EXPECT_EQ(p, with_gradient ? 2 : 1);
                            continue;
                        }
                        EXPECT_LE(error(p), tolerance);
                        if (p > 1) {
                            EXPECT_GT(error(p - 1), tolerance);
                        }
                    }
    // those of docs: a source's bound for a box of side σ in three dimensions
    EXPECT_EQ(box_order({.dimension = 3, .radius = 0.5}, 1e-6), 11);
    EXPECT_EQ(box_order({.dimension = 6, .radius = 3.0}, 1e-9), 0);
}

GaussLattice lattice_of(int dimension, std::int64_t boxes) {
    GaussLattice out;
    out.dimension = dimension;
    out.count.fill(1);
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension); ++k) {
        out.count[k] = boxes + static_cast<std::int64_t>(k);
        out.side[k] = 0.5 + 0.1 * static_cast<double>(k);
    }
    return out;
}

std::vector<std::uint64_t> random_keys(std::mt19937_64& random, const GaussLattice& lattice, std::size_t n) {
    std::uint64_t boxes = 1;
    for (const auto count : lattice.count) boxes *= static_cast<std::uint64_t>(count);
    std::set<std::uint64_t> out;
    while (out.size() < std::min<std::size_t>(n, boxes)) out.insert(random() % boxes);
    return {out.begin(), out.end()};
}

TEST(OccupiedBoxes, NearOnesAreThoseWithinTheCutoff) {
    std::mt19937_64 random(2);
    for (const int d : {1, 2, 3, 4, 6})
        for (const std::size_t n : {1U, 20U, 400U}) {
            const auto lattice = lattice_of(d, d > 3 ? 4 : 9);
            const auto keys = random_keys(random, lattice, n);
            const OccupiedBoxes boxes(lattice, keys);
            ASSERT_EQ(boxes.count(), keys.size());
            for (const double cutoff : {0.1, 0.9, 2.3}) {
                const auto centre = lattice.box_of(keys[keys.size() / 2]);
                std::vector<std::size_t> near, expected;
                boxes.visit_near(centre, cutoff, [&](std::size_t b) { near.push_back(b); });
                for (std::size_t b = 0; b < keys.size(); ++b) {
                    double apart2 = 0.0;
                    for (std::size_t k = 0; k < static_cast<std::size_t>(d); ++k) {
                        const auto offset = std::abs(lattice.box_of(keys[b])[k] - centre[k]);
                        const double gap = std::max(0.0, static_cast<double>(offset) - 1.0) * lattice.side[k];
                        apart2 += gap * gap;
                    }
                    if (apart2 <= cutoff * cutoff) expected.push_back(b);
                }
                EXPECT_EQ(near, expected) << d << " " << n << " " << cutoff;
            }
        }
}

std::size_t power(int p, int d) { return static_cast<std::size_t>(std::llround(std::pow(p, d))); }

// Σ_n A_n Π_k (−1)^m_k √C(n_k + m_k, n_k) ψ_{n_k+m_k}(D_k), of all boxes within the reach along each axis.
TEST(TranslationStages, AreWhatTheDefinitionSays) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (const int d : {1, 2, 3, 4})
        for (const int p : {1, 3, 4, 9}) {
            if (power(p, d) > 300) continue;
            const auto lattice = lattice_of(d, d > 2 ? 3 : 6);
            const auto from = random_keys(random, lattice, 9), to = random_keys(random, lattice, 8);
            const double cutoff = 1.1, sigma = 0.6;
            TranslationStages stages;
            stages.set(lattice, from, to, cutoff);
            stages.set_order(p, sigma);
            const auto terms = power(p, d);
            Numbers in(from.size() * terms), out(to.size() * terms, 1e9);
            for (double& x : in) x = uniform(random);
            std::vector<const double*> ins;
            std::vector<double*> outs;
            for (std::size_t s = 0; s < from.size(); ++s) ins.push_back(&in[s * terms]);
            for (std::size_t t = 0; t < to.size(); ++t) outs.push_back(&out[t * terms]);
            WorkWatch watch(stages.products(), {}, {});
            stages.run(ins, outs, out, resolve_isa(Isa::automatic), 1, 1.0, watch);
            for (std::size_t t = 0; t < to.size(); ++t)
                for (std::size_t m = 0; m < terms; ++m) {
                    long double sum = 0.0L, scale = 1.0L;
                    for (std::size_t s = 0; s < from.size(); ++s) {
                        bool near = true;
                        std::vector<std::vector<long double>> between;
                        for (std::size_t k = 0; k < static_cast<std::size_t>(d); ++k) {
                            const auto offset = lattice.box_of(to[t])[k] - lattice.box_of(from[s])[k];
                            near = near &&
                                   (static_cast<double>(std::abs(offset)) - 1.0) * lattice.side[k] <= cutoff;
                            between.push_back(
                                functions_at(offset * static_cast<long double>(lattice.side[k]) / sigma));
                        }
                        for (std::size_t n = 0; near && n < terms; ++n) {
                            long double factor = in[s * terms + n];
                            std::size_t a = n, b = m;
                            for (auto k = static_cast<std::size_t>(d); k-- > 0;) { // the last axis is fastest
                                const auto q = static_cast<std::size_t>(p), i = a % q, j = b % q;
                                factor *= (j % 2 == 0 ? 1.0L : -1.0L) * between[k][i + j] *
                                          std::exp(0.5L * (std::lgamma(i + j + 1.0L) - std::lgamma(i + 1.0L) -
                                                           std::lgamma(j + 1.0L)));
                                a /= q;
                                b /= q;
                            }
                            sum += factor;
                            scale += std::abs(factor);
                        }
                    }
                    ASSERT_NEAR(out[t * terms + m], static_cast<double>(sum),
                                static_cast<double>(1e-14L * scale))
                        << d << " " << p;
                }
        }
}

} // namespace
} // namespace farfield
