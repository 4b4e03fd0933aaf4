#include "stencil/run/settings.h"

#include "base/text.h"
#include "io/picture/colour_map.h"
#include "stencil/api/prepare.h"
#include "stencil/api/program_data.h"
#include "stencil/run/pictures.h"

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

void check_look(const std::string& field, const StencilLook& look) {
    if (look.range && !((*look.range)[0] < (*look.range)[1] && std::isfinite((*look.range)[0]) &&
                        std::isfinite((*look.range)[1])))
        throw InvalidArgument(
            fmt::format("the range {} to {} of the picture of {} is not allowed; both must be finite and "
                        "the first the smaller",
                        (*look.range)[0], (*look.range)[1], field));
    if (look.colours != "auto") (void)picture::colour_map(look.colours);
}

void check_slice(const stencil::Model& model, const std::string& field, const StencilLook& look) {
    const auto& description = model.fields[static_cast<std::size_t>(field_index(model, field))];
    if (!look.slice) return;
    const auto& axes = model.grids[static_cast<std::size_t>(description.grid)].axes;
    std::string names;
    for (const auto& each : axes) names += "xyz"[each.coordinate];
    const auto axis = names.find(look.slice->axis);
    const auto wanted = slice_text(look.slice);
    if (axes.size() < 2)
        throw InvalidArgument(
            fmt::format("the slice {} of {} is not possible: the field has one axis", wanted, field));
    if (axis == std::string::npos)
        throw InvalidArgument(fmt::format("the slice {} of {} is not possible: the axes of the field are {}",
                                          wanted, field, joined(names, ", ")));
    if (look.slice->index < 0 || look.slice->index >= axes[axis].cells)
        throw InvalidArgument(
            fmt::format("the slice {} of {} is not possible: the cells along {} are numbered from 0 to {}",
                        wanted, field, names[axis], axes[axis].cells - 1));
}

} // namespace

std::vector<std::string_view> stencil_colours() {
    auto names = picture::colour_map_names();
    names.insert(names.begin(), "auto");
    return names;
}

// One picture would replace the other without a word.
void check_pictures(const StencilRunSettings& settings) {
    std::vector<fs::path> files;
    std::vector<std::string> animated;
    for (const auto& plot : settings.plots) {
        files.push_back(plot.png);
        check_look(plot.field, plot.look);
    }
    for (const auto& animation : settings.animations) {
        files.push_back(animation.png);
        animated.push_back(animation.field);
        check_look(animation.field, animation.look);
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
    for (const auto& plot : settings.plots) check_slice(model, plot.field, plot.look);
    for (const auto& animation : settings.animations) check_slice(model, animation.field, animation.look);
    return last_step_of(program, settings);
}

} // namespace farfield
