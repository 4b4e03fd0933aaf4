#include "io/picture/plot_file.h"

#include "base/text.h"
#include "io/bodies_file.h"
#include "io/csv.h"
#include "io/picture/film.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield {
namespace {

namespace fs = std::filesystem;

bool is_diagnostics(const Table& table) {
    return table.find("time") != nullptr &&
           (table.find("relative_energy_error") != nullptr || table.find("hamiltonian_error") != nullptr);
}

// Of the snapshots beside a diagnostics.csv, which has none.
Units units_beside(const fs::path& diagnostics) {
    try {
        const auto first = diagnostics.parent_path() / "snapshot_0000.h5";
        if (fs::exists(first)) return read_snapshot(first).info.units;
    } catch (const Error&) {
        return {}; // another program's, or damaged: the axes have no units then
    }
    return {};
}

void plot_table(const PlotTask& task, const Table& table) {
    const auto& input = task.inputs.front();
    if (!task.plane.empty() || task.width > 0.0 || task.show || task.animate)
        throw InvalidArgument(
            fmt::format("{} holds diagnostics, which have no plane, no width, no density and no animation; "
                        "leave these options out, or plot a snapshot",
                        input.string()));
    try {
        plot_diagnostics(task.out, table, units_beside(input));
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(fmt::format("{}: {}", input.string(), error.what()));
    }
}

std::vector<fs::path> bodies_files(const PlotTask& task) {
    std::vector<fs::path> files;
    for (const auto& input : task.inputs) {
        if (!fs::is_directory(input)) {
            files.push_back(input);
            continue;
        }
        const auto found = snapshots_in(input);
        if (found.empty())
            throw InvalidArgument(fmt::format(
                "{}: the folder holds no snapshots (snapshot_0000.h5 and so on); give the folder of a run of "
                "bodies, or files",
                input.string()));
        files.insert(files.end(), found.begin(), found.end());
    }
    return files;
}

// Whose trails have gaps, by name if they have any.
std::string gaps_text(const Snapshot& snapshot, const picture::Trails& trails) {
    std::vector<std::string> names;
    const auto ids = picture::ids_of(snapshot.bodies);
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (trails.of(ids[i], snapshot.info.time).gaps > 0)
            names.push_back(snapshot.info.body_names.empty() ? fmt::format("body {}", ids[i])
                                                             : snapshot.info.body_names[i]);
    if (names.empty()) return {};
    constexpr std::size_t most = 6;
    const auto left_out = names.size() > most ? names.size() - most : 0;
    names.resize(names.size() - left_out);
    return fmt::format("The snapshots are too far apart for whole trails of {}{}; a smaller snapshot_every "
                       "helps\n",
                       joined(names, ", "), left_out > 0 ? fmt::format(" and {} more", left_out) : "");
}

std::string text_of(const Snapshot& snapshot, const std::string& plane) {
    const auto& box = snapshot.info.box;
    const auto where = box == std::array<double, 3>{}
                           ? std::string()
                           : fmt::format(" in a periodic box of {}", joined(box, " × ", "{:g}"));
    return fmt::format("{} bodies{} at t = {:.6g}, seen in the {} plane", snapshot.bodies.size(), where,
                       snapshot.info.time, plane);
}

std::string plot_one(const PlotTask& task, const fs::path& file, DensityPlotOptions options) {
    const auto snapshot = read_bodies(file);
    if (task.width > 0.0)
        options.frame =
            picture_frame(snapshot.bodies, options.plane, task.width, task.show, snapshot.info.box);
    plot_density(task.out, snapshot.bodies, snapshot.info, options);
    return text_of(snapshot, options.plane) + '\n';
}

std::string plot_several(const PlotTask& task, const std::vector<fs::path>& files,
                         DensityPlotOptions options) {
    const auto film = film_frame(files, options);
    options.frame = film.frame;
    if (task.width > 0.0) options.frame.width = task.width;
    if (task.animate) {
        write_film(task.out, files, film, options);
        return fmt::format("{} frames, seen in the {} plane\n", files.size(), options.plane);
    }
    const auto snapshot = read_bodies(files[film.order.back()]);
    if (!picture::are_few(snapshot.bodies)) {
        plot_density(task.out, snapshot.bodies, snapshot.info, options);
        return text_of(snapshot, options.plane) +
               fmt::format(", the last of {} snapshots; --animate draws all of them\n", files.size());
    }
    options.trails = &film.trails;
    plot_density(task.out, snapshot.bodies, snapshot.info, options);
    return text_of(snapshot, options.plane) +
           (film.trails.moments().times.empty()
                ? fmt::format(", the last of {} snapshots\n", files.size())
                : fmt::format(", with trails through {} snapshots\n", files.size())) +
           gaps_text(snapshot, film.trails);
}

std::string plot_bodies(const PlotTask& task) {
    DensityPlotOptions options;
    if (!task.plane.empty()) options.plane = task.plane;
    options.show = task.show;
    const auto files = bodies_files(task);
    if (files.size() == 1 && !task.animate) return plot_one(task, files.front(), options);
    return plot_several(task, files, options);
}

} // namespace

std::string plot_files(const PlotTask& task) {
    if (task.out.extension() != ".png")
        throw InvalidArgument(
            fmt::format("{}: pictures are PNG files; end the name with .png", task.out.string()));
    std::string text;
    if (task.inputs.size() == 1 && task.inputs.front().extension() == ".csv") {
        const auto table = read_csv(task.inputs.front());
        if (is_diagnostics(table)) {
            plot_table(task, table);
            text = fmt::format("{} rows of diagnostics\n", table.rows());
        }
    }
    if (text.empty()) text = plot_bodies(task);
    return text + "Files made:\n  " + task.out.string() + '\n';
}

} // namespace farfield
