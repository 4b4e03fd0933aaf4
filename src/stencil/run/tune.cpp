#include "stencil/run/tune.h"

#include "backend/threads/parallel.h"
#include "base/json.h"
#include "base/machine.h"
#include "base/text.h"
#include "io/atomic_file.h"
#include "stencil/api/program_data.h"
#include "stencil/run/rate.h"
#include "stencil/targets.h"

#include <farfield/device.h>

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace farfield {
namespace {

using stencil::Choice;
using stencil::Mask;

std::string_view mask_name(Mask mask) {
    constexpr std::array<std::string_view, 5> names{"automatic", "none", "select", "branch", "spans"};
    return names[static_cast<std::size_t>(mask)];
}

std::string block_name(const std::array<int, 3>& block) {
    if (block[0] == 0) return "-";
    return block[2] > 1 ? fmt::format("{}x{}x{}", block[0], block[1], block[2])
                        : fmt::format("{}x{}", block[0], block[1]);
}

std::string target_of(const TuneTask& task) {
    const auto known = stencil::target_names();
    const bool cuda = std::find(known.begin(), known.end(), "cuda") != known.end();
    if (task.target == "auto") return cuda && !gpus().empty() ? "cuda" : "cpu";
    if (task.target == "interpreter")
        throw InvalidArgument("the interpreter has nothing to tune; choose the target cpu or cuda");
    if (std::find(known.begin(), known.end(), task.target) != known.end()) return task.target;
    throw BackendUnavailable(
        fmt::format("the target '{}' is not in this build; it has {}", task.target, list_of_words(known)));
}

class Search {
public:
    Search(const TuneTask& task, std::string target)
        : task_(task), target_(std::move(target)), meter_(task.program, task.repeats, task.seconds) {}

    /// Measures a choice that was not measured before; ways that a target refuses are left out.
    void measure(const Choice& choice) {
        for (const auto& row : rows_)
            if (same(row.choice, choice)) return;
        if (task_.progress)
            task_.progress(fmt::format("mask {}, {} steps a pass, block {}", mask_name(choice.mask),
                                       choice.time_tile, block_name(choice.block)));
        stencil::ExecutorOptions options;
        options.mask = choice.mask;
        options.threads = task_.threads;
        options.device = task_.device;
        options.time_tile = choice.time_tile;
        options.block = choice.block;
        options.fuse = choice.fuse;
        StencilRate rate;
        try {
            rate = meter_.measure(target_, options);
        } catch (const InvalidArgument&) {
            return;
        }
        rows_.push_back({choice, rate.stencils_per_second});
        rows_.back().choice.cell_steps_per_second = rate.cell_steps_per_second;
        if (rate.cell_steps_per_second > rows_[best_].choice.cell_steps_per_second) best_ = rows_.size() - 1;
    }
    const Choice& best() const { return rows_.at(best_).choice; }
    std::size_t best_row() const { return best_; }
    std::vector<TuneRow> rows() const { return rows_; }

private:
    static bool same(const Choice& a, const Choice& b) {
        return a.mask == b.mask && a.time_tile == b.time_tile && a.block == b.block && a.fuse == b.fuse;
    }
    const TuneTask& task_;
    std::string target_;
    StencilRateMeter meter_;
    std::vector<TuneRow> rows_;
    std::size_t best_ = 0;
};

void search(Search& search, bool gpu) {
    for (const int tile : {1, 2, 4, 8, 16, 32}) search.measure({Mask::spans, tile, {}, true, 0});
    // Not `multiply`: a choice must not change bits.
    for (const auto mask : {Mask::none, Mask::select, Mask::branch}) {
        auto choice = search.best();
        choice.mask = mask;
        search.measure(choice);
    }
    auto apart = search.best();
    apart.fuse = false;
    apart.time_tile = 1;
    search.measure(apart);
    if (!gpu) return;
    for (const int x : {16, 32, 64, 128, 256})
        for (const int y : {1, 2, 4, 8, 16}) {
            if (x * y < 64 || x * y > 1024) continue;
            auto choice = search.best();
            choice.block = {x, y, 1};
            search.measure(choice);
        }
}

} // namespace

TuneReport tune_stencil(const TuneTask& task) {
    TuneReport report;
    report.program = task.program.name();
    report.target = target_of(task);
    const bool gpu = report.target == "cuda";
    const int threads = thread_count(task.threads);
    report.machine = fmt::format("{}, {} thread{}", this_machine().cpu, threads, threads == 1 ? "" : "s");
    if (gpu)
        for (const auto& one : gpus())
            if (one.index == task.device) report.machine = one.name;
    Search all(task, report.target);
    search(all, gpu);
    report.rows = all.rows();
    report.best = all.best_row();
    stencil::ExecutorOptions machine;
    machine.threads = task.threads;
    machine.device = task.device;
    stencil::write_choice(
        stencil::choice_name(deciding_text(task.program.data()->model()), report.target, machine),
        all.best());
    return report;
}

std::string to_text(const TuneReport& report) {
    auto text = fmt::format("{} on {}, {}\n{:>10} {:>7} {:>9} {:>8} {:>14} {:>12} {:>8}\n", report.program,
                            report.target, report.machine, "mask", "steps", "block", "fused", "cell-steps/s",
                            "stencils/s", "of best");
    const double best = report.rows.at(report.best).choice.cell_steps_per_second;
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
        const auto& choice = report.rows[i].choice;
        text +=
            fmt::format("{:>10} {:>7} {:>9} {:>8} {:>14.3e} {:>12.3e} {:>7.0f}%{}\n", mask_name(choice.mask),
                        choice.time_tile, block_name(choice.block), choice.fuse ? "yes" : "no",
                        choice.cell_steps_per_second, report.rows[i].stencils_per_second,
                        100 * choice.cell_steps_per_second / best, i == report.best ? "  <" : "");
    }
    return text + "Runs of this program with these parameters on this machine now take the line marked <.\n";
}

std::string to_json(const TuneReport& report) {
    auto rows = Json::array();
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
        const auto& choice = report.rows[i].choice;
        rows.push_back({{"mask", mask_name(choice.mask)},
                        {"time_tile", choice.time_tile},
                        {"block", choice.block},
                        {"fuse", choice.fuse},
                        {"cell_steps_per_second", choice.cell_steps_per_second},
                        {"stencils_per_second", report.rows[i].stencils_per_second},
                        {"best", i == report.best}});
    }
    const Json all = {
        {"program", report.program}, {"target", report.target}, {"machine", report.machine}, {"rows", rows}};
    return all.dump(2) + '\n';
}

void write_json(const TuneReport& report, const std::filesystem::path& path) {
    write_file_atomically(path, to_json(report));
}

} // namespace farfield
