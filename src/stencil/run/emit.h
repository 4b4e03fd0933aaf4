// Writing a stencil program as a project that needs no Farfield: what `farfield stencil emit` does.
#pragma once

#include "stencil/run/inspect.h"

#include <farfield/stencil.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield {

struct StencilEmitTask {
    StencilTask program;
    std::string target = "cpu"; ///< of emit_targets()
    std::filesystem::path folder;
    bool allow_unstable = false;
    std::optional<std::int64_t> steps; ///< by default those of the program, or 1000
    StencilMask mask = StencilMask::automatic;
    int time_tile = 0;          ///< steps a pass over memory, of the target cuda; 0: chosen
    std::array<int, 3> block{}; ///< of the target cuda, as in StencilOptions; 0: chosen
};

/// The targets that projects can be written for.
std::vector<std::string_view> emit_targets();
/// What stands before the program of a target's project on the command line: "mpirun -n 4 ", or nothing.
std::string_view launcher_of(std::string_view target);

/// Writes the files; those of an earlier project are replaced. @returns their paths.
/// @throws StencilError for mistakes of the program, InvalidArgument for a target that is not known, for
/// tiles of another target than cuda, and for a folder with other files of the same names, IoError.
std::vector<std::filesystem::path> emit_stencil(const StencilEmitTask& task);

} // namespace farfield
