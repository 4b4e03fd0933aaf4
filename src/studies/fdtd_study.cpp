// The parts that the studies of the microdisk share.
#include "studies/fdtd_study.h"

#include "backend/threads/parallel.h"
#include "math/portable/functions.h"
#include "stencil/codegen/projects/generated_code.h"
#include "studies/stencil_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace farfield {

using stencil::Mask;

const char* const fdtd_rates_explained =
    "2D TE, double, with the energy sum. A cell-step is one cell of the whole grid in one step; a stencil is "
    "one equation at one cell where it applies: four equations, two of them in the disk alone. The paper "
    "does not say which of the two it counts. Values with > were measured here.";

StencilProgram microdisk_of(std::int64_t cells) {
    return StencilProgram::from_text(stencil_example("microdisk"),
                                     {{"cells", cells}, {"radius", 0.4 * static_cast<double>(cells)}},
                                     "microdisk");
}

FdtdTarget fdtd_target(const StudyDevice& device, const ReproduceOptions& options) {
    FdtdTarget out{device.gpu ? "cuda" : "cpu", {}};
    out.options.threads = options.threads;
    out.options.device = device.gpu.value_or(0);
    return out;
}

std::vector<FdtdStrategy> distinct_strategies(const StencilRateMeter& meter, std::string_view target,
                                              stencil::ExecutorOptions options) {
    constexpr std::array masks{std::pair(Mask::none, "none"), std::pair(Mask::select, "select"),
                               std::pair(Mask::branch, "branch"), std::pair(Mask::spans, "spans"),
                               std::pair(Mask::multiply, "multiply")};
    std::vector<FdtdStrategy> out;
    std::vector<std::string> codes;
    for (const auto& [mask, name] : masks) {
        options.mask = mask;
        auto code = stencil::codegen::generated_code(meter.program(), target, options);
        const auto known = std::find(codes.begin(), codes.end(), code);
        if (known == codes.end()) {
            codes.push_back(std::move(code));
            out.push_back({mask, name});
        } else {
            out[static_cast<std::size_t>(known - codes.begin())].names.append(", ").append(name);
        }
    }
    return out;
}

PlainTeRun hand_written_microdisk(const StencilRateMeter& meter, std::int64_t cells, int threads) {
    PlainTeTask task;
    task.n = cells;
    task.cells = meter.program().kernels.back().cells.get(); // of the energy: the disk
    task.electric_everywhere = true;
    task.source_x = cells / 2 + 60; // as in the example
    task.source_y = cells / 2;
    task.wave = [](double step) {
        const double phase = (step - 60) / 20;
        return portable::exp(-(phase * phase)) * portable::sin(0.15 * step);
    };
    task.threads = thread_count(threads);
    return PlainTeRun(task);
}

StencilRate hand_written_rate(const StencilRateMeter& meter, std::int64_t cells, int threads, int repeats) {
    auto run = hand_written_microdisk(meter, cells, threads);
    return meter.rate_of(seconds_a_step([&](std::int64_t steps) { run.advance(steps); }, repeats, 0.2),
                         "hand-written");
}

std::string hand_written_name(int threads) {
    const int all = thread_count(threads);
    return fmt::format("hand-written OpenMP loop, {} thread{}", all, all == 1 ? "" : "s");
}

StudyValue giga(double rate) { return StudyValue::of(1e-9 * rate); }

RateTables::RateTables(const std::string& title, const std::vector<std::string>& columns)
    : cell_steps_{title + ", 1e9 cell-steps/s", columns, {}}, stencils_{
                                                                  title + ", 1e9 stencils/s", columns, {}} {}

void RateTables::row(const std::string& what) {
    cell_steps_.rows.push_back({what, {}, {}});
    stencils_.rows.push_back({what, {}, {}});
}

void RateTables::add(const StencilRate& rate) {
    cell_steps_.rows.back().values.push_back(giga(rate.cell_steps_per_second));
    stencils_.rows.back().values.push_back(giga(rate.stencils_per_second));
}

void RateTables::skip() {
    cell_steps_.rows.back().values.push_back(StudyValue::none("-"));
    stencils_.rows.back().values.push_back(StudyValue::none("-"));
}

void RateTables::deliver(Study& study) {
    study.tables.push_back(std::move(cell_steps_));
    study.tables.push_back(std::move(stencils_));
}

} // namespace farfield
