// farfield plot: a picture or an animation of snapshots, or a picture of a run's diagnostics.
#include "command.h"
#include "options.h"

#include "io/picture/plot_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <system_error>

namespace farfield::app {
namespace {

constexpr std::array<std::string_view, 3> planes{"xy", "xz", "yz"};
constexpr std::array<std::string_view, 2> densities{"mass", "charge"}; // in the order of ShownDensity

int plot(const PlotTask& task) {
    return with_inputs(task.inputs, [&] {
        for (const auto& input : task.inputs)
            if (std::error_code ignored; !std::filesystem::is_directory(input, ignored))
                require_input(input, "FILE");
        require_output(task.out, "--out");
        fmt::print("{}", plot_files(task));
        return 0;
    });
}

} // namespace

Action declare_plot(CommandParser app) {
    auto task = std::make_shared<PlotTask>();
    app.add("FILE", task->inputs,
            "Snapshots (other files of bodies), the folder of a run, or its diagnostics.csv")
        .type_name("")
        .required();
    app.add("-o,--out", task->out, "Picture (.png)").type_name("FILE").required();
    app.add_read(
           "--plane",
           [task](const std::string& text) {
               for (auto plane : planes)
                   if (text == plane) task->plane = text;
               if (task->plane != text) unknown_choice("--plane", text, planes);
           },
           "Bodies: the axes to the right and up")
        .type_name(choices_text(planes))
        .default_text("xy");
    add_positive(app, "--width", task->width,
                 "Bodies: width of the square shown; by default nearly all bodies");
    app.add_read(
           "--show",
           [task](const std::string& text) {
               const auto found = std::find(densities.begin(), densities.end(), text);
               if (found == densities.end()) unknown_choice("--show", text, densities);
               task->show = static_cast<ShownDensity>(found - densities.begin());
           },
           "Bodies: what colours tell; by default the charge where there are both signs")
        .type_name(choices_text(densities));
    app.add_flag("--animate", task->animate, "Bodies: an animated PNG, a frame for each snapshot");
    return [task] { return plot(*task); };
}

} // namespace farfield::app
