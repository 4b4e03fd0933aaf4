// Candidates of the benchmark, their measurement in turn, and the check that they compute the same.
#include "studies/bench_stencil.h"

#include "backend/threads/parallel.h"
#include "base/aligned.h"
#include "lang/source_text.h"
#include "math/portable/functions.h"
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"
#include "stencil/targets.h"
#include "studies/bench_points.h"
#include "studies/plain_te_run.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>

namespace farfield {
namespace {

using Clock = std::chrono::steady_clock;
using stencil::Mask;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::shared_ptr<const stencil::ir::Program> compile(std::int64_t n, bool disk) {
    stencil::FrontEnd front("bench", bench_stencil_program(disk), {{"cells", lang::Value(n)}});
    auto program = front.good() ? stencil::compile(front.model(), {}, front.diagnostics()) : nullptr;
    if (!program) throw InternalError("the program of the benchmark: " + to_text(front.diagnostics()));
    return program;
}

/// Something that does steps.
struct CandidateLoop {
    BenchStencilRow row;
    std::function<void(std::int64_t steps)> advance;
    std::function<std::vector<double>()> energy;
    std::vector<double> seconds{}; ///< a step, by repeat
};

// The hand-written loop, over the cells of the program's kernel.
CandidateLoop hand_written(std::int64_t n, bool disk, const stencil::ir::Program& program, int threads) {
    PlainTeTask task;
    task.n = n;
    if (disk) task.cells = program.kernels.back().cells.get();
    task.source_x = task.source_y = n / 2;
    task.wave = [](double step) { return portable::sin(0.15 * step); };
    task.threads = threads;
    const auto run = std::make_shared<PlainTeRun>(task);
    CandidateLoop candidate;
    candidate.row.what = "hand-written";
    candidate.advance = [run](std::int64_t steps) { run->advance(steps); };
    candidate.energy = [run] { return run->energy(); };
    return candidate;
}

CandidateLoop by_language(const std::shared_ptr<const stencil::ir::Program>& program, Mask mask,
                          const char* mask_name, int tile, int threads, BenchStencilReport& report) {
    stencil::ExecutorOptions options;
    options.mask = mask;
    options.threads = threads;
    options.time_tile = tile;
    const std::shared_ptr<stencil::Executor> executor = stencil::make_executor("cpu", program, options);
    report.compile_seconds = std::max(report.compile_seconds, executor->preparation().compile_seconds);
    report.load_seconds = std::max(report.load_seconds, executor->preparation().load_seconds);
    CandidateLoop candidate;
    candidate.row.what = tile == 1 ? "one step a pass" : "several steps a pass";
    candidate.row.mask = mask_name;
    candidate.row.time_tile = tile;
    candidate.advance = [executor](std::int64_t steps) { executor->advance(steps); };
    candidate.energy = [executor] {
        const auto& shape = executor->program().grids[0].shape;
        std::vector<double> values(static_cast<std::size_t>(shape[0] * shape[1]));
        executor->read(3, values);
        return values;
    };
    return candidate;
}

std::vector<CandidateLoop> candidates(std::int64_t n, int threads, BenchStencilReport& report) {
    std::vector<CandidateLoop> list;
    const auto add = [&](CandidateLoop candidate, bool disk, std::int64_t cells) {
        candidate.row.region = disk ? "disk" : "whole";
        candidate.row.n = n;
        candidate.row.cells = cells;
        list.push_back(std::move(candidate));
    };
    for (const bool disk : {false, true}) {
        const auto program = compile(n, disk);
        const auto cells = program->kernels.back().cells->count();
        add(hand_written(n, disk, *program, threads), disk, cells);
        add(by_language(program, Mask::spans, "spans", 1, threads, report), disk, cells);
        add(by_language(program, Mask::spans, "spans", 0, threads, report), disk, cells);
        if (!disk) continue;
        add(by_language(program, Mask::branch, "branch", 1, threads, report), disk, cells);
        add(by_language(program, Mask::select, "select", 1, threads, report), disk, cells);
        add(by_language(program, Mask::none, "none", 1, threads, report), disk, cells);
    }
    return list;
}

double median_ratio(const std::vector<double>& above, const std::vector<double>& below, double factor) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < above.size(); ++i) ratios.push_back(factor * above[i] / below[i]);
    return median(ratios);
}

const CandidateLoop* find(const std::vector<CandidateLoop>& list, const std::string& what,
                          const std::string& region) {
    for (const auto& candidate : list)
        if (candidate.row.what == what && candidate.row.region == region &&
            (candidate.row.mask.empty() || candidate.row.mask == "spans"))
            return &candidate;
    return nullptr;
}

