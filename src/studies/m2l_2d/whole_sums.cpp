#include "studies/m2l_2d/whole_sums.h"

#include "studies/bench_points.h"
#include "studies/m2l_2d/problem.h"
#include "studies/m2l_2d/seed_tables.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

namespace farfield::m2l2d {
namespace {

constexpr std::array leaves_tried{8, 16, 32, 64, 128, 256};
constexpr int middle_terms = terms_measured[1]; ///< those that all numbers of vortices are tried with

} // namespace

struct WholeSums::Vortices {
    explicit Vortices(std::int64_t count)
        : n(count), points(static_cast<std::size_t>(2 * n)), strengths(static_cast<std::size_t>(n)) {
        std::minstd_rand engine(1);
        for (double& x : points) x = static_cast<double>(engine()) * 0x1p-31;
        for (double& q : strengths) q = static_cast<double>(engine()) * 0x1p-30 - 1.0;
    }
    std::int64_t n;
    std::vector<double> points, strengths;
};

struct WholeSums::Timed {
    std::map<std::string, double> passes;
    double seconds = 0.0; ///< of all passes
    double tree = 0.0;    ///< of what comes before them: points, tree and lists
    double points_a_leaf = 0.0;
    double error = 0.0; ///< of the field

    [[nodiscard]] double of(const std::string& pass) const {
        const auto found = passes.find(pass);
        return found == passes.end() ? 0.0 : found->second;
    }
};

WholeSums::WholeSums(const ReproduceOptions& options, const StudyDevice& device)
    : options_(options), device_{.kind = DeviceKind::cpu, .gpus = {}}, device_name_("the CPU") {
    for (const std::int64_t n : seeds::whole_sums) {
        const auto size = std::min(n, options.most_points);
        if (sizes_.empty() || size > sizes_.back()) sizes_.push_back(size);
    }
    if (!device.gpu) return;
    device_ = {.kind = DeviceKind::cuda, .gpus = {*device.gpu}};
    try {
        const Vortices few(2);
        const SumPlan plan(matrix_view(std::span<const double>(few.points), 2), sum_options(middle_terms, 0));
        device_name_ = device.name;
    } catch (const InvalidArgument& error) {
        refusal_ = error.what();
        device_ = {.kind = DeviceKind::cpu, .gpus = {}};
    }
}

SumOptions WholeSums::sum_options(int terms, int leaf) const {
    SumOptions options;
    options.kernel = farfield::Kernel::vortex2d;
    options.method = Method::fmm;
    options.order = terms - 1; // orders count from 0
    options.leaf = leaf;
    options.precision = Precision::float64;
    options.device = device_;
    options.threads = options_.threads;
    options.tolerance = 0.5; // any: for the error alone
    return options;
}

auto WholeSums::measured(const Vortices& vortices, int terms, int leaf, int repeats) const -> Timed {
    if (options_.progress)
        options_.progress(fmt::format("whole sum, N = {}, p = {}{}", vortices.n, terms,
                                      leaf > 0 ? fmt::format(", {} points a leaf", leaf) : ""));
    const auto points = matrix_view(std::span<const double>(vortices.points), 2);
    auto options = sum_options(terms, leaf);
    if (leaf > 0) options.tolerance = 0.0;
    SumPlan plan(points, options);
    std::vector<double> field(vortices.points.size());
    const SumOutputs outputs{.field = matrix_view(std::span<double>(field), 2)};
    const auto run = [&] { plan.execute(std::span<const double>(vortices.strengths), outputs); };
    run(); // memory is touched, and the error is known
    Timed out;
    if (leaf == 0) out.error = plan.report().errors.front().relative;
    std::vector<double> seconds, trees;
    std::map<std::string, std::vector<double>> passes;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        plan.update(points);
        run();
        const auto& report = plan.report();
        seconds.push_back(report.compute_seconds);
        trees.push_back(report.prepare_seconds);
        for (const auto& pass : report.passes) passes[pass.name].push_back(pass.seconds);
    }
    out.seconds = median(seconds);
    out.tree = median(trees);
    for (const auto& [name, times] : passes) out.passes[name] = median(times);
    out.points_a_leaf = static_cast<double>(vortices.n) / static_cast<double>(plan.report().fmm.leaves);
    return out;
}

StudyRow WholeSums::passes_row(const Vortices& vortices, int terms) const {
    const auto timed = measured(vortices, terms, 0, options_.repeats);
    const double near = timed.of("P2P");
    const double m2l = timed.of("M2L");
    double all = 0.0;
    for (const auto& [name, seconds] : timed.passes) all += seconds;
    const auto share = [&](double of) { return StudyValue::of(100.0 * of / all); };
    return {fmt::format("{}, p = {}", vortices.n, terms),
            {},
            {StudyValue::of(timed.seconds, timed.error), StudyValue::of(near), StudyValue::of(m2l),
             StudyValue::of(all - near - m2l), share(near), share(m2l), share(near + m2l),
             StudyValue::of(timed.points_a_leaf), StudyValue::of(timed.tree)}};
}

StudyTable WholeSums::passes() const {
    StudyTable table{fmt::format("Whole sums on {}: by number of vortices and terms", device_name_),
                     {"all passes, s", "P2P, s", "M2L, s", "others, s", "P2P, %", "M2L, %", "P2P and M2L, %",
                      "points a leaf", "tree, s"},
                     {}};
    for (std::size_t k = 0; k < seeds::whole_sums.size(); ++k) {
        StudyRow row{fmt::format("{}, the paper, serial, about", seeds::whole_sums[k]),
                     "How to obtain efficient GPU kernels, 2.1",
                     std::vector<StudyValue>(table.columns.size(), StudyValue::none("-"))};
        row.values[6] = StudyValue::given(seeds::near_and_downward_percent[k]);
        table.rows.push_back(std::move(row));
    }
    for (const auto n : sizes_) {
        const Vortices vortices(n);
        for (const int terms : terms_measured) table.rows.push_back(passes_row(vortices, terms));
    }
    return table;
}

StudyRow WholeSums::leaves_row(const Vortices& vortices, int terms) const {
    std::array<std::vector<double>, leaves_tried.size()> times;
    for (int repeat = 0; repeat < options_.repeats; ++repeat)
        for (std::size_t k = 0; k < leaves_tried.size(); ++k)
            times[k].push_back(measured(vortices, terms, leaves_tried[k], 1).seconds);
    std::array<double, leaves_tried.size()> seconds{};
    std::transform(times.begin(), times.end(), seconds.begin(), median);
    StudyRow row{fmt::format("{}, p = {}", vortices.n, terms), {}, {}};
    for (const double value : seconds) row.values.push_back(StudyValue::of(value));
    const auto best = std::min_element(seconds.begin(), seconds.end()) - seconds.begin();
    row.values.push_back(StudyValue::of(leaves_tried[static_cast<std::size_t>(best)]));
    return row;
}

StudyTable WholeSums::leaves() const {
    StudyTable table{
        fmt::format("Whole sums on {}: seconds of all passes by points a leaf, about", device_name_), {}, {}};
    for (const int leaf : leaves_tried) table.columns.push_back(std::to_string(leaf));
    table.columns.emplace_back("best");
    for (const auto n : sizes_) {
        const Vortices vortices(n);
        for (const int terms : terms_measured)
            if (n == sizes_.front() || terms == middle_terms)
                table.rows.push_back(leaves_row(vortices, terms));
    }
    return table;
}

} // namespace farfield::m2l2d
