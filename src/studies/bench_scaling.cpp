#include "studies/bench_scaling.h"

#include "backend/comm/communicator_access.h"
#include "backend/comm/first_ranks.h"
#include "backend/comm/in_process.h"
#include "backend/cuda/devices.h"
#include "backend/threads/parallel.h"
#include "base/text.h"
#include "lang/source_text.h"
#include "stencil/compiler.h"
#include "stencil/front_end/front_end.h"
#include "stencil/targets.h"
#include "studies/bench_points.h"
#include "studies/bench_stencil.h"
#include "studies/tune_measure.h"
#include "sums/points/over_ranks.h"
#include "sums/points/prepared.h"
#include "sums/tree/morton.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

namespace farfield {
namespace {

constexpr std::array work_names{"direct", "treecode", "fmm", "grid"};
constexpr int message_tag = 9000;

bool is_sum(ScalingWork work) { return work != ScalingWork::grid; }

/// What all ranks know of a measurement.
struct Measured {
    double seconds = 0.0;
    std::int64_t steps = 0;
    std::int64_t messages = 0, bytes = 0;
    double error = 0.0;
    std::uint64_t series_hash = 0;
    std::array<char, 160> description{};
    bool stopped = false;
};

std::uint64_t hash_of(std::span<const double> values) {
    std::uint64_t hash = 1469598103934665603U; // FNV-1a
    for (const auto byte : std::as_bytes(values))
        hash = (hash ^ std::to_integer<unsigned>(byte)) * 1099511628211U;
    return hash;
}

void check_bench(const BenchScalingOptions& options) {
    constexpr int least_points = 64, least_cells = 64;
    if (options.points != 0 && options.points < least_points)
        throw InvalidArgument(
            fmt::format("points = {} is not allowed: it must be at least {}", options.points, least_points));
    if (options.cells != 0 && (options.cells < least_cells || options.cells % 2 != 0))
        throw InvalidArgument(fmt::format("cells = {} is not allowed: it must be even and at least {}",
                                          options.cells, least_cells));
    if (options.repeats < 1)
        throw InvalidArgument(
            fmt::format("repeats = {} is not allowed: it must be at least 1", options.repeats));
    if (options.device == DeviceKind::cuda)
        for (const auto work : options.work)
            if (work == ScalingWork::treecode)
                throw InvalidArgument(
                    fmt::format("{} does not run on the GPUs of several ranks; measure direct, fmm and grid "
                                "there",
                                name_of(work)));
}

/// A measurement on some ranks.
class Job {
public:
    Job(const BenchScalingOptions& options, comm::FirstRanks& ranks, Communicator communicator)
        : options_(options), ranks_(ranks), communicator_(std::move(communicator)) {}

    Measured sum(ScalingWork work, std::int64_t n) {
        const auto all = points_for(work, n);
        const auto begin = static_cast<std::size_t>(n * ranks_.rank() / ranks_.size());
        const auto end = static_cast<std::size_t>(n * (ranks_.rank() + 1) / ranks_.size());
        const auto points = matrix_view(std::span(all.xyz).subspan(3 * begin, 3 * (end - begin)), 3);
        const auto mass = std::span(all.mass).subspan(begin, end - begin);
        std::vector<double> field(3 * (end - begin));
        SumPlan plan(points, sum_options(work));
        const auto execute = [&] {
            plan.execute(mass, {.field = matrix_view(std::span(field), 3)},
                         {.progress = {}, .stop_requested = options_.stop_requested});
        };
        execute(); // fetches memory
        auto out = repeated([&] {
            plan.update(points);
            execute();
        });
        const auto fields = all_of_ranks(ranks_, field);
        if (ranks_.rank() == 0)
            out.error = SampledTruth(all, static_cast<std::size_t>(n), false, bench_softening).error(fields);
        return out;
    }

