// farfield reproduce fdtd-multi.
#include "backend/comm/communicator_access.h"
#include "backend/comm/slow_ranks.h"
#include "base/stopwatch.h"
#include "io/picture/plot_curves.h"
#include "stencil/targets.h"
#include "studies/fdtd_seed.h"
#include "studies/fdtd_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace farfield {
namespace {

/// The paper's nodes were "connected over ethernet": taken for one of 1 Gbit/s, with the latency that MPI has
/// over it.
constexpr comm::LinkRates ethernet{.latency = 5e-5, .bandwidth = 1.25e8};

/// One way to run the microdisk, and its rates by size.
struct FdtdWay {
    std::string name;
    std::string on_picture;
    bool on_ranks = false, over_ethernet = false;
    int time_tile = 0;
    std::vector<StencilRate> rates{};

    [[nodiscard]] double seconds_per_step(std::size_t size) const { return rates[size].seconds_per_step; }
};

class MultiStudy {
public:
    MultiStudy(Study& study, const ReproduceOptions& options, const StudyDevice& device)
        : study_(study), options_(options), at_(fdtd_target(device, options)),
          ranks_(CommunicatorAccess::transport(options.communicator)) {
        for (std::int64_t cells = 256; cells <= 8192; cells *= 2) {
            if (cells > std::max<std::int64_t>(options.most_points, 256)) continue;
            sizes_.push_back(cells);
            columns_.push_back(fmt::format("{}²", cells));
        }
        const auto unit = device.gpu ? "GPU" : "process on CPUs";
        const auto many = fmt::format("{} ranks, a {} each", options.communicator.size(), unit);
        const auto ranks = fmt::format("{} ranks", options.communicator.size());
        ways_ = {{hand_written_name(options.threads), "CPU, loop"},
                 {fmt::format("one {}", unit), device.gpu ? "one GPU" : "one process"}};
        if (ranks_ == nullptr) return;
        ways_.push_back({many, ranks, true});
        ways_.push_back({many + ", over Ethernet", ranks + ", slow", true, true});
        ways_.push_back({many + ", over Ethernet, every step", ranks + ", slowest", true, true, 1});
    }

    void measure() {
        for (const auto cells : sizes_) {
            const StencilRateMeter meter(microdisk_of(cells), options_.repeats);
            const auto program = std::make_shared<const stencil::ir::Program>(meter.program());
            for (auto& way : ways_) {
                if (options_.progress) options_.progress(fmt::format("{}, {}²", way.name, cells));
                way.rates.push_back(way.on_ranks ? on_ranks(meter, program, way)
                                                 : on_first_rank(meter, cells, &way == &ways_.front()));
            }
        }
    }

    void report() const {
        RateTables tables("The microdisk", columns_);
        for (const auto& way : ways_) {
            tables.row(way.name);
            for (const auto& rate : way.rates) tables.add(rate);
        }
        tables.deliver(study_);
        compare_with_cpu();
        for (const auto& way : ways_)
            if (way.on_ranks) tell_where_it_pays(way);
        if (ranks_ == nullptr)
            study_.notes.emplace_back("One rank: start it with mpirun -n P for the curves of P ranks.");
        study_.notes.push_back(fmt::format(
            "The paper, {}: {}× one CPU on one GPU and {}× on two nodes over Ethernet, at the largest grids; "
            "several GPUs gain nothing below {}² and are not worth while below {}².",
            seeds::fdtd_gpus, seeds::fdtd_gpu_over_cpu, seeds::fdtd_multi_over_cpu,
            seeds::fdtd_multi_gains_from, seeds::fdtd_multi_pays_from));
        study_.notes.push_back(fmt::format(
            "Ethernet: messages leave a rank at {:.0f} MB/s, {:.0f} µs late, and nothing is copied past "
            "them; the paper does not tell its rate.",
            1e-6 * ethernet.bandwidth, 1e6 * ethernet.latency));
    }

    void draw() const {
        picture::CurvesPlot plot{.title = study_.title,
                                 .x_label = "cells along a side",
                                 .y_label = "1e9 cell-steps a second",
                                 .curves = {}};
        for (const auto& way : ways_) {
            auto& curve = plot.curves.emplace_back();
            curve.name = way.on_picture;
            curve.dashed = way.over_ethernet;
            for (std::size_t size = 0; size < sizes_.size(); ++size) {
                curve.x.push_back(static_cast<double>(sizes_[size]));
                curve.y.push_back(1e-9 * way.rates[size].cell_steps_per_second);
            }
        }
        picture::plot_curves(options_.picture, plot);
    }

private:
    /// The others wait.
    StencilRate on_first_rank(const StencilRateMeter& meter, std::int64_t cells, bool hand_written) const {
        double seconds = 0.0;
        if (ranks_ == nullptr || ranks_->rank() == 0)
            seconds = (hand_written ? hand_written_rate(meter, cells, options_.threads, options_.repeats)
                                    : meter.measure(at_.name, at_.options))
                          .seconds_per_step;
        return meter.rate_of(comm::from_rank(ranks_, seconds), {});
    }

