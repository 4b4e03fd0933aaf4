#include "studies/hermite/measurements.h"

#include "backend/cuda/devices.h"
#include "backend/threads/parallel.h"
#include "studies/bench_points.h"
#include "studies/hermite/seed_tables.h"
#include "studies/ladder_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace farfield::hermite {
namespace {

constexpr std::size_t targets_sampled = 2000;
constexpr std::int64_t most_for_plain = seeds::particles[1];

template <class Work>
double seconds_of(const Work& work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

struct Measurements::Prepared {
    Prepared(int terms, std::int64_t targets, int threads, bool with_gpu)
        : problem(make_problem(terms, targets, threads)), truth(truth_of(problem, targets_sampled, threads)),
          on_cpu(problem) {
        if (with_gpu) on_gpu.emplace(problem);
    }
    Problem problem;
    Truth truth;
    CpuEvaluation on_cpu;
    std::optional<EvaluationRuns> on_gpu;
};

Measurements::Measurements(const ReproduceOptions& options, const StudyDevice& device)
    : options_(options), device_(device), threads_(thread_count(options.threads)) {
    for (const auto size : seeds::particles)
        if (size <= options.most_points && !(options.quick && sizes_.size() == 2)) sizes_.push_back(size);
    if (sizes_.empty()) sizes_.push_back(options.most_points);
    if (!device.gpu) return;
    tell("peaks");
    ceilings_ = cuda::measure_ceilings();
    const auto info = cuda::devices().at(static_cast<std::size_t>(*device.gpu));
    const auto rated = lanes_of(info.major, info.minor, info.multiprocessors, ceilings_.most_clock_hz);
    rated_fma_ = rated.total * rated.clock_hz;
}
Measurements::~Measurements() = default;

auto Measurements::prepared(int terms, std::int64_t targets) -> Prepared& {
    if (!current_ || current_->problem.terms != terms || current_->problem.targets() != targets) {
        current_.reset(); // its memory first
        tell(fmt::format("targets and their potentials, p = {}, N = {}", terms, targets));
        current_ = std::make_unique<Prepared>(terms, targets, options_.threads, has_gpu());
    }
    return *current_;
}

std::optional<MeasuredRate> Measurements::cpu(CpuLoop loop, int terms, std::int64_t targets, int threads) {
    if (threads > threads_ || (loop == CpuLoop::plain && targets > most_for_plain)) return {};
    const auto key = std::tuple(loop, terms, targets, threads);
    if (const auto known = cpu_rates_.find(key); known != cpu_rates_.end()) return known->second;
    auto& problem = prepared(terms, targets);
    tell(fmt::format("{} on {} thread{}, p = {}, N = {}", loop == CpuLoop::plain ? "plain loop" : "our loop",
                     threads, threads == 1 ? "" : "s", terms, targets));
    const auto run = [&] { problem.on_cpu.run(loop, threads); };
    if (loop == CpuLoop::simd) run(); // memory is touched
    std::vector<double> seconds(static_cast<std::size_t>(options_.repeats));
    for (double& of_run : seconds) of_run = seconds_of(run);
    const MeasuredRate rate{static_cast<double>(targets) / median(std::move(seconds)),
                            error_of(problem.truth, problem.on_cpu.potentials())};
    return cpu_rates_.emplace(key, rate).first->second;
}

const MeasuredRate& Measurements::gpu(Variant variant, int terms, std::int64_t targets) {
    const auto key = std::tuple(variant, terms, targets);
    if (const auto known = gpu_rates_.find(key); known != gpu_rates_.end()) return known->second;
    auto& problem = prepared(terms, targets);
    tell(fmt::format("{}, p = {}, N = {}", info_of(variant).name, terms, targets));
    const double seconds = 1e-3 * problem.on_gpu->milliseconds(variant, std::max(options_.repeats, 5));
    const MeasuredRate rate{static_cast<double>(targets) / seconds,
                            error_of(problem.truth, problem.on_gpu->fetch())};
    return gpu_rates_.emplace(key, rate).first->second;
}

cuda::RungResources Measurements::resources(Variant variant, int terms) {
    return prepared(terms, sizes_.back()).on_gpu->resources(variant);
}

std::optional<InstructionMix> Measurements::mix(Variant variant, int terms) {
    if (!mixes_) {
        tell("instructions of the kernels");
        std::vector<std::string> all;
        for (const int each : terms_measured) {
            const EvaluationRuns runs(make_problem(each, sizes_.back(), options_.threads));
            for (const auto& info : variant_table) {
                all.push_back(runs.kernel_name(info.variant));
                names_.emplace(std::tuple(info.variant, each), all.back());
            }
        }
        mixes_ = library_mixes(all);
    }
    const auto found = mixes_->find(names_.at(std::tuple(variant, terms)));
    return found == mixes_->end() ? std::nullopt : std::optional(found->second);
}

} // namespace farfield::hermite
