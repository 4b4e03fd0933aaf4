#include "stencil/run/settings.h"

#include "stencil/api/prepare.h"
#include "stencil/api/program_data.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

namespace fs = std::filesystem;

void check_numbers(const StencilRunSettings& settings) {
    if (settings.steps && settings.end)
        throw InvalidArgument("steps and end are both given; a run has one end: leave one of them out");
    if (settings.restart && settings.overwrite)
        throw InvalidArgument(
            "restart and overwrite are both given (--restart, --overwrite); one goes on from "
            "what the other removes: leave one of them out");
    if (settings.steps && *settings.steps < 0)
        throw InvalidArgument(fmt::format("steps = {} is not allowed; it must be ≥ 0", *settings.steps));
    if (settings.end && !(*settings.end >= 0 && std::isfinite(*settings.end)))
        throw InvalidArgument(
            fmt::format("end = {} is not allowed; it must be a finite time ≥ 0", *settings.end));
    if (settings.checkpoint_steps < 0 || !(settings.checkpoint_seconds >= 0))
        throw InvalidArgument(
            fmt::format("checkpoint_steps = {}, checkpoint_seconds = {} is not allowed; both must be ≥ 0",
                        settings.checkpoint_steps, settings.checkpoint_seconds));
}

std::int64_t last_step_of(const StencilProgram& program, const StencilRunSettings& settings) {
    if (settings.steps) return *settings.steps;
    if (settings.end) return steps_until(*settings.end, program.dt());
    if (const auto steps = program.steps()) return *steps;
    throw InvalidArgument(
        fmt::format("the program '{}' names no end; give --steps N or --end T, or write `time "
                    "steps = 1000` into it",
                    program.name()));
}

} // namespace

// One picture would replace the other without a word.
void check_pictures(const StencilRunSettings& settings) {
    std::vector<fs::path> files;
    std::vector<std::string> animated;
    for (const auto& plot : settings.plots) files.push_back(plot.png);
    for (const auto& animation : settings.animations) {
        files.push_back(animation.png);
        animated.push_back(animation.field);
        if (animation.every < 0)
            throw InvalidArgument(fmt::format("the animation of {} every {} steps is not allowed; it must be "
                                              "≥ 1, or 0 for a hundred frames in all",
                                              animation.field, animation.every));
    }
    for (auto& file : files) {
        if (file.extension() != ".png")
            throw InvalidArgument(
                fmt::format("{}: pictures are PNG files; end the name with .png", file.string()));
        file = fs::absolute(file).lexically_normal();
    }
    std::sort(files.begin(), files.end());
    if (const auto twice = std::adjacent_find(files.begin(), files.end()); twice != files.end())
        throw InvalidArgument(fmt::format("two pictures are to be written to {}; give each a file of its own",
                                          twice->string()));
    std::sort(animated.begin(), animated.end());
    if (const auto twice = std::adjacent_find(animated.begin(), animated.end()); twice != animated.end())
        throw InvalidArgument(
            fmt::format("the field '{}' has two animations; one a field is possible", *twice));
}

std::int64_t checked_last_step(const StencilProgram& program, const StencilRunSettings& settings) {
    check_numbers(settings);
    check_pictures(settings);
    const auto& model = program.data()->model();
    for (const auto& plot : settings.plots) field_index(model, plot.field);
    for (const auto& animation : settings.animations) field_index(model, animation.field);
    return last_step_of(program, settings);
}

} // namespace farfield
