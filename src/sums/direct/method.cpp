// The direct sum as a method: reads the caller's arrays on the CPU or hands them to the GPUs.
#include "sums/method/method.h"

#include "backend/comm/communicator_access.h"
#include "base/arrays.h"
#include "base/spelling.h"
#include "base/stopwatch.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/cpu/direct.h"
#include "sums/direct/cpu/jerk.h"
#include "sums/direct/cuda/gauss/gpu_gauss_sum.h"
#include "sums/direct/cuda/periodic/gpu_periodic_direct.h"
#include "sums/direct/cuda/sum/gpu_sum.h"
#include "sums/direct/gauss/gauss_sum.h"
#include "sums/direct/periodic/periodic_direct.h"
#include "sums/direct/plane/plane_sum.h"
#include "sums/method/refuse.h"
#include "sums/method/target_share.h"

#include <fmt/format.h>

namespace farfield {
namespace {

class OnCpu : public PreparedSum {
public:
    OnCpu(const SumProblem& problem, const SumOptions& options)
        : sources_(problem.sources), targets_(problem.targets), times_parts_(problem.times_its_parts()),
          sum_(options, problem.self) {}

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        auto source_points = sum_.take_sources();
        read_points(sources, "sources", source_points);
        if (sum_.self())
            sum_.set_sources(std::move(source_points));
        else
            sum_.set_points(std::move(source_points), read_points(targets, "targets"));
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        execute_with_dipoles(strengths, {}, outputs, hooks, report);
    }

