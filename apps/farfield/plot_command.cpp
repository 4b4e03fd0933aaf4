// farfield plot: a picture of a snapshot, or of a run's diagnostics.
#include "command.h"
#include "options.h"

#include "io/picture/plot_file.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>

namespace farfield::app {
namespace {

constexpr std::array<std::string_view, 3> planes{"xy", "xz", "yz"};

int plot(const PlotTask& task) {
    return with_inputs({task.input}, [&] {
        require_input(task.input, "FILE");
        require_output(task.out, "--out");
        fmt::print("{}", plot_file(task));
        return 0;
    });
}

} // namespace

Action declare_plot(CommandParser app) {
    auto task = std::make_shared<PlotTask>();
    app.add("FILE", task->input, "Snapshot (or other file of bodies), or the diagnostics.csv of a run")
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
           "Snapshot: the axes to the right and up")
        .type_name(choices_text(planes))
        .default_text("xy");
    add_positive(app, "--width", task->width,
                 "Snapshot: width of the square shown; by default nearly all bodies");
    return [task] { return plot(*task); };
}

} // namespace farfield::app
