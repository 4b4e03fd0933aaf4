#include "io/picture/plot_file.h"

#include "io/bodies_file.h"
#include "io/csv.h"
#include "io/picture.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield {
namespace {

bool is_diagnostics(const Table& table) {
    return table.find("time") != nullptr && table.find("relative_energy_error") != nullptr;
}

void plot_table(const PlotTask& task, const Table& table) {
    if (!task.plane.empty() || task.width > 0.0)
        throw InvalidArgument(
            fmt::format("{} holds diagnostics, which have no plane and no width; leave these "
                        "options out, or plot a snapshot",
                        task.input.string()));
    try {
        plot_diagnostics(task.out, table);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(fmt::format("{}: {}", task.input.string(), error.what()));
    }
}

std::string plot_bodies(const PlotTask& task) {
    const auto snapshot = read_bodies(task.input);
    DensityPlotOptions options;
    if (!task.plane.empty()) options.plane = task.plane;
    if (task.width > 0.0) options.frame = picture_frame(snapshot.bodies, options.plane, task.width);
    plot_density(task.out, snapshot.bodies, snapshot.info, options);
    return fmt::format("{} bodies at t = {:.6g}, seen in the {} plane\n", snapshot.bodies.size(),
                       snapshot.info.time, options.plane);
}

} // namespace

std::string plot_file(const PlotTask& task) {
    if (task.out.extension() != ".png")
        throw InvalidArgument(
            fmt::format("{}: pictures are PNG files; end the name with .png", task.out.string()));
    std::string text;
    if (task.input.extension() == ".csv") {
        const auto table = read_csv(task.input);
        if (is_diagnostics(table)) {
            plot_table(task, table);
            text = fmt::format("{} rows of diagnostics\n", table.rows());
        }
    }
    if (text.empty()) text = plot_bodies(task);
    return text + "Files made:\n  " + task.out.string() + '\n';
}

} // namespace farfield