    void execute_with_dipoles(const ConstArrayView& strengths, const ConstArrayView& dipoles,
                              const SumOutputs& outputs, const SumHooks& hooks, SumReport& report) override {
        LapWatch watch(times_parts_);
        read_values(strengths, sources_, "strengths", strengths_);
        dipoles_.clear();
        if (dipoles) read_values(dipoles, sources_, "dipoles", dipoles_, 3);
        if (outputs.potential) require_host(outputs.potential, "potential");
        if (outputs.field) require_host(outputs.field, "field");
        if (outputs.hessian) require_host(outputs.hessian, "hessian");
        potential_.resize(outputs.potential ? static_cast<std::size_t>(targets_) : 0);
        field_.resize(outputs.field ? static_cast<std::size_t>(3 * targets_) : 0);
        hessian_.resize(outputs.hessian ? static_cast<std::size_t>(6 * targets_) : 0);
        sum_.compute(strengths_,
                     {.potential = outputs.potential ? potential_.data() : nullptr,
                      .field = outputs.field ? field_.data() : nullptr,
                      .hessian = outputs.hessian ? hessian_.data() : nullptr},
                     report, watch, hooks, dipoles_);
        if (outputs.potential) write_values(outputs.potential, potential_.data(), targets_, 1);
        if (outputs.field) write_values(outputs.field, field_.data(), targets_, 3);
        if (outputs.hessian) write_values(outputs.hessian, hessian_.data(), targets_, 6);
        const double rest = watch.last_lap();
        (times_parts_ ? report.finish_seconds : report.compute_seconds) += rest;
    }

private:
    std::int64_t sources_, targets_;
    bool times_parts_;
    DirectSum sum_;
    std::vector<double> strengths_, dipoles_, potential_, field_,
        hessian_; ///< of the execution; their memory serves the next
};

bool computes(const KernelInfo& kernel) { return kernel.loop != PairLoop::none; }

bool many_vectors(const KernelInfo& kernel) { return kernel.loop == PairLoop::gauss; }

bool is_in_plane(const SumProblem& problem) {
    return problem.kernel->loop == PairLoop::logarithm || problem.kernel->loop == PairLoop::vortex;
}
bool is_gauss(const SumProblem& problem) { return problem.kernel->loop == PairLoop::gauss; }

std::string why_not(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    if (!computes(*problem.kernel))
        return fmt::format("method 'direct' has no loop for kernel '{}' yet; use {}", problem.kernel->name,
                           spelled("method", method_for(*problem.kernel)));
    if (options.guaranteed) return why_no_bounds("direct");
    if (problem.is_periodic())
        if (auto reason = why_no_image_sum("direct", problem, options, device); !reason.empty())
            return reason;
    if (auto reason = why_not_so_many_gpus(options, device); !reason.empty()) return reason;
    if (is_in_plane(problem)) return why_no_plane_sum(options, device);
    if (is_gauss(problem)) return why_no_gauss_sum(problem, options, device);
    if (device.kind == DeviceKind::cuda && (options.outputs.has(Output::hessian) || options.dipoles))
        return fmt::format("method 'direct' has no {} on a GPU yet; use {} or {}",
                           options.dipoles ? "dipoles" : "output 'hessian'", spelled("device", "cpu"),
                           spelled("method", "fmm"));
    return {};
}

bool divides(const SumProblem& problem, const DeviceChoice& device) {
    return device.kind == DeviceKind::cpu || (!is_in_plane(problem) && !is_gauss(problem));
}

// The caller's numbers in double, and copies of them in the type and layout of the loops.
double open_bytes(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    constexpr double gauss_parts_on_gpu = 6e7; // sums of parts of the sources, at most
    if (is_gauss(problem))
        return gauss_sum_bytes(problem) + (device.kind == DeviceKind::cuda ? gauss_parts_on_gpu : 0.0);
    constexpr double number = 8.0;
    const auto n = static_cast<double>(problem.sources);
    const auto m = static_cast<double>(problem.targets);
    if (is_in_plane(problem)) // read, lifted, prepared; sums and results
        return number * (12.0 * n + (problem.self ? 0.0 : 9.0 * m) + 8.0 * m);
    const double points = problem.self ? 4.0 * n : 4.0 * n + 3.0 * m;
    const bool hessian = options.outputs.has(Output::hessian);
    const double results =
        hessian ? 19.0 : 7.0;              // of a target: potential; field and Hessian, also by components
    constexpr double partial_sums = 1.1e9; // of the mutual kernels (cuda/README.md), at most
    const double sum = number * (2.0 * points + results * m);
    return device.kind == DeviceKind::cuda ? sum + (problem.self ? partial_sums : 0.0) : sum;
}

double bytes(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    const auto open = [&](const SumProblem& one) { return open_bytes(one, options, device); };
    if (!problem.is_periodic()) return open(problem);
    if (device.kind != DeviceKind::cuda) return periodic_direct_bytes(problem, options, open);
    auto whole = options; // ranks have all points
    whole.communicator = CommunicatorAccess::with_everything(options.communicator);
    return cuda::gpu_periodic_direct_bytes(problem, open) + bytes_for_other_ranks(problem, whole, device);
}

double seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
               const CostTable& table) {
    if (!problem.is_periodic()) return direct_seconds(problem, options, gpu, table);
    return gpu.empty() ? periodic_direct_seconds(problem, options, table)
                       : cuda::gpu_periodic_direct_seconds(problem, gpu, table);
}

std::unique_ptr<PreparedSum> make(const SumProblem& problem, const SumOptions& options,
                                  const DeviceChoice& device) {
    if (is_in_plane(problem)) return make_plane_sum(problem, options);
    const bool on_cpu = device.kind == DeviceKind::cpu;
    if (is_gauss(problem))
        return on_cpu ? make_gauss_sum(problem, options)
                      : cuda::make_gpu_gauss_sum(problem, options, device.gpus.front());
    if (problem.is_periodic())
        return on_cpu ? make_periodic_direct(problem, options)
                      : cuda::make_gpu_periodic_direct(problem, options, device.gpus.front());
    if (on_cpu) return std::make_unique<OnCpu>(problem, options);
    return cuda::make_gpu_sum(options, device.gpus, problem.self);
}

constexpr MethodInfo direct_info{.value = Method::direct,
                                 .name = "direct",
                                 .text = "every pair, with all that the machine has",
                                 .on_gpu = true,
                                 .resident = true,
                                 .many_vectors = many_vectors,
                                 .computes = computes,
                                 .field_and_jerk = direct_field_and_jerk,
                                 .why_not = why_not,
                                 .seconds = seconds,
                                 .bytes = bytes,
                                 .make = make,
                                 .open_axes = true,
                                 .divides = divides};

} // namespace

const MethodInfo& direct_method() { return direct_info; }

} // namespace farfield
