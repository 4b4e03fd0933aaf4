// The reference as a method: every pair of any kernel by the formula of its row, in double, one target after
// the other. For comparisons and for kernels that nothing faster computes.
#include "sums/method/method.h"
#include "backend/threads/parallel.h"
#include "backend/threads/work_watch.h"
#include "base/arrays.h"
#include "base/spelling.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/method/refuse.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield {
namespace {

/// Of one execution on one thread.
double seconds_alone(const SumProblem& problem, const CostTable& table) {
    return static_cast<double>(problem.sources) * static_cast<double>(problem.targets) /
           cost_of(table, "reference.cpu.pairs_per_second");
}

int threads_of(const SumProblem& problem, const SumOptions& options) {
    if (options.threads > 0) return options.threads;
    const auto& table = cost_table_in_use().table;
    return threads_for(0, seconds_alone(problem, table), table);
}

class Reference : public PreparedSum {
public:
    Reference(const SumProblem& problem, const SumOptions& options)
        : problem_(problem), threads_(threads_of(problem, options)) {}

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        sources_ = read_points(sources, "sources", problem_.dimension);
        if (!problem_.self) targets_ = read_points(targets, "targets", problem_.dimension);
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        execute_with_dipoles(strengths, {}, outputs, hooks, report);
    }

    void execute_with_dipoles(const ConstArrayView& strengths, const ConstArrayView& dipoles,
                              const SumOutputs& outputs, const SumHooks& hooks, SumReport& report) override {
        Stopwatch watch;
        const auto& kernel = *problem_.kernel;
        dipoles_ = dipoles ? read_values(dipoles, problem_.sources, "dipoles", problem_.dimension)
                           : std::vector<double>();
        const auto q = read_values(strengths, problem_.sources, "strengths", kernel.strength.columns);
        const auto width = static_cast<std::size_t>(kernel.width(problem_.dimension));
        std::vector<double> sums(width * static_cast<std::size_t>(problem_.targets));
        report.prepare_seconds = watch.lap();
        report.direct.coincident_pairs_skipped =
            sum_all(q, outputs.present().has(Output::hessian), sums, hooks);
        report.compute_seconds = watch.lap();
        write(sums, outputs);
        report.finish_seconds = watch.lap();
        report.threads = threads_;
        report.device = {.kind = DeviceKind::cpu};
        report.isa = Isa::scalar;
        report.precision = Precision::float64;
        report.direct.variant = Variant::naive;
    }

private:
    std::int64_t sum_all(const std::vector<double>& q, bool with_hessian, std::vector<double>& sums,
                         const SumHooks& hooks) {
        WorkWatch watch(static_cast<double>(problem_.targets) * static_cast<double>(problem_.sources),
                        hooks.progress, hooks.stop_requested);
        const auto& kernel = *problem_.kernel;
        const auto width = static_cast<std::size_t>(kernel.width(problem_.dimension));
        std::vector<CoincidentSources> coincident(static_cast<std::size_t>(problem_.targets));
        parallel_for(threads_, problem_.targets, [&](std::int64_t i) {
            if (watch.stopped()) return;
            const auto row = static_cast<std::size_t>(i);
            const auto& points = problem_.self ? sources_ : targets_;
            coincident[row] = kernel.exact({.dimension = problem_.dimension,
                                            .columns = kernel.strength.columns,
                                            .sources = problem_.sources,
                                            .points = sources_.data(),
                                            .strengths = q.data(),
                                            .dipoles = dipoles_.empty() ? nullptr : dipoles_.data(),
                                            .target = points.data() + i * problem_.dimension,
                                            .own = problem_.self ? i : -1,
                                            .without_own = problem_.without_own(),
                                            .softening = problem_.softening,
                                            .sigma = problem_.sigma,
                                            .with_hessian = with_hessian},
                                           sums.data() + row * width);
            watch.done(static_cast<double>(problem_.sources));
        });
        if (watch.stopped()) throw Interrupted("the sum was given up before its end");
        std::int64_t skipped = 0;
        for (std::size_t i = 0; i < coincident.size(); ++i) {
            if (coincident[i].count > 0 && problem_.coincident == Coincident::error)
                refuse_coincident(problem_.self, static_cast<std::int64_t>(i), coincident[i].first, false,
                                  softener_of(*problem_.kernel));
            skipped += coincident[i].count;
        }
        return skipped;
    }

    void write(const std::vector<double>& sums, const SumOutputs& outputs) const {
        const auto& kernel = *problem_.kernel;
        const auto all = static_cast<std::size_t>(kernel.width(problem_.dimension));
        std::size_t first = 0;
        for (const auto& info : kernel.outputs) {
            const auto width = static_cast<std::size_t>(kernel.width(info, problem_.dimension));
            const auto& view = outputs.of(info.output);
            if (view) {
                require_host(view, name_of(info.output));
                std::vector<double> values;
                for (std::size_t i = 0; i < static_cast<std::size_t>(problem_.targets); ++i)
                    values.insert(values.end(), sums.data() + i * all + first,
                                  sums.data() + i * all + first + width);
                write_values(view, values.data(), problem_.targets, static_cast<std::int64_t>(width));
            }
            first += width;
        }
    }

    SumProblem problem_;
    int threads_;
    std::vector<double> sources_, targets_, dipoles_;
};

bool computes(const KernelInfo& /*kernel*/) { return true; }

std::string why_not(const SumProblem& problem, const SumOptions& options, const DeviceChoice& device) {
    if (device.kind != DeviceKind::cpu)
        return fmt::format("method 'reference' runs on the CPU only; use {}, or {}", spelled("device", "cpu"),
                           spelled("method", "direct"));
    if (options.guaranteed) return why_no_bounds("reference");
    if (problem.is_periodic()) return why_no_period("reference");
    if (problem.precision != Precision::float64)
        return fmt::format("method 'reference' computes in double; leave {} out",
                           spelled("precision", name_of(problem.precision)));
    if (options.variant != Variant::automatic)
        return fmt::format("{} is a rung of method 'direct'; leave it out",
                           spelled("variant", name_of(options.variant)));
    return {};
}

double seconds(const SumProblem& problem, const SumOptions& options, std::string_view /*gpu*/,
               const CostTable& table) {
    return problem.executions * seconds_alone(problem, table) / thread_count(options.threads);
}

double bytes(const SumProblem& problem, const SumOptions& /*options*/, const DeviceChoice& /*device*/) {
    const double a_source = problem.dimension + problem.kernel->strength.columns;
    const double a_target = problem.dimension + 2.0 * problem.kernel->width(problem.dimension) + 2.0;
    return 8.0 * (a_source * static_cast<double>(problem.sources) +
                  a_target * static_cast<double>(problem.targets));
}

std::unique_ptr<PreparedSum> make(const SumProblem& problem, const SumOptions& options,
                                  const DeviceChoice& /*device*/) {
    return std::make_unique<Reference>(problem, options);
}

constexpr MethodInfo reference_info{.value = Method::reference,
                                    .name = "reference",
                                    .text = "every pair of any kernel in the plainest way, to compare with",
                                    .on_gpu = false,
                                    .resident = false,
                                    .many_vectors = nullptr,
                                    .computes = computes,
                                    .field_and_jerk = nullptr,
                                    .why_not = why_not,
                                    .seconds = seconds,
                                    .bytes = bytes,
                                    .make = make};

} // namespace

const MethodInfo& reference_method() { return reference_info; }

} // namespace farfield
