#include "sums/run/sum_files.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "base/spelling.h"
#include "base/stopwatch.h"
#include "io/atomic_file.h"
#include "io/columns.h"
#include "io/points_file.h"
#include "sums/kernels/kernel.h"
#include "sums/run/sum_report.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace farfield {
namespace {

// Messages of the library speak of sources and targets; here these are files.
std::string with_files(const SumFilesTask& task, const char* message) {
    auto files = task.sources.string();
    for (const auto& other : {task.strengths, task.sigmas, task.targets})
        if (!other.empty()) files += " and " + other.string();
    return fmt::format("{}: {}", files, message);
}

PointLayout layout_of(const SumFilesTask& task, const KernelInfo& kernel) {
    return {.least_dimension = kernel.least_dimension,
            .most_dimension = kernel.most_dimension,
            .strength = kernel.strength.column,
            .second = kernel.strength.second_column,
            .strengths = task.unweighted                         ? StrengthsIn::nowhere
                         : !task.strengths.empty()               ? StrengthsIn::another_file
                         : !task.dipoles.empty() || task.density ? StrengthsIn::some_files
                                                                 : StrengthsIn::this_file};
}

// `vectors`: 0 where the sources have their strengths with them.
OutputArray output_array(const KernelInfo& kernel, const OutputInfo& info, int dimension,
                         std::int64_t vectors, std::string_view called, std::span<const double> values) {
    OutputArray out{std::string(called), {}, values, vectors};
    const int width = kernel.width(info, dimension);
    const auto axis = [&](int k) {
        return dimension <= 3 ? std::string(1, "xyz"[k]) : fmt::format("x{}", k + 1);
    };
    for (std::int64_t v = 0; v < std::max<std::int64_t>(vectors, 1); ++v) {
        const auto name = vectors == 0 ? out.name : fmt::format("{}_{}", out.name, v);
        if (info.shape == OutputShape::matrix)
            for (int i = 0; i < dimension; ++i)
                for (int k = i; k < dimension; ++k)
                    out.columns.push_back(fmt::format("{}_{}{}", name, axis(i), axis(k)));
        else
            for (int k = 0; k < width; ++k)
                out.columns.push_back(info.shape == OutputShape::vector ? fmt::format("{}_{}", name, axis(k))
                                      : width == 2 ? name + (k == 0 ? "_real" : "_imaginary")
                                                   : name);
    }
    return out;
}

/// The strengths of a sum, of whichever file.
struct GivenStrengths {
    std::vector<double> values;
    std::int64_t columns = 1;
    std::int64_t vectors = 0; ///< 0: one, which is no axis of the results
};

GivenStrengths strengths_for(const SumFilesTask& task, Sources& sources) {
    const int columns = kernel_info(task.options.kernel).strength.columns;
    if (task.strengths.empty()) return {std::move(sources.strengths), columns, 0};
    auto strengths = read_strengths(task.strengths, columns);
    const auto rows = static_cast<std::int64_t>(sources.points.size()) / sources.dimension;
    if (strengths.rows != rows)
        throw InvalidArgument(fmt::format("{} has {} row{} and {} has {}; a row for each source is needed",
                                          task.strengths.string(), strengths.rows,
                                          strengths.rows == 1 ? "" : "s", task.sources.string(), rows));
    return {std::move(strengths.values), strengths.width,
            strengths.one_dimensional ? 0 : strengths.width / columns};
}

/// The outputs asked for, in the order of the kernel.
struct Results {
    std::vector<std::vector<double>> values;
    std::vector<OutputArray> arrays;
    SumOutputs views;

