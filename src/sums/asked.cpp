#include "sums/asked.h"

#include "base/arrays.h"
#include "base/spelling.h"

#include <farfield/error.h>
#include <farfield/options.h>

#include <fmt/format.h>

#include <algorithm>

namespace farfield {
namespace {

// Each kernel has lengths of its own.
void check_lengths(const SumOptions& options, const KernelInfo& kernel) {
    if (options.softening > 0.0 && !kernel.softens)
        throw InvalidArgument(fmt::format("kernel '{}' has no softening; leave {} out", kernel.name,
                                          spelled("softening", fmt::format("{}", options.softening))));
    const bool given = options.sigma > 0.0;
    if (given ? !kernel.has_sigma : kernel.needs_sigma)
        throw InvalidArgument(
            kernel.needs_sigma
                ? fmt::format("kernel '{}' needs {}, its width > 0", kernel.name, spelled("sigma"))
                : fmt::format("kernel '{}' has no sigma; leave {} out", kernel.name,
                              spelled("sigma", fmt::format("{}", options.sigma))));
}

// What only some kernels have.
void check_own_options(const SumOptions& options, const KernelInfo& kernel, bool self) {
    const auto excluded = spelled("self_term", name_of(options.self_term));
    if (options.self_term != SelfTerm::include && !kernel.acts_on_itself)
        throw InvalidArgument(
            fmt::format("kernel '{}' never counts a point on itself; leave {} out", kernel.name, excluded));
    if (options.self_term != SelfTerm::include && !self)
        throw InvalidArgument(fmt::format("{} is for targets that are the sources; leave it, or the targets, "
                                          "out",
                                          excluded));
    if (options.relative_to != RelativeTo::largest && kernel.norm != Norm::largest)
        throw InvalidArgument(
            fmt::format("errors of kernel '{}' are judged by the norm of the output; leave {} "
                        "out",
                        kernel.name, spelled("relative_to", name_of(options.relative_to))));
}

// Which kernels have periods, and what periods need.
void check_period(const SumOptions& options, const KernelInfo& kernel) {
    const auto& period = options.period;
    if (period == decltype(options.period){}) return;
    const auto background = spelled("background", name_of(Background::uniform));
    const bool is_box = period[0] > 0.0 && period[1] > 0.0 && period[2] > 0.0;
    if (kernel.loop != PairLoop::inverse_distance)
        throw InvalidArgument(fmt::format("kernel '{}' has no periodic sums; leave {} out, or use {}",
                                          kernel.name, spelled("period"), spelled("kernel", "coulomb")));
    if (!is_box && options.boundary != Boundary::tin_foil)
        throw InvalidArgument(fmt::format("{} is for boxes that are periodic along all three axes; leave it "
                                          "out, or give three lengths > 0",
                                          spelled("boundary", name_of(options.boundary))));
    if (!is_box && options.background != Background::none)
        throw InvalidArgument(fmt::format("{} is for boxes that are periodic along all three axes; leave it "
                                          "out, or give three lengths > 0",
                                          background));
    if (kernel.value == Kernel::gravity && options.background == Background::none)
        throw InvalidArgument(fmt::format("the gravity of periodic images has no limit, as masses do not "
                                          "cancel; use {}, which takes the mean density away",
                                          background));
    if (options.boundary == Boundary::vacuum && options.background != Background::none)
        throw InvalidArgument(fmt::format("{}: the dipole moment of a box that is not neutral depends on the "
                                          "origin; leave it out, or {}",
                                          spelled("boundary", name_of(options.boundary)), background));
}

} // namespace

SumProblem problem_of(const SumOptions& options, const ConstArrayView& sources,
                      const ConstArrayView* targets) {
    check_options(options);
    const auto& kernel = kernel_info(options.kernel);
    check_lengths(options, kernel);
    check_own_options(options, kernel, targets == nullptr);
    check_period(options, kernel);
    if (options.guaranteed && options.tolerance == 0.0)
        throw InvalidArgument(fmt::format("{} needs {}, the error that is to be bounded",
                                          spelled("guaranteed"), spelled("tolerance")));
    const auto columns = sources.ndim == 2 ? sources.shape[1] : kernel.least_dimension;
    SumProblem problem;
    problem.kernel = &kernel;
    problem.dimension =
        static_cast<int>(std::clamp<std::int64_t>(columns, kernel.least_dimension, kernel.most_dimension));
    problem.outputs = kernel.output_set();
    problem.self = targets == nullptr;
    problem.sources = sources.shape[0];
    problem.targets = problem.self ? problem.sources : targets->shape[0];
    problem.softening = options.softening;
    problem.sigma = options.sigma;
    problem.period = options.period;
    problem.boundary = options.boundary;
    problem.background = options.background;
    problem.self_term = options.self_term;
    problem.relative_to = options.relative_to;
    problem.tolerance = options.tolerance;
    problem.precision = options.precision;
    problem.coincident = options.coincident;
    return problem;
}

namespace {

/// Vectors in a matrix of as many columns; 1 where they do not divide.
std::int64_t vectors_in(const ConstArrayView& view, int columns) {
    const bool several = view.ndim == 2 && view.shape[1] > columns && view.shape[1] % columns == 0;
    return several ? view.shape[1] / columns : 1;
}

} // namespace

std::int64_t check_arrays(const SumProblem& problem, const SumStrengths& strengths,
                          const SumOutputs& outputs) {
    const auto& kernel = *problem.kernel;
    const int columns = kernel.strength.columns;
    const bool charges = strengths.charges || !strengths.dipoles;
    if (strengths.dipoles && !kernel.has_dipoles)
        throw InvalidArgument(fmt::format("dipoles: kernel '{}' has none; leave them out or use {}",
                                          kernel.name, spelled("kernel", "coulomb")));
    const auto vectors =
        charges ? vectors_in(strengths.charges, columns) : vectors_in(strengths.dipoles, problem.dimension);
    if (charges)
        check_values(strengths.charges, problem.sources, "strengths", static_cast<int>(vectors * columns));
    if (strengths.dipoles)
        check_values(strengths.dipoles, problem.sources, "dipoles",
                     static_cast<int>(vectors * problem.dimension));
    for (int k = 0; k < output_count; ++k) {
        const auto output = static_cast<Output>(k);
        const auto& view = outputs.of(output);
        if (!view) continue;
        const auto* info = kernel.find(output);
        if (info == nullptr)
            throw InvalidArgument(fmt::format("kernel '{}' has no output '{}'; it has {}", kernel.name,
                                              name_of(output), name_of(problem.outputs)));
        check_output(view, problem.targets, vectors * kernel.width(*info, problem.dimension),
                     name_of(output));
    }
    return vectors;
}

void check_device(const MethodInfo& method, const DeviceChoice& device, OutputSet outputs, bool dipoles) {
    if (device.kind == DeviceKind::cuda && !method.whole_on_gpu && (dipoles || outputs.has(Output::hessian)))
        throw InvalidArgument(fmt::format("method '{}' has no {} on a GPU yet; use {}", method.name,
                                          dipoles ? "dipoles" : "output 'hessian'",
                                          spelled("device", "cpu")));
}

} // namespace farfield
