#include "studies/resonances/resonances.h"

#include "base/json.h"
#include "base/text.h"
#include "io/csv.h"
#include "studies/resonances/harmonic_inversion.h"

#include <farfield/error.h>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace farfield {
namespace {

std::size_t time_column(const Table& table) {
    for (std::size_t i = 0; i < table.names.size(); ++i)
        if (table.names[i] == "t" || table.names[i] == "time") return i;
    return 0;
}

std::size_t value_column(const Table& table, const ResonancesTask& task) {
    const auto time = time_column(table);
    std::vector<std::string> others;
    for (std::size_t i = 0; i < table.names.size(); ++i)
        if (i != time) others.push_back(table.names[i]);
    const auto found = std::find(table.names.begin(), table.names.end(),
                                 task.column.empty() && others.size() == 1 ? others[0] : task.column);
    if (found != table.names.end()) return static_cast<std::size_t>(found - table.names.begin());
    throw InvalidArgument(fmt::format("{}: {}; it has {}", task.input.string(),
                                      task.column.empty() ? "say which series with --column"
                                                          : "there is no column '" + task.column + "'",
                                      joined(others, ", ")));
}

// The distance of evenly spaced times. Times are printed with all their digits, but may be sums of steps.
double interval_of(const std::vector<double>& times, const std::string& name) {
    const double interval = (times.back() - times.front()) / static_cast<double>(times.size() - 1);
    for (std::size_t i = 0; i < times.size(); ++i) {
        const double expected = times.front() + interval * static_cast<double>(i);
        if (std::fabs(times[i] - expected) <= 1e-3 * interval) continue;
        throw InvalidArgument(fmt::format("{}: the times are not evenly spaced: sample {} is at {}, and {} "
                                          "would be even; record with one interval",
                                          name, i, times[i], expected));
    }
    return interval;
}

} // namespace

ResonanceReport find_resonances(const std::vector<double>& times, const std::vector<double>& values,
                                const ResonancesTask& task) {
    const auto skipped =
        static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), task.after) - times.begin());
    const std::vector<double> used_times(times.begin() + static_cast<std::ptrdiff_t>(skipped), times.end());
    const std::vector<double> used(values.begin() + static_cast<std::ptrdiff_t>(skipped), values.end());
    const auto name = task.input.string();
    if (used.size() < 16)
        throw InvalidArgument(fmt::format("{}: {} samples from t = {} on are too few; record at least 16, "
                                          "and some periods of the slowest wave",
                                          name, used.size(), task.after));
    ResonanceReport report{task.column, used_times.front(), used_times.back(), used.size(), {}};
    const double interval = interval_of(used_times, name);
    try {
        const HarmonicInversion options{.from = task.from, .to = task.to, .least = task.least};
        for (const auto& one : harmonic_inversion(used, interval, options))
            report.resonances.push_back({one.frequency, one.angular_frequency(), one.decay, one.quality(),
                                         one.amplitude, one.phase, one.error});
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(fmt::format("{}: {}", name, error.what()));
    }
    return report;
}

ResonanceReport find_resonances(const ResonancesTask& task) {
    const auto table = read_csv(task.input);
    if (table.columns.size() < 2)
        throw InvalidArgument(
            fmt::format("{}: a column of times and a series are needed", task.input.string()));
    const auto value = value_column(table, task);
    auto named = task;
    named.column = table.names[value];
    // series of several intervals share a table, with nan where one has no sample
    std::vector<double> times, values;
    for (std::size_t i = 0; i < table.columns[value].size(); ++i) {
        if (std::isnan(table.columns[value][i])) continue;
        times.push_back(table.columns[time_column(table)][i]);
        values.push_back(table.columns[value][i]);
    }
    return find_resonances(times, values, named);
}

std::string to_text(const ResonanceReport& report) {
    auto text = fmt::format("{}: {} samples, t = {:.6g} to {:.6g}\n", report.column, report.samples,
                            report.first, report.last);
    if (report.resonances.empty()) return text + "no resonance is sure enough to tell\n";
    text += fmt::format("{:>15} {:>15} {:>11} {:>11} {:>9} {:>9}\n", "frequency", "angular", "Q", "amplitude",
                        "phase", "error");
    for (const auto& one : report.resonances)
        text += fmt::format("{:>15.9g} {:>15.9g} {:>11} {:>11.4g} {:>9.4f} {:>9.1e}\n", one.frequency,
                            one.angular_frequency,
                            std::isfinite(one.quality) ? fmt::format("{:.5g}", one.quality) : "-",
                            one.amplitude, one.phase, one.error);
    return text;
}

std::string to_json(const ResonanceReport& report) {
    auto list = Json::array();
    for (const auto& one : report.resonances)
        list.push_back({{"frequency", one.frequency},
                        {"angular_frequency", one.angular_frequency},
                        {"decay", one.decay},
                        {"Q", std::isfinite(one.quality) ? Json(one.quality) : Json()},
                        {"amplitude", one.amplitude},
                        {"phase", one.phase},
                        {"frequency_error", one.error}});
    const Json all = {{"column", report.column},
                      {"first_time", report.first},
                      {"last_time", report.last},
                      {"samples", report.samples},
                      {"resonances", list}};
    return all.dump(2) + '\n';
}

} // namespace farfield
