#include "sums/direct/jerk.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

struct Sums {
    double potential = 0.0;
    double field[3] = {0.0, 0.0, 0.0};
    double jerk[3] = {0.0, 0.0, 0.0};
};

void add_pair(const JerkTask& task, std::int64_t i, std::int64_t j, Sums& sums) {
    double R[3];
    double V[3];
    double r2 = task.softening * task.softening;
    double rv = 0.0;
    for (int k = 0; k < 3; ++k) {
        R[k] = task.points[3 * i + k] - task.points[3 * j + k];
        V[k] = task.velocities[3 * i + k] - task.velocities[3 * j + k];
        r2 += R[k] * R[k];
        rv += R[k] * V[k];
    }
    const double inverse = 1.0 / std::sqrt(r2);
    const double potential = task.strengths[j] * inverse;
    const double w = potential * inverse * inverse;
    const double radial = 3.0 * rv * inverse * inverse;
    sums.potential += potential;
    for (int k = 0; k < 3; ++k) {
        sums.field[k] += w * R[k];
        sums.jerk[k] += w * (V[k] - radial * R[k]);
    }
}

} // namespace

void direct_field_and_jerk(const JerkTask& task) {
    constexpr std::int64_t rows_a_task = 64;
    const double sign = task.kernel == Kernel::gravity ? -1.0 : 1.0;
    const auto tasks = (task.n + rows_a_task - 1) / rows_a_task;
    parallel_for(thread_count(task.threads), tasks, [&](std::int64_t block) {
        const auto end = std::min(task.n, (block + 1) * rows_a_task);
        for (auto i = block * rows_a_task; i < end; ++i) {
            Sums sums;
            for (std::int64_t j = 0; j < i; ++j) add_pair(task, i, j, sums);
            for (std::int64_t j = i + 1; j < task.n; ++j) add_pair(task, i, j, sums);
            if (task.potential != nullptr) task.potential[i] = sign * sums.potential;
            for (int k = 0; k < 3; ++k) {
                task.field[3 * i + k] = sign * sums.field[k];
                task.jerk[3 * i + k] = sign * sums.jerk[k];
            }
        }
    });
}

} // namespace farfield
