#include "dynamics/run/outputs.h"

#include "base/stopwatch.h"
#include "dynamics/run/diagnostics_rows.h"
#include "io/csv.h"
#include "io/picture/film.h"

#include <farfield/error.h>
#include <farfield/options.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace farfield {
namespace {

SnapshotInfo info_of(const Case& simulation_case, const RunOrigin& origin) {
    SnapshotInfo info;
    info.units = origin.units;
    if (simulation_case.force.reinitialise == Reinitialise::none) // others have no names
        info.body_names = names_from_text(origin.names);
    info.name = simulation_case.name;
    info.G = simulation_case.force.G;
    info.softening = simulation_case.force.softening;
    info.kernel = simulation_case.force.kernel;
    info.box = simulation_case.force.period;
    return info;
}

double rounding_of(const OutputTimes& times, double time) {
    return 0.5e-9 * times.step +
           4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(time), std::abs(times.start));
}

} // namespace

bool OutputTimes::due(double time, std::uint64_t next) const {
    return every > 0.0 && time >= start + static_cast<double>(next) * every - rounding_of(*this, time);
}

std::uint64_t OutputTimes::next_after(double time) const {
    if (!(every > 0.0)) return 1;
    // So many outputs in one run mean one at every step: any number that is due again then will do.
    constexpr double most = 0x1p53;
    const double passed = std::floor((time - start + rounding_of(*this, time)) / every);
    if (!(passed < most)) return static_cast<std::uint64_t>(most);
    auto k = static_cast<std::uint64_t>(std::max(0.0, passed));
    while (due(time, k)) ++k;
    return std::max<std::uint64_t>(k, 1);
}

Outputs::Outputs(const RunFolder& folder, const Case& simulation_case, const RunOrigin& origin,
                 double start_time)
    : folder_(folder), options_(simulation_case.output), info_(info_of(simulation_case, origin)),
      start_time_(start_time), step_(simulation_case.time.step), threads_(simulation_case.force.threads),
      columns_(diagnostics_columns(simulation_case.force)), file_(folder.diagnostics()) {}

void Outputs::begin() {
    counters_ = {};
    file_.begin(diagnostics_header(columns_));
}

void Outputs::continue_from(const Checkpoint& checkpoint) {
    counters_ = checkpoint.outputs;
    relative_energy_error_ = checkpoint.relative_energy_error;
    file_.continue_from(checkpoint.diagnostics_bytes);
    trails_ = picture::Trails(checkpoint.trails);
}

bool Outputs::is_due(double time) const {
    return row_times().due(time, counters_.next_diagnostics) ||
           snapshot_times().due(time, counters_.next_snapshot);
}

Outputs::Due Outputs::take_due(double time, bool finished) {
    const Due due{.row = row_times().due(time, counters_.next_diagnostics) || finished,
                  .snapshot = snapshot_times().due(time, counters_.next_snapshot) || finished};
    if (due.row) counters_.next_diagnostics = row_times().next_after(time);
    if (due.snapshot) counters_.next_snapshot = snapshot_times().next_after(time);
    return due;
}

void Outputs::write(const OutputState& state, const Due& due) {
    const Stopwatch watch;
    if (due.row) write_row(state.row.value());
    if (due.row || due.snapshot) remember_for_trails(state);
    if (due.snapshot) write_snapshot_files(state);
    seconds_ += watch.seconds();
}

void Outputs::save_to(Checkpoint& checkpoint) {
    checkpoint.outputs = counters_;
    checkpoint.start_time = start_time_;
    checkpoint.relative_energy_error = relative_energy_error_;
    checkpoint.trails = trails_.moments();
    checkpoint.diagnostics_bytes = file_.sync();
}

void Outputs::plot_diagnostics_file() const {
    if (!options_.pictures) return;
    const auto table = read_csv(folder_.diagnostics());
    if (table.rows() > 1) plot_diagnostics(folder_.diagnostics_picture(), table, info_.units);
}

void Outputs::animate_snapshots() const {
    if (!options_.animation) return;
    std::vector<std::filesystem::path> snapshots;
    for (std::uint64_t i = 0; i < counters_.snapshots; ++i) snapshots.push_back(folder_.snapshot(i));
    DensityPlotOptions options{.plane = options_.plane, .trails = &trails_, .threads = threads_};
    const auto film = film_frame(snapshots, options);
    options.frame = counters_.frame.width > 0.0 ? counters_.frame : film.frame;
    if (options_.picture_width > 0.0) options.frame.width = options_.picture_width;
    write_film(folder_.animation(), snapshots, film, options);
}

double Outputs::energy_error() const {
    const auto table = read_csv(folder_.diagnostics());
    if (const auto* of_vortices = table.find("hamiltonian_error"))
        return of_vortices->empty() ? 0.0 : std::abs(of_vortices->back());
    const auto* total = table.find("total");
    const auto* kinetic = table.find("kinetic");
    const auto* potential = table.find("potential");
    if (table.rows() == 0 || total == nullptr || kinetic == nullptr || potential == nullptr) return 0.0;
    const double before = total->front();
    const double scale = std::max(std::abs(before), 0.1 * (kinetic->front() + std::abs(potential->front())));
    const double change = std::abs(total->back() - before);
    return scale > 0.0 ? change / scale : change;
}

namespace {

void check_diagnostics(const Diagnostics& row, const DiagnosticsColumns& columns) {
    struct Named {
        std::string_view name;
        double value;
    };
    for (const auto& [name, value] :
         {Named{"Hamiltonian", row.vortices ? row.total : 0.0}, Named{"kinetic energy", row.kinetic},
          Named{"potential energy", row.potential},
          Named{"momentum", row.momentum[0] + row.momentum[1] + row.momentum[2]},
          Named{"angular momentum", columns.periodic ? 0.0
                                                     : row.angular_momentum[0] + row.angular_momentum[1] +
                                                           row.angular_momentum[2]},
          Named{"radius of 90 % of the mass", columns.periodic ? 0.0 : row.lagrangian_radii[2]}})
        if (!std::isfinite(value))
            throw InvalidArgument(
                fmt::format("the {} at t = {} is {}: bodies are too fast or too far away for it to be a "
                            "number; use slower bodies, other units, a smaller time.step or a larger "
                            "force.softening",
                            name, row.time, std::isnan(value) ? "not a number" : "infinite"));
}

} // namespace

void Outputs::write_row(const Diagnostics& row) {
    check_diagnostics(row, columns_);
    last_row_ = row;
    relative_energy_error_ = row.relative_energy_error;
    file_.append(diagnostics_row(row, columns_));
}

void Outputs::write_snapshot_files(const OutputState& state) {
    info_.time = state.time;
    info_.core_size = state.sigma;
    write_snapshot(folder_.snapshot(counters_.snapshots), *state.bodies, info_);
    if (options_.pictures) {
        // One frame for the whole run: the pictures make a film.
        if (!(counters_.frame.width > 0.0))
            counters_.frame =
                picture_frame(*state.bodies, options_.plane, options_.picture_width, {}, info_.box, threads_);
        plot_density(
            folder_.picture(counters_.snapshots), *state.bodies, info_,
            {.plane = options_.plane, .frame = counters_.frame, .trails = &trails_, .threads = threads_});
    }
    ++counters_.snapshots;
}

void Outputs::remember_for_trails(const OutputState& state) {
    if (draws_trails() && !columns_.periodic && picture::are_few(*state.bodies))
        trails_.add(state.time, *state.bodies);
}

} // namespace farfield