void measure(std::vector<CandidateLoop>& list, std::int64_t n, const BenchStencilOptions& options) {
    // As many steps for all: a multiple of what a pass may do.
    const auto guess = options.seconds * 1e9 / static_cast<double>(n * n);
    const auto steps = std::max<std::int64_t>(16, static_cast<std::int64_t>(guess) / 16 * 16);
    for (int repeat = -1; repeat < options.repeats; ++repeat) // the first warms up
        for (auto& candidate : list) {
            if (options.progress)
                options.progress(
                    fmt::format("{0} x {0}: {1}, {2}", n, candidate.row.what, candidate.row.region));
            const auto start = Clock::now();
            candidate.advance(steps);
            if (repeat >= 0) candidate.seconds.push_back(since(start) / static_cast<double>(steps));
        }
    for (auto& candidate : list) {
        auto& row = candidate.row;
        row.seconds_a_step = median(candidate.seconds);
        row.cell_steps = static_cast<double>(row.cells) / row.seconds_a_step;
        row.fastest_cell_steps = static_cast<double>(row.cells) /
                                 *std::min_element(candidate.seconds.begin(), candidate.seconds.end());
        row.against_plain =
            median_ratio(find(list, "hand-written", row.region)->seconds, candidate.seconds, 1);
        const auto* whole = find(list, row.what, "whole");
        if (row.region == "disk" && whole != nullptr)
            row.cell_against_whole =
                median_ratio(candidate.seconds, whole->seconds,
                             static_cast<double>(whole->row.cells) / static_cast<double>(row.cells));
    }
}

// Rates of loops that compute different things mean nothing.
void check_equal(const std::vector<CandidateLoop>& list) {
    for (const char* region : {"whole", "disk"}) {
        std::vector<double> expected;
        for (const auto& candidate : list) {
            if (candidate.row.region != region) continue;
            const auto values = candidate.energy();
            if (expected.empty()) expected = values;
            if (std::memcmp(expected.data(), values.data(), values.size() * sizeof(double)) != 0)
                throw InternalError(
                    fmt::format("{} ({}, {}): its energy is not that of the hand-written loop",
                                candidate.row.what, region, candidate.row.mask));
        }
    }
}

double triad(int threads) {
    constexpr std::int64_t n = std::int64_t{1} << 24;
    AlignedVector<double> a(n), b(n, 1.0), c(n, 2.0);
    double best = 0;
    for (int repeat = 0; repeat < 4; ++repeat) {
        const auto start = Clock::now();
        parallel_for(threads, 16 * std::int64_t{threads}, [&](std::int64_t part) {
            const auto parts = 16 * std::int64_t{threads};
            for (auto i = n * part / parts; i < n * (part + 1) / parts; ++i) a[i] = b[i] + 3.0 * c[i];
        });
        best = std::max(best, 24.0 * static_cast<double>(n) / since(start));
    }
    return best;
}

} // namespace

std::string bench_stencil_program(bool disk) {
    const char* where = disk ? "disk" : "interior";
    return fmt::format(R"(program bench
param cells = 512, courant = 0.5
let radius = 0.45*cells
grid g[x: cells, y: cells]
field Ex, Ey, Hz, energy on g : double
subdomain disk(x, y) = (x - cells/2)^2 + (y - cells/2)^2 < radius^2
update electric on {0}:
    Ex += courant*(Hz - Hz[y-1])
    Ey += courant*(Hz[x-1] - Hz)
update magnetic on {0}:
    Hz += courant*(Ex[y+1] - Ex + Ey - Ey[x+1])
source dipole at (cells//2, cells//2):
    Hz += sin(0.15*t)
update accumulate on {1}: energy += Hz*Hz
step: electric, magnetic, dipole, accumulate
output energy at end
)",
                       where, disk ? "disk" : "x < cells - 1 and y < cells - 1");
}

BenchStencilReport bench_stencil(const BenchStencilOptions& options) {
    if (options.repeats < 1) throw InvalidArgument("the number of repeats must be at least 1");
    for (const auto n : options.sizes)
        if (n < 16)
            throw InvalidArgument(fmt::format("a grid of {} cells a side is too small: take at least 16", n));
    BenchStencilReport report;
    report.threads = thread_count(options.threads);
    report.repeats = options.repeats;
    report.triad = triad(report.threads);
    for (const auto n : options.sizes) {
        auto list = candidates(n, report.threads, report);
        measure(list, n, options);
        check_equal(list);
        for (const auto& candidate : list) report.rows.push_back(candidate.row);
    }
    return report;
}

} // namespace farfield
