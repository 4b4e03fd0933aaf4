#include "oracle/direct/oracle.h"

#include <cmath>
#include <random>
#include <thread>

namespace oracle {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

// Rows [begin, end) of the targets; `own` says that target i is source i.
void sum_rows(const Points& sources, const std::vector<double>& targets, long double softening,
              long double sign, bool own, std::int64_t begin, std::int64_t end, Result& result) {
    for (auto i = begin; i < end; ++i) {
        long double phi = 0;
        long double e[3] = {0, 0, 0};
        for (std::int64_t j = 0; j < sources.size(); ++j) {
            if (own && i == j) continue;
            long double r2 = softening * softening;
            long double d[3];
            for (int k = 0; k < 3; ++k) {
                d[k] = static_cast<long double>(targets[index(3 * i + k)]) -
                       static_cast<long double>(sources.xyz[index(3 * j + k)]);
                r2 += d[k] * d[k];
            }
            const long double r = std::sqrt(r2);
            const long double term = static_cast<long double>(sources.q[index(j)]) / r;
            phi += term;
            for (int k = 0; k < 3; ++k) e[k] += term * d[k] / r2;
        }
        result.potential[index(i)] = sign * phi;
        for (int k = 0; k < 3; ++k) result.field[index(3 * i + k)] = sign * e[k];
    }
}

Result sum(const Points& sources, const std::vector<double>& targets, long double softening, long double sign,
           bool own) {
    Result result;
    const auto m = static_cast<std::int64_t>(targets.size() / 3);
    result.potential.resize(index(m));
    result.field.resize(index(3 * m));
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
              long double sign) {
    return sum(sources, targets, softening, sign, false);
}

Result direct_self(const Points& points, long double softening, long double sign) {
    return sum(points, points.xyz, softening, sign, true);
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

} // namespace oracle