    StencilRate on_ranks(const StencilRateMeter& meter,
                         const std::shared_ptr<const stencil::ir::Program>& program,
                         const FdtdWay& way) const {
        auto options = at_.options;
        options.time_tile = way.time_tile;
        auto communicator = options_.communicator;
        if (way.over_ethernet)
            communicator = CommunicatorAccess::of(std::make_shared<comm::SlowRanks>(*ranks_, ethernet));
        const auto executor = stencil::make_executor(at_.name, program, options, communicator);
        const auto seconds_of = [&](std::int64_t steps) {
            ranks_->barrier();
            const Stopwatch watch;
            executor->advance(steps);
            ranks_->barrier();
            return watch.seconds();
        };
        constexpr std::int64_t unit = 112; // whole passes, and whole times between exchanges
        constexpr double enough = 0.2, most = 500.0;
        seconds_of(unit);
        const double units = std::clamp(std::ceil(enough / seconds_of(unit)), 1.0, most);
        const auto steps = unit * static_cast<std::int64_t>(comm::from_rank(*ranks_, units));
        std::vector<double> times;
        times.reserve(static_cast<std::size_t>(options_.repeats));
        for (int run = 0; run < options_.repeats; ++run) times.push_back(seconds_of(steps));
        std::sort(times.begin(), times.end());
        const double median = times[times.size() / 2] / static_cast<double>(steps);
        return meter.rate_of(comm::from_rank(*ranks_, median),
                             comm::text_from_rank(*ranks_, executor->preparation().description));
    }

    void compare_with_cpu() const {
        StudyTable table{"Over the hand-written loop on this CPU", columns_, {}};
        const auto given = [&](const char* what, double value) {
            StudyRow row{what, "Chapter IV", {}};
            for (std::size_t size = 0; size < sizes_.size(); ++size)
                row.values.push_back(size + 2 < sizes_.size() ? StudyValue::none("-")
                                                              : StudyValue::given(value));
            table.rows.push_back(std::move(row));
        };
        given("the paper: one GPU, its two largest grids", seeds::fdtd_gpu_over_cpu);
        given("the paper: two nodes over Ethernet, its largest grids", seeds::fdtd_multi_over_cpu);
        for (std::size_t w = 1; w < ways_.size(); ++w) {
            StudyRow row{ways_[w].name, "", {}};
            for (std::size_t size = 0; size < sizes_.size(); ++size)
                row.values.push_back(
                    StudyValue::of(ways_.front().seconds_per_step(size) / ways_[w].seconds_per_step(size)));
            table.rows.push_back(std::move(row));
        }
        study_.tables.push_back(std::move(table));
    }

    void tell_where_it_pays(const FdtdWay& way) const {
        const auto& one = ways_[1];
        std::size_t first = sizes_.size();
        while (first > 0 && way.seconds_per_step(first - 1) < one.seconds_per_step(first - 1)) --first;
        const auto last = sizes_.size() - 1;
        const double share = one.seconds_per_step(last) / options_.communicator.size();
        study_.notes.push_back(
            fmt::format("{}: {}; at {} {:.3g} times as fast as one, {:.3g} µs a step more than its share of "
                        "one's time ({}).",
                        way.name,
                        first == sizes_.size() ? "slower than one at all sizes"
                                               : fmt::format("faster than one from {} on", columns_[first]),
                        columns_[last], one.seconds_per_step(last) / way.seconds_per_step(last),
                        1e6 * (way.seconds_per_step(last) - share), way.rates[last].description));
    }

    Study& study_;
    const ReproduceOptions& options_;
    FdtdTarget at_;
    comm::Transport* ranks_; ///< null: one rank
    std::vector<std::int64_t> sizes_;
    std::vector<std::string> columns_;
    std::vector<FdtdWay> ways_; ///< the hand-written loop, one, several
};

} // namespace

Study reproduce_fdtd_multi(const ReproduceOptions& options) {
    const auto device = study_device(options.device);
    auto study = begin_study("fdtd-multi", "The stencil paper's microdisk on several ranks", options, device);
    study.about = fdtd_rates_explained;
    MultiStudy multi(study, options, device);
    multi.measure();
    multi.report();
    auto* const ranks = CommunicatorAccess::transport(options.communicator);
    if (options.picture.empty()) return study;
    if (ranks == nullptr || ranks->rank() == 0) multi.draw();
    study.notes.push_back(fmt::format("{}: rates against sizes; slow: over Ethernet, slowest: every step.",
                                      options.picture.string()));
    return study;
}

} // namespace farfield
