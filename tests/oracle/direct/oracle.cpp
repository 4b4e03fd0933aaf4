#include "oracle/direct/oracle.h"

#include <array>
#include <cmath>
#include <random>
#include <thread>

namespace oracle {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

using Vector = std::array<long double, 3>;

struct Sums {
    long double potential = 0;
    Vector field{};
    long double hessian[6] = {};
    bool with_hessian = false;
};

// A charge q, seen along d at the distance r.
void add_charge(long double q, const Vector& d, long double r, Sums& sums) {
    const long double r3 = r * r * r;
    const long double r5 = r3 * r * r;
    sums.potential += q / r;
    for (std::size_t i = 0; i < 3; ++i) sums.field[i] += q / r * d[i] / (r * r);
    if (!sums.with_hessian) return;
    sums.hessian[0] += q * (3 * d[0] * d[0] / r5 - 1 / r3);
    sums.hessian[1] += q * 3 * d[0] * d[1] / r5;
    sums.hessian[2] += q * 3 * d[0] * d[2] / r5;
    sums.hessian[3] += q * (3 * d[1] * d[1] / r5 - 1 / r3);
    sums.hessian[4] += q * 3 * d[1] * d[2] / r5;
    sums.hessian[5] += q * (3 * d[2] * d[2] / r5 - 1 / r3);
}

// A dipole p: φ = p·d/r³, ∂ᵢφ = pᵢ/r³ − 3 (p·d) dᵢ/r⁵,
// ∂ᵢ∂ⱼφ = −3 (pᵢ dⱼ + pⱼ dᵢ + (p·d) δᵢⱼ)/r⁵ + 15 (p·d) dᵢ dⱼ/r⁷.
void add_dipole(const Vector& p, const Vector& d, long double r, Sums& sums) {
    const long double r3 = r * r * r;
    const long double r5 = r3 * r * r;
    const long double r7 = r5 * r * r;
    const long double along = p[0] * d[0] + p[1] * d[1] + p[2] * d[2];
    sums.potential += along / r3;
    std::size_t place = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        sums.field[i] -= p[i] / r3 - 3 * along * d[i] / r5;
        for (std::size_t j = i; j < 3 && sums.with_hessian; ++j)
            sums.hessian[place++] += 15 * along * d[i] * d[j] / r7 -
                                     3 * (p[i] * d[j] + p[j] * d[i] + (i == j ? along : 0.0L)) / r5;
    }
}

// Rows [begin, end) of the targets; `own` says that target i is source i.
void sum_rows(const Points& sources, const std::vector<double>& targets, long double softening,
              long double sign, bool own, std::int64_t begin, std::int64_t end, Result& result) {
    for (auto i = begin; i < end; ++i) {
        Sums sums;
        sums.with_hessian = !result.hessian.empty();
        for (std::int64_t j = 0; j < sources.size(); ++j) {
            if (own && i == j) continue;
            long double r2 = softening * softening;
            Vector d{};
            for (std::size_t k = 0; k < 3; ++k) {
                d[k] = static_cast<long double>(targets[index(3 * i) + k]) -
                       static_cast<long double>(sources.xyz[index(3 * j) + k]);
                r2 += d[k] * d[k];
            }
            const long double r = std::sqrt(r2);
            add_charge(static_cast<long double>(sources.q[index(j)]), d, r, sums);
            if (sources.p.empty()) continue;
            Vector p{};
            for (std::size_t k = 0; k < 3; ++k) p[k] = static_cast<long double>(sources.p[index(3 * j) + k]);
            add_dipole(p, d, r, sums);
        }
        result.potential[index(i)] = sign * sums.potential;
        for (std::size_t k = 0; k < 3; ++k) result.field[index(3 * i) + k] = sign * sums.field[k];
        for (std::size_t k = 0; k < 6 && sums.with_hessian; ++k)
            result.hessian[index(6 * i) + k] = sign * sums.hessian[k];
    }
}

