// How fast a target runs a stencil program. Two rates are told, because papers mean either by "stencils a
// second": a *cell-step* is one cell of the grid in one step, whether it lies in a subdomain or not; a
// *stencil* is one equation at one cell where it applies.
#pragma once

#include "stencil/runtime/executor.h"

#include <farfield/stencil.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace farfield {

struct StencilRate {
    double seconds_per_step = 0; ///< median
    double cell_steps_per_second = 0;
    double stencils_per_second = 0;
    std::string description; ///< of what ran
};

/// The median of `repeats` measurements of at least `seconds` each, after steps that warm up.
double seconds_a_step(const std::function<void(std::int64_t steps)>& advance, int repeats, double seconds);

/// A compiled program, to be measured with several options.
class StencilRateMeter {
public:
    /// @param seconds what a measurement takes at least, so that clocks and caches settle.
    /// @throws StencilError for mistakes of the program.
    StencilRateMeter(const StencilProgram& program, int repeats, double seconds = 0.2);

    /// Cells of all grids.
    double cells() const { return cells_; }
    /// Equations × cells in a step; updates that are not done in every step count by their share.
    double stencils() const { return stencils_; }
    /// Of something else that does the same steps.
    StencilRate rate_of(double seconds_per_step, std::string description) const;
    const stencil::ir::Program& program() const { return *program_; }
    /// @param target "cpu", "cuda", … @throws as stencil::make_executor.
    StencilRate measure(const std::string& target, const stencil::ExecutorOptions& options) const;

private:
    std::shared_ptr<const stencil::ir::Program> program_;
    int repeats_;
    double seconds_;
    double cells_ = 0;
    double stencils_ = 0;
};

} // namespace farfield
