#include "studies/hermite/problem.h"

#include "backend/threads/parallel.h"
#include "base/random.h"
#include "studies/hermite/powers.h"
#include "studies/hermite/series.h"
#include "sums/gauss/boxes/hermite_function.h"

#include <farfield/error.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace farfield::hermite {
namespace {

constexpr int sources_a_cluster = 20;
constexpr double width = 0.2; // √2σ
enum Purpose : std::uint32_t { of_targets, of_centres, of_sources };

std::size_t in_square(int p) { return static_cast<std::size_t>(p) * static_cast<std::size_t>(p); }

float uniform_float(RandomStream& random) { return static_cast<float>(random.next_uniform()); }

// The moments of a cluster, [a][b].
void add_moments(const Sources& sources, const Problem& problem, int cluster, float* moments) {
    const auto at = 2 * static_cast<std::size_t>(cluster);
    std::vector<double> sums(in_square(problem.terms));
    for (std::size_t j = 0; j < sources.charges.size(); ++j) {
        const double u = (sources.x[j] - static_cast<double>(problem.centres[at])) / width;
        const double v = (sources.y[j] - static_cast<double>(problem.centres[at + 1])) / width;
        double power_of_u = sources.charges[j];
        for (int a = 0, term = 0; a < problem.terms; ++a, power_of_u *= u) {
            double power = power_of_u;
            for (int b = 0; b < problem.terms; ++b, ++term, power *= v)
                sums[static_cast<std::size_t>(term)] += power;
        }
    }
    std::transform(sums.begin(), sums.end(), moments, [](double sum) { return static_cast<float>(sum); });
}

// C_kl of one cluster: H_a along both axes, as coefficients of powers of lengths.
template <int p>
void add_powers(const Problem& problem, const float* moments, float* powers) {
    constexpr Polynomials<p> polynomials;
    long double sums[p][p] = {}; // [l][k], both from p − 1 on
    for (int a = 0; a < p; ++a)
        for (int b = 0; b < p; ++b) {
            const long double coefficient = static_cast<long double>(moments[a * p + b]) /
                                            problem.factorials[static_cast<std::size_t>(a)] /
                                            problem.factorials[static_cast<std::size_t>(b)];
            for (int l = 0; l < p; ++l)
                for (int k = 0; k < p; ++k)
                    sums[l][k] += coefficient * polynomials.at[b][l] * polynomials.at[a][k];
        }
    for (int l = 0; l < p; ++l)
        for (int k = 0; k < p; ++k) {
            const auto scale = std::pow(static_cast<long double>(problem.inverse_width), 2 * (p - 1) - l - k);
            powers[l * p + k] = static_cast<float>(scale * sums[l][k]);
        }
}

} // namespace

Sources sources_of(int cluster, const Problem& problem) {
    RandomStream random(1, of_sources, static_cast<std::uint64_t>(cluster));
    const auto at = 2 * static_cast<std::size_t>(cluster);
    Sources out;
    for (int j = 0; j < sources_a_cluster; ++j) {
        out.x.push_back(static_cast<double>(problem.centres[at]) + width * (random.next_uniform() - 0.5));
        out.y.push_back(static_cast<double>(problem.centres[at + 1]) + width * (random.next_uniform() - 0.5));
        out.charges.push_back(2 * random.next_uniform() - 1);
    }
    return out;
}

Problem make_problem(int terms, std::int64_t targets, int threads) {
    if (std::find(terms_measured.begin(), terms_measured.end(), terms) == terms_measured.end())
        throw InternalError("a number of terms without kernels");
    Problem problem;
    problem.terms = terms;
    problem.inverse_width = static_cast<float>(1 / width);
    problem.x.resize(static_cast<std::size_t>(targets));
    problem.y.resize(static_cast<std::size_t>(targets));
    parallel_parts(threads, problem.x.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            RandomStream random(1, of_targets, i);
            problem.x[i] = uniform_float(random);
            problem.y[i] = uniform_float(random);
        }
    });
    int factorial = 1;
    for (int n = 0; n < terms; factorial *= ++n) problem.factorials.push_back(factorial);
    problem.moments.resize(clusters_evaluated * in_square(terms));
    for (int cluster = 0; cluster < clusters_evaluated; ++cluster) {
        RandomStream random(1, of_centres, static_cast<std::uint64_t>(cluster));
        problem.centres.push_back(uniform_float(random));
        problem.centres.push_back(uniform_float(random));
        add_moments(sources_of(cluster, problem), problem, cluster,
                    problem.moments.data() + static_cast<std::size_t>(cluster) * in_square(terms));
    }
    return problem;
}

