// The inside of a StencilRun, for files that keep it.
#pragma once

#include <farfield/stencil.h>

#include <cstdint>
#include <vector>

namespace farfield {

/// Everything that steps change, or set_field.
struct StencilRunState {
    std::int64_t step = 0;
    std::vector<std::vector<double>> fields; ///< all of the model, in its order
    std::vector<std::vector<double>> series; ///< of each record, from the first step
};

struct StencilRunAccess {
    static const Communicator& communicator(const StencilRun& run);
    static StencilRunState capture(StencilRun& run);
    /// For a run of the same program that has taken no steps. @throws InvalidArgument where the state does
    /// not fit the program.
    static void restore(StencilRun& run, StencilRunState state);
};

} // namespace farfield
