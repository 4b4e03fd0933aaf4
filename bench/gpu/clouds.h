// Clouds of points for benches of far-field methods, and errors against exact sums on the GPU.
#pragma once

#include "gpu_rows.h"

#include <farfield/sum.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace farfield::bench {

struct Cloud {
    int n;
    std::string kind;    ///< cube, plummer, or a name for points made otherwise
    bool masses = false; ///< 1/N each; else charges in [−1, 1]
    double softening = 0.0;
};

struct Points {
    std::vector<double> x, q;
};

inline Points points_of(const Cloud& of, unsigned seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    std::normal_distribution<double> normal;
    Points out;
    for (int i = 0; i < of.n; ++i) {
        double p[3] = {uniform(engine), uniform(engine), uniform(engine)};
        if (of.kind == "plummer") { // of scale 1, cut off at 20
            const double r = std::min(20.0, 1.0 / std::sqrt(std::pow(p[0], -2.0 / 3.0) - 1.0));
            for (auto& v : p) v = normal(engine);
            const double length = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
            for (auto& v : p) v *= r / length;
        }
        out.x.insert(out.x.end(), p, p + 3);
        const double q = uniform(engine);
        out.q.push_back(of.masses ? 1.0 / of.n : 2.0 * q - 1.0);
    }
    return out;
}

/// Relative L2 of rows that are `every` apart, and the median of the rows' own relative errors.
struct Error {
    double l2 = 0.0, median = 0.0, percentile99 = 0.0;
};

inline Error error_of(const std::vector<double>& got, const std::vector<double>& exact, std::size_t every,
                      std::size_t width) {
    double difference = 0.0, norm = 0.0;
    std::vector<double> each;
    for (std::size_t row = 0; row < exact.size() / width; ++row) {
        double d2 = 0.0, n2 = 0.0;
        for (std::size_t k = 0; k < width; ++k) {
            const double e = exact[row * width + k];
            const double d = got[row * every * width + k] - e;
            d2 += d * d;
            n2 += e * e;
        }
        difference += d2;
        norm += n2;
        each.push_back(std::sqrt(d2 / n2));
    }
    std::sort(each.begin(), each.end());
    return {std::sqrt(difference / norm), each[each.size() / 2], each[each.size() * 99 / 100]};
}

inline double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Exact sums at every so many targets.
struct Exact {
    std::size_t every = 1;
    std::vector<double> field, potential;
};

inline const Exact& exact_of(const Cloud& of, int seed, const Points& points) {
    static std::map<std::tuple<int, std::string, bool, double, int>, Exact> kept;
    auto& out = kept[{of.n, of.kind, of.masses, of.softening, seed}];
    if (!out.field.empty()) return out;
    const std::size_t n = points.q.size();
    out.every = n < 2000000 ? 1 : n / 20000;
    const std::size_t count = n / out.every;
    // the sampled points on each other, and all others on them: no target is a source of its own
    Points sample, rest;
    for (std::size_t i = 0; i < n; ++i) {
        auto& to = i % out.every == 0 && i / out.every < count ? sample : rest;
        to.x.insert(to.x.end(), points.x.begin() + 3 * i, points.x.begin() + 3 * (i + 1));
        to.q.push_back(points.q[i]);
    }
    out.field.assign(3 * count, 0.0);
    out.potential.assign(count, 0.0);
    const auto add = [&](const Points& from) {
        if (from.q.empty()) return;
        GpuRows x(from.x, 3), q(from.q, 1), to(sample.x, 3);
        GpuRows phi(count, 1), e(count, 3);
        SumOptions direct;
        direct.kernel = Kernel::coulomb;
        direct.method = Method::direct;
        direct.softening = of.softening;
        auto plan = &from == &sample ? SumPlan(x.view(), direct) : SumPlan(x.view(), to.view(), direct);
        SumOutputs outputs;
        outputs.potential = phi.view();
        outputs.field = e.view();
        plan.execute(q.view(), outputs);
        const auto field = e.values(), potential = phi.values();
        for (std::size_t k = 0; k < field.size(); ++k) out.field[k] += field[k];
        for (std::size_t k = 0; k < potential.size(); ++k) out.potential[k] += potential[k];
    };
    add(sample);
    add(rest);
    return out;
}

/// The fastest of some updates and executions of a plan, with its report; and what the GPU worked of each,
/// from keys to results, by its own clock: the median.
struct Timed {
    double milliseconds = HUGE_VAL;
    SumReport report;
    double on_gpu = 0.0;
};

inline Timed least_of(SumPlan& plan, GpuRows& x, GpuRows& q, const SumOutputs& outputs, int repeats) {
    Timed best;
    std::vector<double> on_gpu;
    for (int repeat = 0; repeat < repeats; ++repeat) { // the first ones warm up
        GpuRows::wait();
        const auto begin = std::chrono::steady_clock::now();
        plan.update(x.view());
        plan.execute(q.view(), outputs);
        GpuRows::wait();
        const double taken =
            1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const auto& report = plan.report();
        on_gpu.push_back(1e3 * (report.fmm.tree_seconds + report.compute_seconds));
        if (taken < best.milliseconds) best = {taken, report};
    }
    best.on_gpu = median_of(on_gpu);
    return best;
}

} // namespace farfield::bench
