#include "sums/direct/periodic/periodic_direct.h"

#include "backend/threads/parallel.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/cpu/host_sum.h"
#include "sums/direct/cuda/periodic/gpu_image_sum.h"
#include "sums/direct/cuda/sum/gpu_sum.h"
#include "sums/direct/periodic/image_sum.h"

#include <string>

namespace farfield {
namespace {

double seconds_alone(const SumProblem& problem, SumOptions options, const CostTable& table) {
    options.threads = 1;
    return direct_seconds(problem, options, {}, table);
}

OpenSeconds seconds_on_gpu(std::string_view gpu, const CostTable& table) {
    return [name = std::string(gpu), &table](const SumProblem& open) {
        const auto rates = gpu_rates(table, name, open.precision, open.self);
        return open.executions *
               (rates.fixed_seconds + static_cast<double>(open.pairs()) / rates.pairs_per_second);
    };
}

std::unique_ptr<PreparedSum> make_open_on_gpu(const SumProblem& problem, const SumOptions& options,
                                              int device) {
    return cuda::make_gpu_sum(options, {device}, problem.self);
}

/// The direct sum as ImageSum takes it.
class OpenPairs {
public:
    static double seconds(const SumProblem& problem, const SumOptions& options) {
        return seconds_alone(problem, options, cost_table_in_use().table);
    }
    static ImageShape image_shape(const SumProblem& problem, const SumOptions& /*options*/) {
        return {.separation = 2, .order = image_order(image_goal(problem), 2)};
    }

    OpenPairs(const SumProblem& problem, const SumOptions& options)
        : self_(problem.self), threads_(thread_count(options.threads)),
          times_parts_(problem.times_its_parts()), sum_(options, problem.self) {}

    [[nodiscard]] int threads() const { return threads_; }
    void set_points(const RawVector<double>& sources, const RawVector<double>& targets) {
        std::vector<double> from(sources.begin(), sources.end());
        if (self_)
            sum_.set_sources(std::move(from));
        else
            sum_.set_points(std::move(from), {targets.begin(), targets.end()});
    }
    void compute(std::span<const double> strengths, std::span<const double> dipoles,
                 const DirectResults& results, SumReport& report, const SumHooks& hooks) {
        LapWatch watch(times_parts_);
        sum_.compute(strengths, results, report, watch, hooks, dipoles);
        if (!times_parts_) report.compute_seconds += watch.last_lap();
    }
    bool refine(double /*error*/) { return false; }

private:
    bool self_;
    int threads_;
    bool times_parts_;
    DirectSum sum_;
};

} // namespace

std::unique_ptr<PreparedSum> make_periodic_direct(const SumProblem& problem, const SumOptions& options,
                                                  const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda)
        return cuda::make_gpu_image_sum(problem, options, device.gpus.front(),
                                        {.shape = OpenPairs::image_shape(problem, options),
                                         .seconds = seconds_on_gpu(usual_gpu, cost_table_in_use().table),
                                         .make = make_open_on_gpu});
    return std::make_unique<HostSum<ImageSum<OpenPairs>>>(problem, options);
}

double periodic_direct_seconds(const SumProblem& problem, const SumOptions& options, std::string_view gpu,
                               const CostTable& table) {
    const auto shape = OpenPairs::image_shape(problem, options);
    if (!gpu.empty())
        return gpu_image_seconds(problem, shape, seconds_on_gpu(gpu, table), gpu, table);
    const auto alone = [&](const SumProblem& open) { return seconds_alone(open, options, table); };
    return image_seconds(problem, shape, alone) / thread_count(options.threads);
}

double periodic_direct_bytes(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device,
                             const std::function<double(const SumProblem&)>& bytes) {
    const auto shape = OpenPairs::image_shape(problem, options);
    if (device.kind == DeviceKind::cuda)
        return gpu_image_bytes(problem, shape, seconds_on_gpu(usual_gpu, cost_table_in_use().table), bytes);
    return image_bytes(
        problem, shape, [&](const SumProblem& open) { return OpenPairs::seconds(open, options); }, bytes);
}

} // namespace farfield
