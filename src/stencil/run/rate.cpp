#include "stencil/run/rate.h"

#include "base/stopwatch.h"
#include "stencil/api/program_data.h"
#include "stencil/compiler.h"
#include "stencil/targets.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace farfield {
namespace {

double seconds_of(const std::function<void(std::int64_t)>& advance, std::int64_t steps) {
    const Stopwatch watch;
    advance(steps);
    return watch.seconds();
}

} // namespace

double seconds_a_step(const std::function<void(std::int64_t)>& advance, int repeats, double seconds) {
    // the first steps warm up and tell how many fill the time
    constexpr std::int64_t first = 16;
    advance(first);
    const double once = seconds_of(advance, first) / static_cast<double>(first);
    const double wanted = std::ceil(seconds / std::max(once, 1e-9) / first);
    const auto steps = first * static_cast<std::int64_t>(std::clamp(wanted, 1.0, 1e6));
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(repeats));
    for (int i = 0; i < repeats; ++i) times.push_back(seconds_of(advance, steps));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2] / static_cast<double>(steps);
}

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
    return rate_of(seconds_a_step([&](std::int64_t steps) { executor->advance(steps); }, repeats_, seconds_),
                   executor->preparation().description);
}

StencilRate StencilRateMeter::rate_of(double seconds_per_step, std::string description) const {
    return {seconds_per_step, cells_ / seconds_per_step, stencils_ / seconds_per_step,
            std::move(description)};
}

} // namespace farfield
