#include "studies/bench_direct.h"

#include "backend/threads/parallel.h"
#include "base/aligned.h"
#include "studies/bench_points.h"

#include <farfield/error.h>

#if defined(__x86_64__)
#include "plain_avx512.h"
#endif

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <utility>

namespace farfield {
namespace {

constexpr std::int64_t most_slow_pairs = std::int64_t{1} << 28; ///< a slow rung takes about a second for them

using Points = BenchPoints;

/// Something to time: runs once and returns the seconds of its pair loop by the clock.
struct Candidate {
    BenchDirectRow row;
    std::function<double()> run;
    std::shared_ptr<std::vector<double>> field; ///< M×3 after a run; null for a ceiling
    std::vector<double> seconds{};
};

Candidate rung(const Points& points, const std::string& name, Variant variant, Isa isa, Precision precision,
               int threads) {
    const auto n = static_cast<std::int64_t>(points.mass.size());
    const bool slow = variant == Variant::naive || variant == Variant::soa;
    const auto targets = slow ? std::clamp<std::int64_t>(most_slow_pairs / n, 1, n) : n;
    const SumOptions options{.softening = bench_softening,
                             .precision = precision,
                             .threads = threads,
                             .isa = isa,
                             .variant = variant,
                             .device = {.kind = DeviceKind::cpu}};
    const auto sources = matrix_view(std::span<const double>(points.xyz), 3);
    auto part = sources;
    part.shape[0] = targets;
    auto plan = targets < n ? std::make_shared<SumPlan>(sources, part, options)
                            : std::make_shared<SumPlan>(sources, options);
    auto field = std::make_shared<std::vector<double>>(static_cast<std::size_t>(3 * targets));
    Candidate candidate{{.rung = name,
                         .variant = variant,
                         .precision = precision,
                         .n = n,
                         .targets = targets,
                         .threads = threads},
                        [plan, field, &points] {
                            plan->execute(std::span<const double>(points.mass),
                                          {.field = matrix_view(std::span<double>(*field), 3)});
                            return plan->report().compute_seconds;
                        },
                        field};
    candidate.row.isa = slow ? Isa::scalar : isa;
    return candidate;
}

#if defined(__x86_64__)
template <class T>
struct PlainArrays {
    AlignedVector<T> x, y, z, mass, field_x, field_y, field_z;
    std::int64_t padded;

    explicit PlainArrays(const Points& points)
        : padded((static_cast<std::int64_t>(points.mass.size()) + 15) / 16 * 16) {
        for (auto* array : {&x, &y, &z, &mass, &field_x, &field_y, &field_z})
            array->assign(static_cast<std::size_t>(padded), T(0));
        for (std::size_t i = 0; i < points.mass.size(); ++i) {
            x[i] = static_cast<T>(points.xyz[3 * i]);
            y[i] = static_cast<T>(points.xyz[3 * i + 1]);
            z[i] = static_cast<T>(points.xyz[3 * i + 2]);
            mass[i] = static_cast<T>(points.mass[i]);
        }
    }

