// What was measured to be fastest for a program on this machine, kept between runs in the folder of compiled
// code. Choices change how long a run takes, never its results.
#pragma once

#include "stencil/runtime/executor.h"

#include <optional>
#include <string>
#include <string_view>

namespace farfield::stencil {

struct Choice {
    Mask mask = Mask::automatic;
    int time_tile = 0;
    std::array<int, 3> block = {};
    bool fuse = true;
    double cell_steps_per_second = 0; ///< when it was measured
};

/// Where a choice is kept: made of everything that it depends on.
/// @param program its statements with the values of all parameters (sizes are among them).
/// @param options threads and device count; the rest is what is chosen.
std::string choice_name(std::string_view program, std::string_view target, const ExecutorOptions& options);

/// Nothing where none was measured, or where the file is damaged or of another version.
std::optional<Choice> read_choice(const std::string& name);
/// @throws IoError.
void write_choice(const std::string& name, const Choice& choice);

/// `options` with the choice in place of everything that they leave open: only where mask, steps a pass and
/// block all are.
ExecutorOptions with_choice(ExecutorOptions options, const std::optional<Choice>& choice);

} // namespace farfield::stencil