    /// @param steps 0: as many as take about half a second
    Measured grid(std::int64_t cells, std::int64_t steps) {
        const auto program = compiled(cells);
        const bool on_gpu = options_.device == DeviceKind::cuda;
        const auto executor = stencil::make_executor(on_gpu ? "cuda" : "cpu", program, {}, communicator_);
        constexpr std::int64_t warm_up = 56, unit = 112; // whole passes of tiles and between exchanges
        executor->advance(warm_up);
        auto series = executor->take_series(0);
        const double seconds = seconds_of([&] { executor->advance(unit); });
        if (steps == 0) {
            constexpr double enough = 0.5;
            constexpr std::int64_t most = 200;
            const auto units = std::clamp<std::int64_t>(std::llround(enough / seconds), 1, most);
            steps = unit * comm::from_rank(ranks_, units);
        }
        executor->advance(steps); // graphs, clocks
        auto out = repeated([&] { executor->advance(steps); });
        for (const double value : executor->take_series(0)) series.push_back(value);
        out.steps = steps;
        out.series_hash = hash_of(series);
        const auto& description = executor->preparation().description;
        std::copy_n(description.begin(), std::min(description.size(), out.description.size() - 1),
                    out.description.begin());
        return out;
    }

private:
    [[nodiscard]] BenchPoints points_for(ScalingWork work, std::int64_t n) const {
        auto points = make_bench_points(n);
        if (work == ScalingWork::direct || options_.scattered) return points;
        std::array<Extent, 3> ranges;
        extend(ranges, points.xyz);
        const double scale = std::ldexp(1.0, morton_bits) / longest_side(ranges);
        std::vector<std::pair<std::uint64_t, std::size_t>> order;
        for (std::size_t i = 0; i < points.mass.size(); ++i) {
            std::uint32_t cell[3];
            for (std::size_t axis = 0; axis < 3; ++axis)
                cell[axis] =
                    static_cast<std::uint32_t>(std::min((points.xyz[3 * i + axis] - ranges[axis].low) * scale,
                                                        std::ldexp(1.0, morton_bits) - 1.0));
            order.emplace_back(morton_key(cell[0], cell[1], cell[2]), i);
        }
        std::sort(order.begin(), order.end());
        BenchPoints out;
        for (const auto& [key, i] : order) {
            out.xyz.insert(out.xyz.end(), &points.xyz[3 * i], &points.xyz[3 * i] + 3);
            out.mass.push_back(points.mass[i]);
        }
        return out;
    }

    [[nodiscard]] SumOptions sum_options(ScalingWork work) const {
        SumOptions out;
        out.kernel = Kernel::gravity;
        out.softening = bench_softening;
        out.outputs = {Output::field};
        out.precision = Precision::float64;
        out.device = {.kind = options_.device, .gpus = {}};
        out.communicator = communicator_;
        constexpr int tree_order = 3, multipole_order = 10;
        constexpr double theta = 0.5;
        if (work == ScalingWork::treecode) {
            out.method = Method::treecode;
            out.order = tree_order;
            out.theta = theta;
        } else if (work == ScalingWork::fmm) {
            out.method = Method::fmm;
            out.order = multipole_order;
        }
        return out;
    }

    static std::shared_ptr<const stencil::ir::Program> compiled(std::int64_t cells) {
        const auto text =
            bench_stencil_program(false) + "record beside = Hz at (cells//2 + 5, cells//2 - 1)\n";
        stencil::FrontEnd front("bench", text, {{"cells", lang::Value(cells)}});
        auto program = front.good() ? stencil::compile(front.model(), {}, front.diagnostics()) : nullptr;
        if (!program) throw InvalidArgument("the grid of the benchmark: " + to_text(front.diagnostics()));
        return program;
    }

    // Of the slowest rank, which the others wait for.
    template <class Work>
    Measured repeated(const Work& work) {
        std::vector<double> seconds;
        comm::FirstRanks::Traffic traffic;
        for (int run = 0; run < options_.repeats; ++run) {
            if (comm::any_rank(ranks_, options_.stop_requested && options_.stop_requested()))
                throw Interrupted("stopped between two measurements");
            ranks_.barrier();
            const auto before = ranks_.sent();
            seconds.push_back(seconds_of([&] {
                work();
                traffic = {ranks_.sent().messages - before.messages, ranks_.sent().bytes - before.bytes};
                ranks_.barrier();
            }));
        }
        Measured out{.seconds = median(seconds)};
        for (const auto& one : comm::all_values(ranks_, traffic)) {
            out.messages = std::max(out.messages, one.messages);
            out.bytes = std::max(out.bytes, one.bytes);
        }
        return out;
    }

