// Vortices in the frame of the other direct sums, with z = 0: points as the loops take them, threads over
// targets, factors and logarithms of the frame's scale afterwards. Rows that are not finite are computed
// again by the kernel's formula in long double, which finds coincident points.
#include "sums/direct/vortex/vortex_sum.h"

#include "backend/simd/isa.h"
#include "backend/threads/parallel.h"
#include "backend/threads/work_watch.h"
#include "base/arrays.h"
#include "base/spelling.h"
#include "base/stopwatch.h"
#include "sums/costs/cost_file.h"
#include "sums/costs/threads.h"
#include "sums/direct/common/costs.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/direct/cpu/variants.h"
#include "sums/direct/vortex/vortex_tile.h"
#include "sums/method/refuse.h"
#include "sums/points/plane.h"
#include "sums/points/prepared.h"
#include "sums/points/rescale.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace farfield {
namespace {

/// N×2 as N×3 with z = 0.
std::vector<double> in_space(std::span<const double> points) {
    std::vector<double> out(points.size() / 2 * 3, 0.0);
    for (std::size_t i = 0; i < points.size() / 2; ++i) {
        out[3 * i] = points[2 * i];
        out[3 * i + 1] = points[2 * i + 1];
    }
    return out;
}

template <class T>
struct VortexPoints {
    PreparedPoints<T> sources, targets; ///< targets are empty where they are the sources
};

class VortexSum : public PreparedSum {
public:
    VortexSum(const SumProblem& problem, const SumOptions& options)
        : problem_(problem), options_(options), isa_(resolve_isa(options.isa)) {}

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        read_points(sources, "sources", sources_, 2);
        if (!problem_.self) read_points(targets, "targets", targets_, 2);
        const auto source_points = in_space(sources_);
        const auto target_points = in_space(targets_);
        frame_ =
            choose_plane_frame(source_points, target_points, problem_.sigma, thread_count(options_.threads));
        const auto set = [&](auto& points, bool with_low) {
            points.sources.set(source_points, frame_, with_low);
            if (!problem_.self) points.targets.set(target_points, frame_, with_low);
        };
        if (problem_.precision == Precision::float64)
            set(as_double_, false);
        else
            set(as_float_, problem_.precision == Precision::mixed);
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        LapWatch watch(problem_.times_its_parts());
        read_values(strengths, problem_.sources, "strengths", strengths_);
        if (outputs.potential) require_host(outputs.potential, "potential");
        if (outputs.field) require_host(outputs.field, "field");
        const auto rows = static_cast<std::size_t>(problem_.targets);
        potential_.resize(outputs.potential ? rows : 0);
        for (auto& component : velocity_) component.resize(outputs.field ? rows : 0);
        report.isa = isa_;
        report.device = {.kind = DeviceKind::cpu};
        report.direct.variant = Variant::simd;
        report.threads = threads();
        if (problem_.precision == Precision::float64)
            compute_as(as_double_, hooks, report, watch);
        else
            compute_as(as_float_, hooks, report, watch);
        report.direct.coincident_pairs_skipped = repair(thread_count(options_.threads));
        write(outputs);
        const double rest = watch.last_lap();
        (problem_.times_its_parts() ? report.finish_seconds : report.compute_seconds) += rest;
    }

private:
    [[nodiscard]] int threads() const {
        if (options_.threads > 0) return options_.threads;
        if (problem_.targets <= targets_of_a_task) return 1;
        const auto& table = cost_table_in_use().table;
        const auto rate = direct_cost::cpu_pairs_per_second(isa_, problem_.precision, false);
        const double pairs = static_cast<double>(problem_.sources) * static_cast<double>(problem_.targets);
        return threads_for(0, pairs * pair_weight(problem_) / cost_of(table, rate), table);
    }

    template <class T>
    void compute_as(VortexPoints<T>& points, const SumHooks& hooks, SumReport& report, LapWatch& watch) {
        const int exponent = strength_exponent(strengths_);
        points.sources.set_strengths(strengths_, exponent);
        VortexTile whole{.targets = (problem_.self ? points.sources : points.targets).view(),
                         .sources = points.sources.view(),
                         .self = problem_.self,
                         .sigma = std::ldexp(problem_.sigma, frame_.exponent),
                         .logarithm = potential_.empty() ? nullptr : potential_.data()};
        for (int k = 0; k < 2; ++k) whole.velocity[k] = velocity_[k].empty() ? nullptr : velocity_[k].data();
        const auto outputs = static_cast<LoopOutputs>((potential_.empty() ? 0 : potential_only) |
                                                      (velocity_[0].empty() ? 0 : field_only));
        report.prepare_seconds = watch.lap();
        if (outputs != 0) run(whole, outputs, report.threads, hooks);
        report.compute_seconds = watch.lap();
        rescale(exponent);
    }

    void run(const VortexTile& whole, LoopOutputs outputs, int threads, const SumHooks& hooks) const {
        const auto function = FF_ISA_FUNCTION(ff_vortex, isa_);
        WorkWatch watch(static_cast<double>(problem_.targets) * static_cast<double>(problem_.sources),
                        hooks.progress, hooks.stop_requested);
        parallel_for(threads, (problem_.targets + targets_of_a_task - 1) / targets_of_a_task,
                     [&](std::int64_t number) {
                         if (watch.stopped()) return;
                         auto tile = whole;
                         tile.target_begin = number * targets_of_a_task;
                         tile.target_end = std::min(tile.target_begin + targets_of_a_task, problem_.targets);
                         function(problem_.precision, outputs, &tile);
                         watch.done(static_cast<double>(tile.target_end - tile.target_begin) *
                                    static_cast<double>(problem_.sources));
                     });
        if (watch.stopped()) throw Interrupted("the sum was given up before its end");
    }