    /// Of m rows that this rank has: rank 0 gets those of all, and all their number. The views are gone.
    std::int64_t bring_to_root(comm::Transport& ranks, std::int64_t m) {
        views = {};
        for (std::size_t k = 0; k < values.size(); ++k) {
            values[k] = comm::parts_on_root(ranks, std::move(values[k]));
            arrays[k].values = values[k];
        }
        return comm::sum_of_ranks(ranks, m);
    }
};

Results results_for(const SumFilesTask& task, int dimension, std::int64_t m, std::int64_t vectors) {
    const auto& kernel = kernel_info(task.options.kernel);
    Results results;
    results.values.reserve(kernel.outputs.size());
    for (const auto& info : kernel.outputs) {
        if (!task.wanted.has(info.output)) continue;
        const auto width = kernel.width(info, dimension) * std::max<std::int64_t>(vectors, 1);
        auto& values = results.values.emplace_back(static_cast<std::size_t>(m * width));
        const bool is_density = task.density && info.output == Output::potential;
        results.arrays.push_back(output_array(kernel, info, dimension, vectors,
                                              is_density ? "density" : name_of(info.output), values));
        results.views.of(info.output) = matrix_view(std::span<double>(values), width);
    }
    return results;
}

// What only densities take.
void check_density(const SumFilesTask& task) {
    if (task.density && task.options.kernel != Kernel::gauss)
        throw InvalidArgument(fmt::format("a density is a sum of Gaussians, not of kernel '{}'; use {}",
                                          name_of(task.options.kernel), spelled("kernel", "gauss")));
    if (task.unweighted && !task.density)
        throw InvalidArgument(fmt::format("{} is for densities, whose points may have no weights; leave it "
                                          "out or add {}",
                                          spelled("--unweighted"), spelled("--density", "scott")));
    if (task.unweighted && !task.strengths.empty())
        throw InvalidArgument(fmt::format("{}: {} says that there are no weights; leave one of the two out",
                                          task.strengths.string(), spelled("--unweighted")));
}

// Which outputs: all that the kernel has, but for the Hessian, where none is named.
SumFilesTask with_outputs(SumFilesTask task) {
    check_density(task);
    const auto& kernel = kernel_info(task.options.kernel);
    if (!task.sigmas.empty() && kernel.value != Kernel::gauss)
        throw InvalidArgument(fmt::format("{}: widths of sources are for Gaussians, not for kernel '{}'; "
                                          "leave the file out or use {}",
                                          task.sigmas.string(), kernel.name, spelled("kernel", "gauss")));
    if (task.wanted.empty()) task.wanted = task.density ? Output::potential : kernel.usual_outputs();
    task.options.outputs = task.wanted;
    task.options.dipoles = !task.dipoles.empty();
    if (task.options.dipoles && !kernel.has_dipoles)
        throw InvalidArgument(fmt::format("{}: kernel '{}' has no dipoles; leave the file out or use {}",
                                          task.dipoles.string(), kernel.name, spelled("kernel", "coulomb")));
    for (int k = 0; k < output_count; ++k)
        if (const auto output = static_cast<Output>(k);
            task.wanted.has(output) && kernel.find(output) == nullptr)
            throw InvalidArgument(fmt::format("kernel '{}' has no output '{}'; it has {}", kernel.name,
                                              name_of(output), name_of(kernel.output_set())));
    return task;
}

/// The arrays of a sum.
struct Inputs {
    Sources sources;
    GivenStrengths strengths;
    std::vector<double> targets, dipoles, sigmas;
    bool self = true;

