#include "studies/bench_fmm.h"

#include "backend/cuda/devices.h"
#include "backend/cuda/host_copy.h"
#include "backend/cuda/resident_array.h"
#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "studies/bench_points.h"
#include "studies/cuda/ceilings.h"
#include "studies/flop_peak.h"
#include "studies/ladder_model.h"
#include "studies/tune_measure.h"
#include "sums/fmm/shape.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <span>
#include <utility>

namespace farfield {
namespace {

constexpr double most_direct_pairs = 2e10;
constexpr int peak_repeats = 15;
constexpr std::size_t most_verified_targets = 1000; ///< targets whose sums are compared with exact ones

struct Charges {
    explicit Charges(std::int64_t n) : points(3 * static_cast<std::size_t>(n)), strengths(points.size() / 3) {
        std::minstd_rand engine(1);
        for (double& x : points) x = static_cast<double>(engine()) * 0x1p-31;
        for (double& q : strengths) q = static_cast<double>(engine()) * 0x1p-30 - 1.0;
    }
    std::vector<double> points, strengths;
};

void check_bench(const BenchFmmOptions& options) {
    const int most = most_order(options.precision == Precision::float64);
    for (const int order : options.orders)
        if (order < 1 || order > most)
            throw InvalidArgument(fmt::format("{} is not allowed: orders in precision '{}' are from 1 to {}",
                                              spelled("order", std::to_string(order)),
                                              name_of(options.precision), most));
    for (const auto n : options.sizes)
        if (n < 2) throw InvalidArgument(fmt::format("n = {} is not allowed: it must be at least 2", n));
    if (options.repeats < 1 || options.threads < 0)
        throw InvalidArgument(
            fmt::format("repeats = {}, threads = {} is not allowed: they must be at least 1 and 0",
                        options.repeats, options.threads));
}

/// What the repeats of a sum took.
struct Timings {
    std::vector<double> whole, set_up, compute;
    std::vector<std::string> names; ///< of the passes, in their order
    std::map<std::string, std::vector<double>> passes;

    void add(double moved, double executed, const SumReport& report) {
        set_up.push_back(moved);
        compute.push_back(report.compute_seconds);
        whole.push_back(moved + executed);
        for (const auto& [name, seconds] : report.passes) {
            if (passes[name].empty()) names.push_back(name);
            passes[name].push_back(seconds);
        }
    }
};

/// Where the points and the results are.
class Arrays {
public:
    Arrays(const Charges& charges, std::optional<int> gpu)
        : charges_(charges), potential_(charges.strengths.size()), field_(charges.points.size()) {
        if (!gpu) return;
        resident_.emplace_back(charges.points, 3, *gpu);
        resident_.emplace_back(charges.strengths, 1, *gpu);
        resident_.emplace_back(potential_, 1, *gpu);
        resident_.emplace_back(field_, 3, *gpu);
    }
    [[nodiscard]] ConstArrayView points() const {
        if (!resident_.empty()) return resident_[0].view();
        return matrix_view(std::span<const double>(charges_.points), 3);
    }
    [[nodiscard]] ConstArrayView strengths() const {
        if (!resident_.empty()) return resident_[1].view();
        return std::span<const double>(charges_.strengths);
    }
    [[nodiscard]] std::vector<double> potential() const {
        return resident_.empty() ? potential_ : fetched(2, 1);
    }
    [[nodiscard]] std::vector<double> field() const { return resident_.empty() ? field_ : fetched(3, 3); }
    [[nodiscard]] SumOutputs outputs() {
        SumOutputs out;
        out.potential = resident_.empty() ? ArrayView(std::span<double>(potential_)) : resident_[2].view();
        out.field = resident_.empty() ? matrix_view(std::span<double>(field_), 3) : resident_[3].view();
        return out;
    }

private:
    [[nodiscard]] std::vector<double> fetched(std::size_t which, std::int64_t columns) const {
        return cuda::host_copy(resident_[which].view(), static_cast<std::int64_t>(charges_.strengths.size()),
                               columns);
    }

    const Charges& charges_;
    std::vector<double> potential_, field_;
    std::vector<cuda::ResidentArray> resident_; ///< points, strengths, potential, field
};

/// Sums of every pair at some of the charges.
class ExactSamples {
public:
    explicit ExactSamples(const Charges& charges) {
        const auto n = charges.strengths.size();
        const auto count = std::min(n, most_verified_targets);
        std::vector<double> targets;
        for (std::size_t s = 0; s < count; ++s) {
            rows_.push_back(s * n / count);
            for (std::size_t axis = 0; axis < 3; ++axis)
                targets.push_back(charges.points[3 * rows_.back() + axis]);
        }
        // each target is a source, too
        exact_ =
            sum(matrix_view(std::span<const double>(charges.points), 3),
                matrix_view(std::span<const double>(targets), 3), std::span<const double>(charges.strengths),
                {.kernel = Kernel::coulomb,
                 .precision = Precision::float64,
                 .coincident = Coincident::skip,
                 .device = {.kind = DeviceKind::cpu, .gpus = {}}});
    }
    [[nodiscard]] double error_of_potential(const std::vector<double>& of) const {
        return error(of, exact_.potential, 1);
    }
    [[nodiscard]] double error_of_field(const std::vector<double>& of) const {
        return error(of, exact_.field, 3);
    }

private:
    // Relative, in the L2 norm.
    [[nodiscard]] double error(const std::vector<double>& of, const std::vector<double>& exact,
                               std::size_t width) const {
        double difference = 0.0;
        double norm = 0.0;
        for (std::size_t s = 0; s < rows_.size(); ++s)
            for (std::size_t k = 0; k < width; ++k) {
                const double expected = exact[s * width + k];
                difference += std::pow(of[rows_[s] * width + k] - expected, 2);
                norm += expected * expected;
            }
        return std::sqrt(difference / norm);
    }

