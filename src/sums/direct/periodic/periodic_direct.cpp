#include "sums/direct/periodic/periodic_direct.h"

#include "backend/threads/parallel.h"
#include "sums/costs/cost_file.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/cpu/host_sum.h"
#include "sums/direct/periodic/image_sum.h"

namespace farfield {
namespace {

double seconds_alone(const SumProblem& problem, SumOptions options, const CostTable& table) {
    options.threads = 1;
    return direct_seconds(problem, options, {}, table);
}

/// The direct sum as ImageSum takes it.
class OpenPairs {
public:
    static constexpr bool takes_own_points = false;
    static double seconds(const SumProblem& problem, const SumOptions& options) {
        return seconds_alone(problem, options, cost_table_in_use().table);
    }
    static ImageShape image_shape(const SumProblem& problem, const SumOptions& /*options*/) {
        return pairs_image_shape(problem);
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

ImageShape pairs_image_shape(const SumProblem& problem) {
    const double goal = image_goal(problem);
    return {.separation = 2, .order = image_order(goal, 2), .goal = goal};
}

std::unique_ptr<PreparedSum> make_periodic_direct(const SumProblem& problem, const SumOptions& options) {
    return std::make_unique<HostSum<ImageSum<OpenPairs>>>(problem, options);
}

double periodic_direct_seconds(const SumProblem& problem, const SumOptions& options, const CostTable& table) {
    const auto alone = [&](const SumProblem& open) { return seconds_alone(open, options, table); };
    return image_seconds(problem, OpenPairs::image_shape(problem, options), alone) /
           thread_count(options.threads);
}

double periodic_direct_bytes(const SumProblem& problem, const SumOptions& options,
                             const std::function<double(const SumProblem&)>& bytes) {
    return image_bytes(
        problem, OpenPairs::image_shape(problem, options),
        [&](const SumProblem& open) { return OpenPairs::seconds(open, options); }, bytes);
}

} // namespace farfield