    double run(FfPlainLoop loop, int threads) {
        constexpr std::int64_t targets_a_task = 256;
        const auto start = std::chrono::steady_clock::now();
        parallel_for(threads, (padded + targets_a_task - 1) / targets_a_task, [&](std::int64_t task) {
            const FfPlainTask part{padded,
                                   task * targets_a_task,
                                   std::min(padded, (task + 1) * targets_a_task),
                                   x.data(),
                                   y.data(),
                                   z.data(),
                                   mass.data(),
                                   bench_softening * bench_softening,
                                   field_x.data(),
                                   field_y.data(),
                                   field_z.data()};
            ff_plain_avx512(loop, &part);
        });
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
};

template <class T>
void add_plain_loops(const Points& points, int threads, std::vector<Candidate>& candidates) {
    constexpr bool is_float = sizeof(T) == 4;
    const auto n = static_cast<std::int64_t>(points.mass.size());
    auto arrays = std::make_shared<PlainArrays<T>>(points);
    auto field = std::make_shared<std::vector<double>>(points.xyz.size());
    const BenchDirectRow row{.rung = "plain loop",
                             .isa = Isa::avx512,
                             .precision = is_float ? Precision::float32 : Precision::float64,
                             .n = n,
                             .targets = n,
                             .threads = threads};
    candidates.push_back({row,
                          [=] {
                              const double seconds =
                                  arrays->run(is_float ? ff_plain_float : ff_plain_double, threads);
                              for (std::size_t i = 0; i < field->size() / 3; ++i) {
                                  (*field)[3 * i] = static_cast<double>(arrays->field_x[i]);
                                  (*field)[3 * i + 1] = static_cast<double>(arrays->field_y[i]);
                                  (*field)[3 * i + 2] = static_cast<double>(arrays->field_z[i]);
                              }
                              return seconds;
                          },
                          field});
    candidates.push_back(
        {row,
         [=] { return arrays->run(is_float ? ff_plain_float_ceiling : ff_plain_double_ceiling, threads); },
         nullptr});
    candidates.back().row.rung = "ceiling";
}
#endif

std::vector<Candidate> make_candidates(const Points& points, int threads) {
    std::vector<Candidate> out;
    for (auto precision : {Precision::float32, Precision::float64, Precision::mixed}) {
        out.push_back(rung(points, "naive", Variant::naive, Isa::automatic, precision, 1));
        out.push_back(rung(points, "soa", Variant::soa, Isa::automatic, precision, 1));
        for (auto isa : {Isa::sse42, Isa::avx2, Isa::avx512})
            if (is_available(isa)) out.push_back(rung(points, "simd", Variant::simd, isa, precision, 1));
        out.push_back(rung(points, "symmetric", Variant::symmetric, best_isa(), precision, 1));
        if (threads > 1) {
            out.push_back(rung(points, "threads", Variant::simd, best_isa(), precision, threads));
            out.push_back(rung(points, "symmetric", Variant::symmetric, best_isa(), precision, threads));
        }
#if defined(__x86_64__)
        for (int count = 1; count <= threads && is_available(Isa::avx512);
             count += std::max(1, threads - 1)) {
            if (precision == Precision::float32) add_plain_loops<float>(points, count, out);
            if (precision == Precision::float64) add_plain_loops<double>(points, count, out);
        }
#endif
    }
    return out;
}

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

const Candidate* find(const std::vector<Candidate>& all, const std::string& name, Precision precision,
                      int threads) {
    for (const auto& candidate : all)
        if (candidate.row.rung == name && candidate.row.precision == precision &&
            candidate.row.threads == threads)
            return &candidate;
    return nullptr;
}

double rate(const Candidate& candidate, double seconds) {
    return static_cast<double>(candidate.row.targets) * static_cast<double>(candidate.row.n) / seconds;
}

void summarise(std::vector<Candidate>& candidates) {
    for (auto& candidate : candidates) {
        candidate.row.seconds = median(candidate.seconds);
        candidate.row.fastest_seconds = *std::min_element(candidate.seconds.begin(), candidate.seconds.end());
        candidate.row.pairs_per_second = rate(candidate, candidate.row.seconds);
    }
    for (auto& candidate : candidates) {
        auto& row = candidate.row;
        if (const auto* naive = find(candidates, "naive", row.precision, 1))
            row.speedup = row.pairs_per_second / naive->row.pairs_per_second;
        const auto type = row.precision == Precision::mixed ? Precision::float32 : row.precision;
        if (const auto* plain = find(candidates, "plain loop", type, row.threads)) {
            std::vector<double> ratios;
            for (std::size_t k = 0; k < candidate.seconds.size(); ++k)
                ratios.push_back(rate(candidate, candidate.seconds[k]) / rate(*plain, plain->seconds[k]));
            row.against_plain = median(ratios);
        }
    }
}

// Seconds of the fastest run on one thread over those on `threads`; 0 where one of them was not run.
double gain(const std::vector<Candidate>& all, const std::string& one, const std::string& many,
            Precision precision, int threads) {
    const Candidate* first = nullptr;
    for (const auto& candidate : all) // of the instruction sets of a rung, the last is the best
        if (candidate.row.rung == one && candidate.row.precision == precision && candidate.row.threads == 1)
            first = &candidate;
    const auto* second = find(all, many, precision, threads);
    if (first == nullptr || second == nullptr) return 0.0;
    return first->row.fastest_seconds / second->row.fastest_seconds;
}

void add_scaling(const std::vector<Candidate>& candidates, int threads, BenchDirectReport& report) {
    if (threads < 2) return;
    for (auto precision : {Precision::float32, Precision::float64}) {
        const double ceiling = gain(candidates, "ceiling", "ceiling", precision, threads);
        if (ceiling == 0.0) continue;
        for (const auto& [one, many] : {std::pair{"simd", "threads"}, std::pair{"symmetric", "symmetric"}})
            report.scaling.push_back({.rung = many,
                                      .precision = precision,
                                      .n = candidates.front().row.n,
                                      .threads = threads,
                                      .gain = gain(candidates, one, many, precision, threads),
                                      .ceiling_gain = ceiling});
    }
}
/// The truths of one set of points: rounded or not, for all targets or some.
class Truths {
public:
    explicit Truths(const Points& points) : points_(points) {}
    double error(const Candidate& candidate) {
        const auto targets = static_cast<std::size_t>(candidate.row.targets);
        const bool rounded = candidate.row.precision == Precision::float32;
        auto place = known_.find({targets, rounded});
        if (place == known_.end())
            place = known_
                        .emplace(std::pair(targets, rounded),
                                 SampledTruth(points_, targets, rounded, bench_softening))
                        .first;
        return place->second.error(*candidate.field);
    }

private:
    const Points& points_;
    std::map<std::pair<std::size_t, bool>, SampledTruth> known_;
};

} // namespace

BenchDirectReport bench_direct(const BenchDirectOptions& options) {
    if (options.repeats < 1)
        throw InvalidArgument(fmt::format("repeats is {}; it must be ≥ 1", options.repeats));
    if (options.threads < 0)
        throw InvalidArgument(fmt::format("threads is {}; it must be ≥ 1, or 0 for all", options.threads));
    BenchDirectReport report{options.cpu_time ? "cpu" : "wall", options.repeats, {}, {}};
    for (auto n : options.sizes) {
        if (n < 2) throw InvalidArgument(fmt::format("n is {}; it must be ≥ 2", n));
        const auto points = make_bench_points(n);
        auto candidates = make_candidates(points, thread_count(options.threads));
        Truths truths(points);
        // The first run of each is not timed: it warms the caches and gives the error.
        for (auto& candidate : candidates) {
            candidate.run();
            candidate.row.error = candidate.field == nullptr ? -1.0 : truths.error(candidate);
        }
        for (int repeat = 0; repeat < options.repeats; ++repeat)
            for (auto& candidate : candidates) {
                const double start = cpu_seconds();
                const double wall = candidate.run();
                const double cpu = (cpu_seconds() - start) / candidate.row.threads;
                candidate.seconds.push_back(std::max(options.cpu_time ? cpu : wall, 1e-9));
            }
        summarise(candidates);
        add_scaling(candidates, thread_count(options.threads), report);
        for (auto& candidate : candidates) report.rows.push_back(std::move(candidate.row));
    }
    return report;
}

} // namespace farfield