    const BenchScalingOptions& options_;
    comm::FirstRanks& ranks_;
    Communicator communicator_;
};

/// Between ranks 0 and 1.
class MessageRates {
public:
    explicit MessageRates(comm::Transport& ranks) : ranks_(ranks) {}
    /// Seconds of a message of so many bytes, there and back counted as two.
    double seconds(std::size_t bytes, int times) {
        std::vector<std::byte> data(bytes);
        const int other = 1 - ranks_.rank();
        const auto there_and_back = [&] {
            if (ranks_.rank() == 0) ranks_.send(data, other, message_tag)->wait();
            ranks_.receive(data, other, message_tag)->wait();
            if (ranks_.rank() == 1) ranks_.send(data, other, message_tag)->wait();
        };
        there_and_back();
        std::vector<double> found;
        constexpr int runs = 5;
        found.reserve(runs);
        for (int run = 0; run < runs; ++run)
            found.push_back(seconds_of([&] {
                for (int k = 0; k < times; ++k) there_and_back();
            }));
        return median(found) / (2.0 * times);
    }

private:
    comm::Transport& ranks_;
};

class ScalingBench {
public:
    ScalingBench(const BenchScalingOptions& options, comm::Transport* all, BenchScalingReport& report)
        : options_(options), all_(all), report_(report) {}

    void measure_messages() {
        if (all_ == nullptr) return;
        constexpr std::size_t small = 8, large = std::size_t{16} << 20;
        std::array<double, 2> found{};
        if (all_->rank() < 2) {
            comm::FirstRanks two(*all_, 2);
            MessageRates rates(two);
            found = {rates.seconds(small, 1000), rates.seconds(large, 4)};
        }
        found = comm::from_rank(*all_, found);
        report_.latency = found[0];
        report_.bandwidth = static_cast<double>(large) / (found[1] - found[0]);
    }

    void measure(ScalingWork work) {
        const auto size = size_of(work);
        const auto one = measured(work, 1, size, 0);
        add(work, false, 1, size, one, one);
        for (const int ranks : numbers_of_ranks())
            add(work, false, ranks, size, one, measured(work, ranks, size, one.steps));
        if (!options_.weak || job_size() == 1) return;
        add(work, true, 1, size, one, one);
        for (const int ranks : numbers_of_ranks()) {
            const auto more = weak_size(work, size, ranks);
            add(work, true, ranks, more, one, measured(work, ranks, more, one.steps));
        }
    }

private:
    [[nodiscard]] int job_size() const { return all_ == nullptr ? 1 : all_->size(); }

    /// 2, 4, … and all.
    [[nodiscard]] std::vector<int> numbers_of_ranks() const {
        std::vector<int> out;
        for (int ranks = 2; ranks < job_size(); ranks *= 2) out.push_back(ranks);
        if (job_size() > 1) out.push_back(job_size());
        return out;
    }

    [[nodiscard]] std::int64_t size_of(ScalingWork work) const {
        constexpr std::int64_t cells = 2048, points = 400000, of_direct = 60000, of_gpus = 1048576;
        if (work == ScalingWork::grid) return options_.cells > 0 ? options_.cells : cells;
        if (options_.points > 0) return options_.points;
        if (options_.device == DeviceKind::cuda) return of_gpus;
        return work == ScalingWork::direct ? of_direct : points;
    }

    /// Of `ranks` times the work.
    static std::int64_t weak_size(ScalingWork work, std::int64_t size, int ranks) {
        if (work == ScalingWork::treecode || work == ScalingWork::fmm) return size * ranks;
        return 2 * std::llround(0.5 * static_cast<double>(size) * std::sqrt(ranks));
    }
    static double work_in(ScalingWork work, std::int64_t size) {
        const auto n = static_cast<double>(size);
        return work == ScalingWork::treecode || work == ScalingWork::fmm ? n : n * n;
    }