    // ψ = −(1/4π) Σ Γ (ln r² + E₁), and the frame's lengths are the caller's times 2^e.
    void rescale(int strength_exponent) {
        const double factor = problem_.kernel->sign; // 1/2π
        for (auto& component : velocity_)
            rescale_values(component.data(), static_cast<std::int64_t>(component.size()), factor,
                           frame_.exponent - strength_exponent);
        if (potential_.empty()) return;
        rescale_values(potential_.data(), problem_.targets, -0.5 * factor, -strength_exponent);
        if (frame_.exponent == 0) return;
        const double all = std::accumulate(strengths_.begin(), strengths_.end(), 0.0);
        const double log_of_scale = factor * std::log(2.0) * frame_.exponent;
        for (std::size_t i = 0; i < potential_.size(); ++i)
            potential_[i] += log_of_scale * (all - (problem_.self ? strengths_[i] : 0.0));
    }

    [[nodiscard]] bool is_finite(std::size_t row) const {
        return (potential_.empty() || std::isfinite(potential_[row])) &&
               (velocity_[0].empty() ||
                (std::isfinite(velocity_[0][row]) && std::isfinite(velocity_[1][row])));
    }

    std::int64_t repair(int threads) {
        std::vector<std::size_t> rows;
        for (std::size_t i = 0; i < static_cast<std::size_t>(problem_.targets); ++i)
            if (!is_finite(i)) rows.push_back(i);
        std::vector<CoincidentSources> met(rows.size());
        constexpr std::size_t rows_at_once = 64; // one that is refused ends all
        std::int64_t skipped = 0;
        for (std::size_t k = 0; k < rows.size(); ++k) {
            if (k % rows_at_once == 0)
                parallel_for(threads, static_cast<std::int64_t>(std::min(rows_at_once, rows.size() - k)),
                             [&](std::int64_t part) {
                                 const auto place = k + static_cast<std::size_t>(part);
                                 met[place] = compute_row(rows[place]);
                             });
            const auto row = static_cast<std::int64_t>(rows[k]);
            if (met[k].count > 0 && problem_.coincident == Coincident::error)
                refuse_coincident(problem_.self, row, met[k].first, false, "sigma");
            if (!is_finite(rows[k]))
                throw InvalidArgument(
                    fmt::format("row {} of the result is not finite: a pair is so close, or a strength so "
                                "large, that the "
                                "sum leaves the range of a double; set {} > 0 or rescale the input",
                                row, spelled("sigma")));
            skipped += met[k].count;
        }
        return skipped;
    }

    CoincidentSources compute_row(std::size_t row) {
        const auto& points = problem_.self ? sources_ : targets_;
        long double out[3] = {0.0L, 0.0L, 0.0L};
        const auto met =
            problem_.kernel->exact_long({.dimension = 2,
                                         .columns = 1,
                                         .sources = problem_.sources,
                                         .points = sources_.data(),
                                         .strengths = strengths_.data(),
                                         .target = points.data() + 2 * row,
                                         .own = problem_.self ? static_cast<std::int64_t>(row) : -1,
                                         .sigma = problem_.sigma},
                                        out);
        if (!potential_.empty()) potential_[row] = static_cast<double>(out[0]);
        for (std::size_t k = 0; k < 2 && !velocity_[k].empty(); ++k)
            velocity_[k][row] = static_cast<double>(out[1 + k]);
        return met;
    }

    void write(const SumOutputs& outputs) {
        if (outputs.potential) write_values(outputs.potential, potential_.data(), problem_.targets, 1);
        if (!outputs.field) return;
        rows_.resize(2 * velocity_[0].size());
        for (std::size_t i = 0; i < velocity_[0].size(); ++i) {
            rows_[2 * i] = velocity_[0][i];
            rows_[2 * i + 1] = velocity_[1][i];
        }
        write_values(outputs.field, rows_.data(), problem_.targets, 2);
    }

    SumProblem problem_;
    SumOptions options_;
    Isa isa_;
    Frame frame_;
    std::vector<double> sources_, targets_; ///< N×2, M×2
    std::vector<double> strengths_;
    std::vector<double> potential_, velocity_[2], rows_; ///< of an execution; their memory serves the next
    VortexPoints<float> as_float_;                       ///< one of the two is used, by the precision
    VortexPoints<double> as_double_;
};

} // namespace

std::string why_no_vortex_sum(const SumOptions& options, const DeviceChoice& device) {
    if (device.kind == DeviceKind::cuda)
        return fmt::format("method 'direct' has no loop for kernel 'vortex2d' on a GPU yet; use {}",
                           spelled("device", "cpu"));
    if (options.variant != Variant::automatic && options.variant != Variant::simd)
        return fmt::format("kernel 'vortex2d' has {} alone; leave {} out", spelled("variant", "simd"),
                           spelled("variant", name_of(options.variant)));
    return {};
}

std::unique_ptr<PreparedSum> make_vortex_sum(const SumProblem& problem, const SumOptions& options) {
    return std::make_unique<VortexSum>(problem, options);
}

} // namespace farfield
