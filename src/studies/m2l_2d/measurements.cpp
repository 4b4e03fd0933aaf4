#include "studies/m2l_2d/measurements.h"

#include "backend/cuda/devices.h"
#include "backend/threads/parallel.h"
#include "studies/ladder_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace farfield::m2l2d {
namespace {

constexpr int sampled = 200;

std::vector<Number> host_locals(const Problem& problem, Form form, const std::vector<int>& boxes,
                                int threads) {
    const auto terms = static_cast<std::size_t>(problem.terms);
    std::vector<Number> out(boxes.size() * terms);
    parallel_for(threads, static_cast<std::int64_t>(boxes.size()), [&](std::int64_t sample) {
        const auto at = static_cast<std::size_t>(sample);
        const auto local = host_local(problem, form, boxes[at]);
        std::copy(local.begin(), local.end(), out.begin() + static_cast<std::ptrdiff_t>(at * terms));
    });
    return out;
}

} // namespace

std::vector<Kernel> all_kernels() {
    std::vector<Kernel> kernels;
    for (const bool is_fused : {false, true})
        for (const auto& info : variant_table)
            if (is_fused ? info.fuses : info.writes) kernels.push_back({info.variant, is_fused});
    return kernels;
}

std::string name_of(const Kernel& kernel) {
    const auto& info = info_of(kernel.variant);
    return fmt::format("{}{}{}", info.form == Form::paper ? "" : "ours, ", info.name,
                       kernel.is_fused ? ", fused" : "");
}

Measurements::Measurements(const ReproduceOptions& options, const StudyDevice& device)
    : options_(options), device_(device) {
    for (int depth = 3; depth <= most_depth; ++depth)
        if (depth == 3 || translations_of_depth(depth) <= options.most_points) depths_.push_back(depth);
    if (!device.gpu) return;
    tell("peaks");
    ceilings_ = cuda::measure_ceilings();
    const auto info = cuda::devices().at(static_cast<std::size_t>(*device.gpu));
    const auto rated = lanes_of(info.major, info.minor, info.multiprocessors, ceilings_.most_clock_hz);
    rated_fma_ = rated.total * rated.clock_hz;
    rated_double_fma_ = rated_fma_ / rated.double_cost;
    shared_rate_ = 128.0 * info.multiprocessors * ceilings_.most_clock_hz;
    rated_memory_ = rated_memory_bytes();
}

auto Measurements::prepared(int terms, int depth) -> Prepared& {
    if (!current_ || current_terms_ != terms || current_depth_ != depth) {
        current_.reset(); // its memory first
        tell(fmt::format("expansions and the host's result, p = {}, depth {}", terms, depth));
        auto problem = make_problem(terms, depth, options_.threads);
        auto boxes = sample_boxes(depth, sampled);
        std::map<Form, std::vector<Number>> exact;
        for (const auto form : {Form::paper, Form::with_logarithm})
            exact.emplace(form, host_locals(problem, form, boxes, options_.threads));
        TranslationRuns runs(problem);
        current_.emplace(Prepared{std::move(problem), std::move(boxes), std::move(exact), std::move(runs)});
        current_terms_ = terms;
        current_depth_ = depth;
    }
    return *current_;
}

const MeasuredTime& Measurements::time(const Kernel& kernel, int terms, int depth) {
    const auto key = std::tuple(kernel, terms, depth);
    if (const auto known = times_.find(key); known != times_.end()) return known->second;
    auto& problem = prepared(terms, depth);
    tell(fmt::format("{}, p = {}, depth {}", name_of(kernel), terms, depth));
    const int repeats = std::max(options_.repeats, 5);
    MeasuredTime measured;
    if (kernel.is_fused) {
        measured.kernel_seconds = 1e-3 * problem.runs.fused(kernel.variant, repeats);
    } else {
        const auto time = problem.runs.write_all(kernel.variant, repeats);
        measured.kernel_seconds = 1e-3 * time.kernel;
        measured.reduction_seconds = 1e-3 * time.reduction;
    }
    measured.error = error_of(problem.problem, problem.runs.fetch(), problem.boxes,
                              problem.exact.at(info_of(kernel.variant).form));
    return times_.emplace(key, measured).first->second;
}

MeasuredTransfers Measurements::transfers(int terms, int depth) {
    const auto key = std::tuple(terms, depth);
    if (const auto known = transfers_.find(key); known != transfers_.end()) return known->second;
    const auto time = prepared(terms, depth).runs.transfers(std::max(options_.repeats, 5));
    return transfers_.emplace(key, MeasuredTransfers{1e-3 * time.to_gpu, 1e-3 * time.to_host}).first->second;
}

double Measurements::fill_rate(int terms) {
    if (const auto known = fill_rates_.find(terms); known != fill_rates_.end()) return known->second;
    const double seconds = 1e-3 * prepared(terms, deepest()).runs.fill(std::max(options_.repeats, 5));
    const double rate = 8.0 * terms * static_cast<double>(translations_of_depth(deepest())) / seconds;
    return fill_rates_.emplace(terms, rate).first->second;
}

cuda::RungResources Measurements::resources(const Kernel& kernel, int terms) {
    const auto key = std::tuple(kernel, terms);
    if (const auto known = resources_.find(key); known != resources_.end()) return known->second;
    return resources_.emplace(key, prepared(terms, deepest()).runs.resources(kernel.variant, kernel.is_fused))
        .first->second;
}

std::optional<InstructionMix> Measurements::mix(const Kernel& kernel, int terms) {
    if (!mixes_) {
        tell("instructions of the kernels");
        std::vector<std::string> all;
        for (const int each : terms_measured) {
            const TranslationRuns runs(make_problem(each, 3, 1));
            for (const auto& one : all_kernels()) {
                all.push_back(runs.kernel_name(one.variant, one.is_fused));
                names_.emplace(std::tuple(one, each), all.back());
            }
        }
        mixes_ = library_mixes(all);
    }
    const auto found = mixes_->find(names_.at(std::tuple(kernel, terms)));
    return found == mixes_->end() ? std::nullopt : std::optional(found->second);
}

} // namespace farfield::m2l2d