    Measured measured(ScalingWork work, int count, std::int64_t size, std::int64_t steps) {
        if (options_.progress)
            options_.progress(
                fmt::format("{}, {} on {} rank{}", name_of(work), size, count, count == 1 ? "" : "s"));
        Measured out;
        if (all_ == nullptr) {
            comm::run_ranks(1, [&](comm::Transport& alone) { out = on_ranks(alone, 1, work, size, steps); });
        } else {
            if (all_->rank() < count) out = on_ranks(*all_, count, work, size, steps);
            out = comm::from_rank(*all_, out);
        }
        if (out.stopped) throw Interrupted("stopped between two measurements");
        return out;
    }

    Measured on_ranks(comm::Transport& all, int count, ScalingWork work, std::int64_t size,
                      std::int64_t steps) {
        const auto first = std::make_shared<comm::FirstRanks>(all, count);
        Job job(options_, *first, CommunicatorAccess::of(first));
        try {
            return is_sum(work) ? job.sum(work, size) : job.grid(size, steps);
        } catch (const Interrupted&) { // on all of them
            return {.stopped = true};
        }
    }

    void add(ScalingWork work, bool weak, int ranks, std::int64_t size, const Measured& one,
             const Measured& many) {
        const double p = ranks;
        const double more = work_in(work, size) / work_in(work, size_of(work));
        ScalingRow row{.work = work, .weak = weak, .ranks = ranks, .size = size, .steps = many.steps};
        row.seconds = many.seconds;
        row.speed_up = more * one.seconds / many.seconds;
        row.efficiency = row.speed_up / p;
        row.predicted_seconds = more * one.seconds / p;
        if (report_.bandwidth > 0.0 && ranks > 1)
            row.predicted_seconds += static_cast<double>(many.messages) * report_.latency +
                                     static_cast<double>(many.bytes) / report_.bandwidth;
        row.messages = many.messages;
        row.bytes = many.bytes;
        row.error = many.error;
        row.same_bits = weak || many.series_hash == one.series_hash;
        row.description = many.description.data();
        report_.rows.push_back(std::move(row));
    }

    const BenchScalingOptions& options_;
    comm::Transport* all_;
    BenchScalingReport& report_;
};

} // namespace

std::string_view name_of(ScalingWork work) { return work_names[static_cast<std::size_t>(work)]; }

std::vector<std::string_view> scaling_work_names() { return {work_names.begin(), work_names.end()}; }

std::vector<ScalingWork> scaling_work_from_names(std::string_view text) {
    std::vector<ScalingWork> out;
    for (std::size_t start = 0; start <= text.size();) {
        const auto comma = std::min(text.find(',', start), text.size());
        const auto word = text.substr(start, comma - start);
        const auto* const found = std::find(work_names.begin(), work_names.end(), word);
        if (found == work_names.end())
            throw InvalidArgument(fmt::format("'{}' cannot be measured; choose from {}", word,
                                              list_of_words(scaling_work_names())));
        const auto work = static_cast<ScalingWork>(found - work_names.begin());
        if (std::find(out.begin(), out.end(), work) == out.end()) out.push_back(work);
        start = comma + 1;
    }
    return out;
}

BenchScalingReport bench_scaling(const BenchScalingOptions& options) {
    check_bench(options);
    auto* const all = CommunicatorAccess::transport(options.communicator);
    BenchScalingReport report;
    report.ranks = options.communicator.size();
    report.threads = thread_count(0);
    report.repeats = options.repeats;
    report.scattered = options.scattered;
    const bool on_gpu = options.device == DeviceKind::cuda;
    if (on_gpu) {
        if (auto reason = cuda::why_no_device(); !reason.empty()) throw BackendUnavailable(reason);
        report.gpu = cuda::devices().front().name;
    }
    auto work = options.work;
    if (work.empty() && on_gpu) work = {ScalingWork::direct, ScalingWork::grid};
    if (work.empty())
        work = {ScalingWork::direct, ScalingWork::treecode, ScalingWork::fmm, ScalingWork::grid};
    ScalingBench bench(options, all, report);
    bench.measure_messages();
    try {
        for (const auto one : work) bench.measure(one);
    } catch (const Interrupted&) {
        report.stopped = true;
    }
    return report;
}

} // namespace farfield
