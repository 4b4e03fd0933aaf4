// farfield reproduce microdisk.
#include "io/picture/plot_field.h"
#include "studies/reproduce.h"
#include "studies/resonances/resonances.h"
#include "studies/stencil_examples.h"
#include "studies/study_device.h"

#include <farfield/stencil.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

namespace farfield {
namespace {

struct Mode {
    int m;    ///< wave lengths around the disk
    int n;    ///< maxima along the radius
    double k; ///< times R, of theory
};

// Zeros of J_m, and of its derivative.
constexpr std::array magnetic_modes{Mode{0, 1, 2.404826}, Mode{1, 1, 3.831706}, Mode{2, 1, 5.135622},
                                    Mode{0, 2, 5.520078}, Mode{3, 1, 6.380162}, Mode{1, 2, 7.015587}};
constexpr std::array electric_modes{Mode{1, 1, 1.841184}, Mode{2, 1, 3.054237}, Mode{0, 1, 3.831706},
                                    Mode{3, 1, 4.201189}, Mode{4, 1, 5.317553}, Mode{1, 2, 5.331443}};

struct Wall {
    const char* example;
    const char* title;
    std::array<Mode, 6> modes;
    double low, high; ///< band of k·R
    double duration;
};

constexpr std::array walls{
    Wall{"magnetic_disk", "The paper's wall, H zero: zeros of J_m, k·R", magnetic_modes, 2.0, 7.2, 60},
    Wall{"metal_disk", "A metal wall, E zero: zeros of J_m', k·R", electric_modes, 1.5, 6.0, 60},
    Wall{"metal_disk_cut", "The same with cut cells, k·R", electric_modes, 1.5, 6.0, 100}};

StencilOptions options_of(const StudyDevice& device, const ReproduceOptions& options) {
    StencilOptions out;
    out.target = device.gpu ? "cuda" : "cpu";
    out.device = device.gpu.value_or(0);
    out.threads = options.threads;
    return out;
}

// Angular frequencies of the record, ascending.
std::vector<double> measured(const Wall& wall, double radius, const StencilOptions& options) {
    StencilRun run(StencilProgram::from_text(stencil_example(wall.example),
                                             {{"radius", radius}, {"duration", wall.duration}}, wall.example),
                   options);
    run.run();
    const auto series = run.series("probe");
    ResonancesTask task;
    task.input = wall.example;
    task.column = "probe";
    task.from = 0.97 * wall.low / (2 * std::numbers::pi);
    task.to = wall.high / (2 * std::numbers::pi);
    task.after = 7; // the pulse ends at 6
    task.least = 1e-4;
    std::vector<double> out;
    for (const auto& one : find_resonances(series.times, series.values, task).resonances)
        out.push_back(one.angular_frequency);
    return out;
}

StudyTable table_of(const Wall& wall, const std::vector<double>& radii, const StencilOptions& options,
                    const StudyProgress& progress) {
    StudyTable table{wall.title, {"theory"}, {}};
    for (const auto& mode : wall.modes)
        table.rows.push_back(
            {fmt::format("({}, {})", mode.m, mode.n), "theory", {StudyValue::given(mode.k)}});
    for (const double radius : radii) {
        table.columns.push_back(fmt::format("R = {} cells", radius));
        table.columns.emplace_back("error, %");
        if (progress) progress(fmt::format("{}, {} cells a radius", wall.example, radius));
        const auto found = measured(wall, radius, options);
        for (std::size_t i = 0; i < wall.modes.size(); ++i) {
            auto& values = table.rows[i].values;
            if (found.size() == wall.modes.size()) {
                values.push_back(StudyValue::of(found[i]));
                values.push_back(StudyValue::of(100 * (found[i] / wall.modes[i].k - 1)));
            } else {
                values.resize(values.size() + 2, StudyValue::none("not found"));
            }
        }
    }
    return table;
}

// A whispering gallery: m waves along the wall, one maximum across. Zero of J_12, and of its derivative:
// where the dipole meets most of it.
constexpr Mode gallery{12, 1, 16.698250};
constexpr double gallery_maximum = 13.878843 / gallery.k;
constexpr std::int64_t gallery_cells = 256, gallery_radius = 100;
constexpr double gallery_pulse = 6000; // steps; so long that the dipole excites no other mode

void draw_energy(const std::filesystem::path& png, const StencilField& energy, std::int64_t steps) {
    const auto rows = energy.shape[0], columns = energy.shape[1];
    const std::vector<float> values(energy.values.begin(), energy.values.end());
    picture::FieldPicture look;
    look.title = "microdisk: energy";
    look.moment = fmt::format("summed over {} steps", steps);
    picture::FieldPicture::Outline wall{columns, rows, std::vector<unsigned char>(values.size())};
    const auto middle_x = columns / 2, middle_y = rows / 2;
    for (std::int64_t y = 0; y < rows; ++y)
        for (std::int64_t x = 0; x < columns; ++x)
            wall.inside[static_cast<std::size_t>(y * columns + x)] =
                std::hypot(static_cast<double>(x - middle_x), static_cast<double>(y - middle_y)) <
                gallery_radius;
    look.outlines.push_back(std::move(wall));
    const picture::Plane plane{columns, rows, 0, static_cast<double>(columns), 0, static_cast<double>(rows),
                               "x",     "y"};
    draw_field(plane, values, picture::range_of(values), look).write_png(png);
}

// The paper's program with the dipole near the wall, at the frequency of that mode.
std::string gallery_program() {
    auto text = stencil_example("microdisk");
    const auto source = text.find("source dipole");
    const auto rest = text.find("update accumulate");
    text.replace(source, rest - source,
                 fmt::format("source dipole at (cells/2 + {}, cells/2):\n"
                             "    Hz += exp(-((t - {})/{})^2) * sin({}*t)\n\n"
                             "record probe = Hz at (cells/2, cells/2 - {}) every 8\n\n",
                             std::lround(gallery_maximum * gallery_radius), 3 * gallery_pulse,
                             gallery_pulse, // time counts steps there, of half a cell
                             0.5 * gallery.k / (gallery_radius + 0.38), // the wall is beyond the last cell
                             std::lround(gallery_maximum * gallery_radius)));
    return text;
}

// Runs it; draws the energy summed over time with the wall outlined, and tells the frequency.
StudyTable gallery_table(const std::filesystem::path& png, const StencilOptions& options) {
    StencilRun run(StencilProgram::from_text(gallery_program(),
                                             {{"cells", gallery_cells}, {"radius", gallery_radius}},
                                             "microdisk"),
                   options);
    run.advance(static_cast<std::int64_t>(6 * gallery_pulse));
    const auto series = run.series("probe");
    ResonancesTask task;
    task.input = "microdisk";
    task.column = "probe";
    task.from = 0.98 * 0.5 * gallery.k / gallery_radius / (2 * std::numbers::pi);
    task.to = 1.02 * 0.5 * gallery.k / gallery_radius / (2 * std::numbers::pi);
    task.after = 5.5 * gallery_pulse;
    Resonance strongest;
    for (const auto& one : find_resonances(series.times, series.values, task).resonances)
        if (one.amplitude > strongest.amplitude) strongest = one;
    const double k = strongest.angular_frequency / 0.5 * gallery_radius;
    if (!png.empty()) draw_energy(png, run.field("energy"), run.step());
    return {fmt::format("The whispering gallery ({}, {}) of the paper's program, k·R", gallery.m, gallery.n),
            {"theory", fmt::format("R = {} cells", gallery_radius), "error, %"},
            {{"strongest in the record",
              {},
              {StudyValue::given(gallery.k), StudyValue::of(k), StudyValue::of(100 * (k / gallery.k - 1))}}}};
}

} // namespace

Study reproduce_microdisk(const ReproduceOptions& options) {
    const auto device = study_device(options.device);
    auto study =
        begin_study("microdisk", "The stencil paper's microdisk: its modes against theory", options, device);
    study.about = "modes (waves around, maxima along the radius), from the record of one point.";
    const auto run_options = options_of(device, options);
    std::vector<double> radii;
    for (const double radius : {40.0, 80.0, 160.0})
        if (radius <= std::max(40.0, static_cast<double>(options.most_points))) radii.push_back(radius);
    for (const auto& wall : walls)
        study.tables.push_back(table_of(wall, radii, run_options, options.progress));
    study.notes.emplace_back(
        "The paper's disk is \"enclosed by an ideal metallic material, wherein the magnetic "
        "field is zero and only the electric field values need to be updated\": this wall "
        "keeps H at zero, and has other modes than a perfect conductor, which keeps E at "
        "zero.");
    if (options.progress) options.progress("the whispering gallery");
    study.tables.push_back(gallery_table(options.picture, run_options));
    if (!options.picture.empty())
        study.notes.push_back(
            fmt::format("{}: its energy, summed over time (Figure 2).", options.picture.string()));
    return study;
}

} // namespace farfield
