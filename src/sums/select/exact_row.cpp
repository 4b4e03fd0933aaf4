#include "sums/select/exact_row.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace farfield {
namespace {

/// Fewer, and the compiler unrolls loops over them instead of using vectors.
constexpr std::int64_t lanes = 32;
/// Sources that stay in the first cache, and whose terms are added before they join the rest.
constexpr std::int64_t block = 32 * lanes;

struct Lanes {
    double potential[lanes] = {}, x[lanes] = {}, y[lanes] = {}, z[lanes] = {};

    void add(const Lanes& other) {
        for (std::int64_t k = 0; k < lanes; ++k) {
            potential[k] += other.potential[k];
            x[k] += other.x[k];
            y[k] += other.y[k];
            z[k] += other.z[k];
        }
    }
};

// Loops of constant length over arrays: what a compiler turns into vector instructions.
void add_sources(const ExactTask& task, std::int64_t first, Lanes& sums) {
    const double* points = task.points + 3 * first;
    const double* q = task.strengths + first;
    const double softening2 = task.softening * task.softening;
    double x[lanes], y[lanes], z[lanes], inverse2[lanes], term[lanes];
    for (std::int64_t k = 0; k < lanes; ++k) {
        x[k] = task.target[0] - points[3 * k];
        y[k] = task.target[1] - points[3 * k + 1];
        z[k] = task.target[2] - points[3 * k + 2];
    }
    for (std::int64_t k = 0; k < lanes; ++k) {
        const double r2 = x[k] * x[k] + y[k] * y[k] + z[k] * z[k] + softening2;
        term[k] = r2 == 0.0 ? 0.0 : q[k];
        inverse2[k] = r2 == 0.0 ? 1.0 : r2;
    }
    for (std::int64_t k = 0; k < lanes; ++k) inverse2[k] = 1.0 / inverse2[k];
    for (std::int64_t k = 0; k < lanes; ++k) term[k] *= std::sqrt(inverse2[k]);
    for (std::int64_t k = 0; k < lanes; ++k) sums.potential[k] += term[k];
    for (std::int64_t k = 0; k < lanes; ++k) sums.x[k] += term[k] * inverse2[k] * x[k];
    for (std::int64_t k = 0; k < lanes; ++k) sums.y[k] += term[k] * inverse2[k] * y[k];
    for (std::int64_t k = 0; k < lanes; ++k) sums.z[k] += term[k] * inverse2[k] * z[k];
}

// What is left of a range: others of no strength fill the lanes.
void add_last(const ExactTask& task, std::int64_t first, std::int64_t end, Lanes& sums) {
    double points[3 * lanes] = {};
    double strengths[lanes] = {};
    std::copy(task.points + 3 * first, task.points + 3 * end, points);
    std::copy(task.strengths + first, task.strengths + end, strengths);
    ExactTask rest = task;
    rest.points = points;
    rest.strengths = strengths;
    add_sources(rest, 0, sums);
}

void add_range(const ExactTask& task, std::int64_t begin, std::int64_t end, Lanes& sums) {
    auto j = begin;
    for (; j + lanes <= end; j += lanes) add_sources(task, j, sums);
    if (j < end) add_last(task, j, end, sums);
}

double total(const double (&values)[lanes]) {
    double sums[lanes];
    std::copy(std::begin(values), std::end(values), sums);
    for (std::int64_t half = lanes / 2; half > 0; half /= 2)
        for (std::int64_t k = 0; k < half; ++k) sums[k] += sums[k + half];
    return sums[0];
}

} // namespace

std::vector<InverseDistanceRow> inverse_distance_rows(std::span<const ExactTask> tasks) {
    std::vector<Lanes> sums(tasks.size());
    const auto sources = tasks.empty() ? 0 : tasks.front().sources;
    for (std::int64_t begin = 0; begin < sources; begin += block) {
        const auto end = std::min(sources, begin + block);
        for (std::size_t t = 0; t < tasks.size(); ++t) {
            Lanes part;
            const auto own = tasks[t].own;
            const bool has_own = begin <= own && own < end;
            add_range(tasks[t], begin, has_own ? own : end, part);
            if (has_own) add_range(tasks[t], own + 1, end, part);
            sums[t].add(part);
        }
    }
    std::vector<InverseDistanceRow> rows;
    rows.reserve(sums.size());
    for (const auto& sum : sums)
        rows.push_back(
            {.potential = total(sum.potential), .field = {total(sum.x), total(sum.y), total(sum.z)}});
    return rows;
}

} // namespace farfield
