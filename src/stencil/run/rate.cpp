#include "stencil/run/rate.h"

#include "base/stopwatch.h"
#include "stencil/api/program_data.h"
#include "stencil/compiler.h"
#include "stencil/targets.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace farfield {
namespace {

double seconds_of(stencil::Executor& executor, std::int64_t steps) {
    const Stopwatch watch;
    executor.advance(steps);
    return watch.seconds();
}

} // namespace

StencilRateMeter::StencilRateMeter(const StencilProgram& program, int repeats, double seconds)
    : repeats_(repeats), seconds_(seconds) {
    auto diagnostics = program.data()->front.diagnostics();
    stencil::CompileOptions options;
    options.folder = program.data()->folder;
    program_ = stencil::compile(program.data()->model(), options, diagnostics);
    require_good(diagnostics);
    for (const auto& grid : program_->grids)
        cells_ += static_cast<double>(grid.shape[0] * grid.shape[1] * grid.shape[2]);
    for (const auto& kernel : program_->kernels)
        stencils_ += static_cast<double>(kernel.cells->count()) * static_cast<double>(kernel.stores.size()) /
                     static_cast<double>(kernel.every);
}

StencilRate StencilRateMeter::measure(const std::string& target,
                                      const stencil::ExecutorOptions& options) const {
    const auto executor = stencil::make_executor(target, program_, options);
    // the first steps warm up and tell how many fill the time
    constexpr std::int64_t first = 16;
    executor->advance(first);
    const double once = seconds_of(*executor, first) / static_cast<double>(first);
    const double wanted = std::ceil(seconds_ / std::max(once, 1e-9) / first);
    const auto steps = first * static_cast<std::int64_t>(std::clamp(wanted, 1.0, 1e6));
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(repeats_));
    for (int i = 0; i < repeats_; ++i) times.push_back(seconds_of(*executor, steps));
    std::sort(times.begin(), times.end());
    StencilRate rate;
    rate.seconds_per_step = times[times.size() / 2] / static_cast<double>(steps);
    rate.cell_steps_per_second = cells_ / rate.seconds_per_step;
    rate.stencils_per_second = stencils_ / rate.seconds_per_step;
    rate.description = executor->preparation().description;
    return rate;
}

} // namespace farfield