std::vector<float> powers_in(const Problem& problem) {
    const auto size = static_cast<std::size_t>(powers_of(problem.terms));
    const auto clusters = static_cast<std::size_t>(problem.clusters());
    std::vector<float> out(clusters * size);
    for (std::size_t cluster = 0; cluster < clusters; ++cluster) {
        const float* moments = problem.moments.data() + cluster * in_square(problem.terms);
        float* powers = out.data() + cluster * size;
        if (problem.terms == 5) add_powers<5>(problem, moments, powers);
        if (problem.terms == 9) add_powers<9>(problem, moments, powers);
        if (problem.terms == 12) add_powers<12>(problem, moments, powers);
    }
    return out;
}

long double exact_potential(const Problem& problem, std::int64_t target) {
    const auto p = static_cast<std::size_t>(problem.terms), i = static_cast<std::size_t>(target);
    const auto hermite_over_factorials = [&](long double t) { // H_n(t)/n! = √(2ⁿ/n!) He_n(√2 t)/√n!
        std::vector<long double> h(p);
        long double scale = 1;
        hermite_polynomials(std::sqrt(2.0L) * t, problem.terms, [&](int n, long double value) {
            h[static_cast<std::size_t>(n)] = scale * value;
            scale *= std::sqrt(2.0L / (n + 1));
        });
        return h;
    };
    long double potential = 0;
    for (int cluster = 0; cluster < problem.clusters(); ++cluster) {
        const auto at = static_cast<std::size_t>(cluster);
        const auto scaled = [&](float of_target, float of_centre) {
            return (static_cast<long double>(of_target) - of_centre) * problem.inverse_width;
        };
        const auto x = scaled(problem.x[i], problem.centres[2 * at]);
        const auto y = scaled(problem.y[i], problem.centres[2 * at + 1]);
        const auto of_x = hermite_over_factorials(x), of_y = hermite_over_factorials(y);
        const float* moments = problem.moments.data() + at * p * p;
        long double sum = 0;
        for (std::size_t a = 0; a < p; ++a)
            for (std::size_t b = 0; b < p; ++b) sum += moments[a * p + b] * of_x[a] * of_y[b];
        potential += sum * std::exp(-(x * x + y * y));
    }
    return potential;
}

Truth truth_of(const Problem& problem, std::size_t about, int threads) {
    Truth truth;
    const auto all = static_cast<std::size_t>(problem.targets());
    const std::size_t step = std::max<std::size_t>(all / std::max<std::size_t>(about, 1), 1);
    for (std::size_t i = 0; i < all; i += step) truth.targets.push_back(static_cast<std::int64_t>(i));
    truth.potentials.resize(truth.targets.size());
    parallel_for(threads, static_cast<std::int64_t>(truth.targets.size()), [&](std::int64_t sample) {
        const auto at = static_cast<std::size_t>(sample);
        truth.potentials[at] = exact_potential(problem, truth.targets[at]);
    });
    for (const auto value : truth.potentials) truth.greatest = std::max(truth.greatest, std::abs(value));
    return truth;
}

double error_of(const Truth& truth, std::span<const float> potentials) {
    long double largest = 0;
    for (std::size_t sample = 0; sample < truth.targets.size(); ++sample) {
        const auto value = potentials[static_cast<std::size_t>(truth.targets[sample])];
        const auto error = std::abs(static_cast<long double>(value) - truth.potentials[sample]);
        if (!(error <= std::numeric_limits<float>::max())) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, error);
    }
    return static_cast<double>(largest / truth.greatest);
}

} // namespace farfield::hermite
