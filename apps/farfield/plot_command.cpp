// farfield plot: a picture or an animation of snapshots, a picture of a run's diagnostics, or of the density
// of points.
#include "command.h"
#include "options.h"
#include "stop_signal.h"

#include "io/picture/plot_file.h"
#include "sums/run/plot_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <system_error>

namespace farfield::app {
namespace {

constexpr std::array<std::string_view, 3> planes{"xy", "xz", "yz"};
constexpr std::array<std::string_view, 2> densities{"mass", "charge"}; // in the order of ShownDensity

struct Plot {
    PlotTask task;      ///< of bodies and diagnostics
    double sigma = 0.0; ///< of points
};

// Points in the plane have no plane to choose, no width and no moments.
int plot_density_of_points(const Plot& plot) {
    const auto& task = plot.task;
    if (!task.plane.empty() || task.width > 0.0 || task.show || task.animate)
        throw InvalidArgument(
            fmt::format("{} holds points in the plane, which have no --plane, --width, --show "
                        "and --animate; leave these options out, or plot bodies",
                        task.inputs.front().string()));
    const StopSignal stop;
    try {
        fmt::print("{}", plot_points({.points = task.inputs.front(),
                                      .out = task.out,
                                      .sigma = plot.sigma,
                                      .hooks = {.progress = {}, .stop_requested = [] {
                                                    return StopSignal::received() != 0;
                                                }}}));
        return 0;
    } catch (const Interrupted&) {
        say("stopped; nothing was written\n");
        return StopSignal::exit_code();
    }
}

int draw(const Plot& plot) {
    const auto& task = plot.task;
    return with_inputs(task.inputs, [&] {
        for (const auto& input : task.inputs)
            if (std::error_code ignored; !std::filesystem::is_directory(input, ignored))
                require_input(input, "FILE");
        require_output(task.out, "--out");
        if (task.inputs.size() == 1 && holds_plane_points(task.inputs.front()))
            return plot_density_of_points(plot);
        if (plot.sigma > 0.0)
            throw InvalidArgument(
                "--sigma is the width of Gaussians of points in the plane (.csv with x and y, "
                ".npy with 2 or 3 columns), one file of them; leave it out for bodies");
        fmt::print("{}", plot_files(task));
        return 0;
    });
}

} // namespace

Action declare_plot(CommandParser app) {
    auto plot = std::make_shared<Plot>();
    auto& task = plot->task;
    app.add("FILE", task.inputs,
            "Snapshots (other files of bodies), a run's folder or diagnostics.csv, or points in the plane")
        .type_name("")
        .required();
    app.add("-o,--out", task.out, "Picture (.png)").type_name("FILE").required();
    app.add_read(
           "--plane",
           [plot, &task](const std::string& text) {
               for (auto plane : planes)
                   if (text == plane) task.plane = text;
               if (task.plane != text) unknown_choice("--plane", text, planes);
           },
           "Bodies: the axes to the right and up")
        .type_name(choices_text(planes))
        .default_text("xy");
    add_positive(app, "--width", task.width,
                 "Bodies: width of the square shown; by default nearly all bodies");
    add_positive(app, "--sigma", plot->sigma,
                 "Points: width of the Gaussians of the density; by default by Scott's rule");
    app.add_read(
           "--show",
           [plot, &task](const std::string& text) {
               const auto found = std::find(densities.begin(), densities.end(), text);
               if (found == densities.end()) unknown_choice("--show", text, densities);
               task.show = static_cast<ShownDensity>(found - densities.begin());
           },
           "Bodies: what colours tell; by default the charge where there are both signs")
        .type_name(choices_text(densities));
    app.add_flag("--animate", task.animate, "Bodies: an animated PNG, a frame for each snapshot");
    return [plot] { return draw(*plot); };
}

} // namespace farfield::app