    std::vector<std::size_t> rows_;
    SumResult exact_;
};

class FmmBench {
public:
    FmmBench(const BenchFmmOptions& options, BenchFmmReport& report) : options_(options), report_(report) {}

    /// Order 0: the direct sum.
    void measure(const Charges& charges, const ExactSamples& exact, int order) {
        Arrays arrays(charges, options_.gpu);
        const auto points = arrays.points();
        DeviceChoice device{.kind = DeviceKind::cpu, .gpus = {}};
        if (options_.gpu) device = {.kind = DeviceKind::cuda, .gpus = {*options_.gpu}};
        SumPlan plan(points, {.kernel = Kernel::coulomb,
                              .method = order > 0 ? Method::fmm : Method::direct,
                              .order = order,
                              .precision = options_.precision,
                              .threads = options_.threads,
                              .device = device});
        const auto execute = [&] {
            plan.execute(arrays.strengths(), arrays.outputs(),
                         {.progress = {}, .stop_requested = options_.stop_requested});
        };
        execute(); // fetches memory
        Timings timings;
        for (int run = -warm_up_runs(); run < options_.repeats; ++run) {
            const double moved = seconds_of([&] { plan.update(points); });
            const double executed = seconds_of(execute);
            if (run >= 0) timings.add(moved, executed, plan.report());
        }
        add_row(order, plan.report(), timings);
        report_.rows.back().error_potential = exact.error_of_potential(arrays.potential());
        report_.rows.back().error_field = exact.error_of_field(arrays.field());
    }

private:
    /// A GPU's memory is fetched by the first ones that find points moved.
    [[nodiscard]] int warm_up_runs() const { return options_.gpu ? 3 : 0; }

    void add_row(int order, const SumReport& sum, const Timings& timings) {
        BenchFmmRow row;
        row.n = sum.sources;
        row.order = order;
        row.seconds = median(timings.whole);
        row.set_up_seconds = median(timings.set_up);
        for (const auto& name : timings.names) row.passes.push_back({name, median(timings.passes.at(name))});
        row.leaves = sum.fmm.leaves;
        row.near_pairs = order > 0 ? sum.fmm.near_pairs : sum.direct.pairs;
        const double operations =
            flop_a_pair * static_cast<double>(row.near_pairs) + 2.0 * sum.fmm.multiply_adds;
        row.flops = operations / median(timings.compute);
        row.share_of_peak = row.flops / report_.peak_flops;
        report_.isa = sum.isa;
        report_.rows.push_back(std::move(row));
    }

    const BenchFmmOptions& options_;
    BenchFmmReport& report_;
};

} // namespace

namespace {

double peak_of(const BenchFmmOptions& options, BenchFmmReport& report) {
    const bool wide = options.precision == Precision::float64;
    if (!options.gpu) return measured_flop_peak(wide, report.threads, peak_repeats);
    cuda::use_device(*options.gpu);
    report.gpu = cuda::devices().at(static_cast<std::size_t>(*options.gpu)).name;
    const auto ceilings = cuda::measure_ceilings();
    return 2.0 * (wide ? ceilings.fma_double : ceilings.fma_float);
}

} // namespace

BenchFmmReport bench_fmm(const BenchFmmOptions& given) {
    auto options = given;
    if (options.precision == Precision::automatic) options.precision = Precision::float64;
    check_bench(options);
    BenchFmmReport report;
    report.precision = options.precision;
    report.threads = thread_count(options.threads);
    report.repeats = options.repeats;
    report.peak_flops = peak_of(options, report);
    FmmBench bench(options, report);
    const auto tell = [&](const std::string& what) {
        if (options.progress) options.progress(what);
        if (options.stop_requested && options.stop_requested()) throw Interrupted("stopped between two sums");
    };
    try {
        for (const auto n : options.sizes) {
            const Charges charges(n);
            const ExactSamples exact(charges);
            const auto pairs = static_cast<double>(n) * static_cast<double>(n);
            if (pairs <= most_direct_pairs) {
                tell(fmt::format("the direct sum, N = {}", n));
                bench.measure(charges, exact, 0);
            }
            for (const int order : options.orders) {
                tell(fmt::format("order {}, N = {}", order, n));
                bench.measure(charges, exact, order);
            }
        }
    } catch (const Interrupted&) {
        report.stopped = true;
    }
    return report;
}

} // namespace farfield