    [[nodiscard]] ConstArrayView source_view() const { return rows(sources.points); }
    [[nodiscard]] ConstArrayView target_view() const { return rows(targets); }
    [[nodiscard]] ConstArrayView rows(const std::vector<double>& values) const {
        return matrix_view(std::span<const double>(values), sources.dimension);
    }
};

// A width for each source.
std::vector<double> sigmas_for(const SumFilesTask& task, const Sources& sources) {
    constexpr std::array extensions{std::string_view(".npy"), std::string_view(".csv")};
    (void)known_extension(task.sigmas, extensions);
    auto read = read_strengths(task.sigmas, 1);
    const auto rows = static_cast<std::int64_t>(sources.points.size()) / sources.dimension;
    if (read.width != 1 || read.rows != rows)
        throw InvalidArgument(fmt::format("{} has {} row{} of {} column{}; one width for each of the {} "
                                          "sources in {} is needed, in one column",
                                          task.sigmas.string(), read.rows, read.rows == 1 ? "" : "s",
                                          read.width, read.width == 1 ? "" : "s", rows,
                                          task.sources.string()));
    return std::move(read.values);
}

Inputs read_inputs(const SumFilesTask& task) {
    Inputs in;
    in.sources = read_sources(task.sources, layout_of(task, kernel_info(task.options.kernel)));
    in.strengths = strengths_for(task, in.sources);
    in.self = task.targets.empty();
    if (!task.sigmas.empty()) in.sigmas = sigmas_for(task, in.sources);
    if (!in.self) in.targets = read_targets(task.targets, in.sources.dimension);
    if (task.dipoles.empty()) return in;
    in.dipoles = read_dipoles(task.dipoles);
    if (in.dipoles.size() != in.sources.points.size())
        throw InvalidArgument(fmt::format("{} has {} rows, and {} has {}; a dipole a source is needed",
                                          task.dipoles.string(), in.dipoles.size() / 3, task.sources.string(),
                                          in.sources.points.size() / 3));
    return in;
}

/// Rank 0 reads the files. Each rank gets its part of the rows, or all of them where `whole`.
Inputs inputs_on_ranks(comm::Transport* ranks, const SumFilesTask& task, bool whole) {
    if (ranks == nullptr) return read_inputs(task);
    Inputs in;
    comm::on_root(*ranks, [&] { in = read_inputs(task); });
    in.sources.dimension = comm::from_rank(*ranks, in.sources.dimension);
    in.strengths.columns = comm::from_rank(*ranks, in.strengths.columns);
    in.strengths.vectors = comm::from_rank(*ranks, in.strengths.vectors);
    in.self = comm::from_rank(*ranks, in.self);
    const auto deal_out = [&](std::vector<double>& numbers, std::int64_t width) {
        numbers = whole ? comm::values_from_rank(*ranks, std::move(numbers))
                        : comm::part_from_root(*ranks, std::move(numbers), width);
    };
    deal_out(in.sources.points, in.sources.dimension);
    deal_out(in.strengths.values, in.strengths.columns);
    deal_out(in.targets, in.sources.dimension);
    deal_out(in.dipoles, 3);
    deal_out(in.sigmas, 1);
    return in;
}

/// Computes once, into the results that it was made for.
using Execution = std::function<SumReport()>;

Execution density_of_files(const SumFilesTask& task, const Inputs& in, const Results& results,
                           SumTimings& timings) {
    if (in.strengths.columns > 1)
        throw InvalidArgument(fmt::format("{} has {} columns; a density takes one weight a point",
                                          task.strengths.string(), in.strengths.columns));
    DensityPoints points{.points = in.source_view()};
    if (!in.strengths.values.empty()) points.weights = std::span<const double>(in.strengths.values);
    if (!in.self) points.targets = in.target_view();
    if (!in.sigmas.empty()) points.sigmas = std::span<const double>(in.sigmas);
    return [&task, &results, &timings, points] {
        timings.density = density(points, {.bandwidth = *task.density, .sum = task.options},
                                  {results.views.potential, results.views.gradient}, task.hooks);
        return timings.density->sum;
    };
}

Execution sigmas_of_files(const SumFilesTask& task, const Inputs& in, const Results& results,
                          SumTimings& timings) {
    SigmasInput input{.sources = in.source_view(),
                      .strengths =
                          matrix_view(std::span<const double>(in.strengths.values), in.strengths.columns),
                      .sigmas = std::span<const double>(in.sigmas)};
    if (!in.self) input.targets = in.target_view();
    return [&task, &results, &timings, input] {
        timings.sigmas = sum_sigmas(input, task.options, results.views, task.hooks);
        return timings.sigmas->sum;
    };
}

Execution sum_of_files(const SumFilesTask& task, const Inputs& in, const Results& results) {
    const auto plan =
        std::make_shared<SumPlan>(in.self ? SumPlan(in.source_view(), task.options)
                                          : SumPlan(in.source_view(), in.target_view(), task.options));
    SumStrengths strengths;
    if (!in.strengths.values.empty())
        strengths.charges = matrix_view(std::span<const double>(in.strengths.values), in.strengths.columns);
    if (!in.dipoles.empty()) strengths.dipoles = matrix_view(std::span<const double>(in.dipoles), 3);
    return [&task, &results, plan, strengths] {
        plan->execute(strengths, results.views, task.hooks);
        return plan->report();
    };
}

} // namespace

std::string sum_files(const SumFilesTask& asked) {
    auto task = with_outputs(asked);
    auto* const ranks = CommunicatorAccess::transport(task.options.communicator);
    const bool undivided = task.density || !task.sigmas.empty(); // several sums over the same points
    if (undivided) task.options.communicator = CommunicatorAccess::with_everything(task.options.communicator);
    check_sum_output_name(task.out);
    Stopwatch whole;
    Stopwatch watch;
    SumTimings timings;
    const auto in = inputs_on_ranks(ranks, task, undivided);
    timings.read = watch.lap();
    timings.vectors = std::max<std::int64_t>(in.strengths.vectors, 1);
    const auto m = in.self ? in.source_view().shape[0] : in.target_view().shape[0];
    auto results = results_for(task, in.sources.dimension, m, in.strengths.vectors);
    const auto execute = task.density           ? density_of_files(task, in, results, timings)
                         : !task.sigmas.empty() ? sigmas_of_files(task, in, results, timings)
                                                : sum_of_files(task, in, results);
    timings.plan = watch.lap();
    try {
        for (int i = 0; i < task.repeat; ++i) timings.executions.push_back(execute());
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(with_files(task, error.what()));
    }

    watch.lap();
    const auto rows = ranks != nullptr && !undivided ? results.bring_to_root(*ranks, m) : m;
    comm::on_root(ranks, [&] {
        write_sum_outputs(task.out, rows, results.arrays);
        timings.write = watch.lap();
        timings.total = whole.lap();
        if (!task.json.empty()) write_file_atomically(task.json, sum_report_json(task, timings));
    });
    return sum_summary(task, timings);
}

} // namespace farfield
