#include "sums/direct/cpu/jerk.h"

#include "backend/comm/transport.h"
#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "backend/threads/work_watch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/direct/cpu/tiles.h"
#include "sums/kernels/kernel.h"
#include "sums/points/prepared.h"

#include <farfield/error.h>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

constexpr std::int64_t targets_a_task = 64;

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

void store(const JerkTask& task, std::int64_t i, const Sums& sums) {
    const double sign = kernel_info(task.kernel).sign;
    if (task.potential != nullptr) task.potential[i] = sign * sums.potential;
    for (int k = 0; k < 3; ++k) {
        task.field[3 * i + k] = sign * sums.field[k];
        task.jerk[3 * i + k] = sign * sums.jerk[k];
    }
}

bool is_finite(const Sums& sums) {
    bool finite = std::isfinite(sums.potential);
    for (int k = 0; k < 3; ++k)
        finite = finite && std::isfinite(sums.field[k]) && std::isfinite(sums.jerk[k]);
    return finite;
}

/// The sums in the frame of the prepared points, and how to take them back.
struct Workspace {
    PreparedPoints<double> points;
    std::vector<double> velocity[3];
    std::vector<double> sums[7];       ///< potential, field, jerk
    double scale[3] = {1.0, 1.0, 1.0}; ///< of potential, field and jerk
    JerkTile tile;
};

// A power of two s on lengths and t on strengths, and times left alone: φ' = φ t/s, field' = field t/s²,
// jerk' = jerk t/s² where velocities are scaled like lengths.
void prepare(const JerkTask& task, Workspace& work) {
    const auto n = static_cast<std::size_t>(task.n);
    const std::span<const double> points(task.points, 3 * n);
    const std::span<const double> strengths(task.strengths, n);
    const auto frame = choose_frame(points, {}, task.softening);
    const int exponent = strength_exponent(strengths);
    work.points.set(points, frame, false);
    work.points.set_strengths(strengths, exponent);
    work.tile.points = work.points.view();
    const auto padded = (n + point_padding - 1) / point_padding * point_padding;
    for (std::size_t k = 0; k < 3; ++k) {
        work.velocity[k].assign(padded, 0.0);
        for (std::size_t i = 0; i < n; ++i)
            work.velocity[k][i] = std::ldexp(task.velocities[3 * i + k], frame.exponent);
        work.tile.velocity[k] = work.velocity[k].data();
    }
    for (auto& sum : work.sums) sum.resize(n);
    work.tile.potential = work.sums[0].data();
    for (std::size_t k = 0; k < 3; ++k) {
        work.tile.field[k] = work.sums[1 + k].data();
        work.tile.jerk[k] = work.sums[4 + k].data();
    }
    const double softening = std::ldexp(task.softening, frame.exponent);
    work.tile.softening2 = softening * softening;
    // velocities have the unit of lengths, so that jerks scale as the field
    const auto& kernel = kernel_info(task.kernel);
    work.scale[0] = std::ldexp(1.0, kernel.result_exponent(Output::potential, frame.exponent, exponent));
    work.scale[1] = work.scale[2] =
        std::ldexp(1.0, kernel.result_exponent(Output::field, frame.exponent, exponent));
}

void finish_row(const JerkTask& task, const Workspace& work, std::int64_t i) {
    const auto row = static_cast<std::size_t>(i);
    Sums sums;
    sums.potential = work.scale[0] * work.sums[0][row];
    for (std::size_t k = 0; k < 3; ++k) {
        sums.field[k] = work.scale[1] * work.sums[1 + k][row];
        sums.jerk[k] = work.scale[2] * work.sums[4 + k][row];
    }
    // Beyond the range of a float estimate: once more, number by number.
    if (!is_finite(sums)) {
        sums = {};
        for (std::int64_t j = 0; j < task.n; ++j)
            if (j != i) add_pair(task, i, j, sums);
    }
    store(task, i, sums);
}

// As of a sum of fields alone, which is somewhat shorter.
int threads_of(const JerkTask& task, Isa isa) {
    if (task.threads > 0) return task.threads;
    if (task.n <= targets_a_task) return 1;
    const auto& table = cost_table_in_use().table;
    const double rate = cost_of(table, direct_cost::cpu_pairs_per_second(isa, Precision::float64, false));
    return threads_for(0, static_cast<double>(task.n) * static_cast<double>(task.n) / rate, table);
}

std::pair<std::int64_t, std::int64_t> tasks_of_this_rank(const JerkTask& task, std::int64_t tasks) {
    return task.ranks == nullptr ? std::pair{std::int64_t{0}, tasks}
                                 : tasks_of_rank(tasks, task.ranks->rank(), task.ranks->size());
}

// All ranks get the rows of all.
void exchange(const JerkTask& task, std::int64_t tasks) {
    std::vector<std::int64_t> begins;
    const int ranks = task.ranks->size();
    begins.reserve(static_cast<std::size_t>(ranks) + 1);
    for (int rank = 0; rank <= ranks; ++rank)
        begins.push_back(std::min(tasks_of_rank(tasks, rank, ranks).first * targets_a_task, task.n));
    const auto share = [&](double* rows, std::int64_t width) {
        if (rows == nullptr) return;
        comm::share_rows(*task.ranks, {rows, static_cast<std::size_t>(width * task.n)}, width, begins);
    };
    share(task.field, 3);
    share(task.jerk, 3);
    share(task.potential, 1);
}

} // namespace

void direct_field_and_jerk(const JerkTask& task) {
    const Isa isa = resolve_isa(task.isa);
    const auto function = FF_ISA_FUNCTION(ff_jerk, isa);
    if (task.n == 0) return;
    Workspace work;
    prepare(task, work);
    const auto tasks = (task.n + targets_a_task - 1) / targets_a_task;
    const auto [first, last] = tasks_of_this_rank(task, tasks);
    WorkWatch watch(0.0, {}, task.stop_requested);
    parallel_for(threads_of(task, isa), last - first, [&, first = first](std::int64_t number) {
        if (watch.stopped()) return;
        auto tile = work.tile;
        tile.target_begin = (first + number) * targets_a_task;
        tile.target_end = std::min(tile.target_begin + targets_a_task, task.n);
        function(&tile);
        for (auto i = tile.target_begin; i < tile.target_end; ++i) finish_row(task, work, i);
        if (task.stop_requested) watch.done(1.0);
    });
    if (task.ranks != nullptr) exchange(task, tasks);
    if (comm::any_rank(task.ranks, watch.stopped()))
        throw Interrupted("the accelerations were given up before their end");
}

} // namespace farfield