Result sum(const Points& sources, const std::vector<double>& targets, long double softening, long double sign,
           bool own, bool with_hessian) {
    Result result;
    const auto m = static_cast<std::int64_t>(targets.size() / 3);
    result.potential.resize(index(m));
    result.field.resize(index(3 * m));
    if (with_hessian) result.hessian.resize(index(6 * m));
    const std::int64_t threads = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::thread> pool;
    for (std::int64_t t = 0; t < threads; ++t)
        pool.emplace_back([&, t] {
            sum_rows(sources, targets, softening, sign, own, t * m / threads, (t + 1) * m / threads, result);
        });
    for (auto& thread : pool) thread.join();
    return result;
}

void add_point(Points& points, double x, double y, double z, double q) {
    points.xyz.insert(points.xyz.end(), {x, y, z});
    points.q.push_back(q);
}

} // namespace

Points plummer(std::int64_t n, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    Points points;
    for (std::int64_t i = 0; i < n; ++i) {
        // The mass inside r is r³/(1 + r²)^(3/2); outermost thousandth left out.
        const double mass = 0.999 * uniform(generator) + 1e-9;
        const double r = 1.0 / std::sqrt(std::pow(mass, -2.0 / 3.0) - 1.0);
        const double z = 2.0 * uniform(generator) - 1.0;
        const double angle = 6.283185307179586 * uniform(generator);
        const double s = std::sqrt(1.0 - z * z);
        add_point(points, r * s * std::cos(angle), r * s * std::sin(angle), r * z,
                  1.0 / static_cast<double>(n));
    }
    return points;
}

Points uniform_cube(std::int64_t n, std::uint64_t seed) {
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<double> side(-1.0, 1.0);
    Points points;
    for (std::int64_t i = 0; i < n; ++i) {
        const double x = side(generator);
        const double y = side(generator);
        const double z = side(generator);
        add_point(points, x, y, z, (1.0 + 0.5 * side(generator)) / static_cast<double>(n));
    }
    return points;
}

Points rounded_to_float(Points points) {
    for (auto* values : {&points.xyz, &points.q})
        for (double& value : *values) value = static_cast<double>(static_cast<float>(value));
    return points;
}

Points rows(const Points& points, const std::vector<std::int64_t>& which) {
    Points out;
    for (auto i : which)
        add_point(out, points.xyz[index(3 * i)], points.xyz[index(3 * i + 1)], points.xyz[index(3 * i + 2)],
                  points.q[index(i)]);
    return out;
}

Points without_rows(const Points& points, const std::vector<std::int64_t>& which) {
    std::vector<bool> gone(index(points.size()), false);
    for (auto i : which) gone[index(i)] = true;
    std::vector<std::int64_t> rest;
    for (std::int64_t i = 0; i < points.size(); ++i)
        if (!gone[index(i)]) rest.push_back(i);
    return rows(points, rest);
}

Result direct(const Points& sources, const std::vector<double>& targets, long double softening,
              long double sign, bool with_hessian) {
    return sum(sources, targets, softening, sign, false, with_hessian);
}

Result direct_self(const Points& points, long double softening, long double sign, bool with_hessian) {
    return sum(points, points.xyz, softening, sign, true, with_hessian);
}

double relative_l2(const std::vector<double>& a, const std::vector<long double>& b) {
    long double difference = 0;
    long double norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto d = static_cast<long double>(a[i]) - b[i];
        difference += d * d;
        norm += b[i] * b[i];
    }
    return static_cast<double>(std::sqrt(difference / norm));
}

double relative_frobenius(const std::vector<double>& a, const std::vector<long double>& b) {
    long double difference = 0;
    long double norm = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const int factor =
            i % 6 == 0 || i % 6 == 3 || i % 6 == 5 ? 1 : 2; // off the diagonal each stands twice
        const auto d = static_cast<long double>(a[i]) - b[i];
        difference += factor * d * d;
        norm += factor * b[i] * b[i];
    }
    return static_cast<double>(std::sqrt(difference / norm));
}

} // namespace oracle
