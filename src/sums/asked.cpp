#include "sums/asked.h"

#include "base/arrays.h"
#include "base/names.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

template <class Enum>
void check_enum(Enum value, std::string_view what) {
    if (static_cast<std::size_t>(value) >= names_of<Enum>().size())
        throw InvalidArgument(fmt::format("{}: {} is not one of its values", what, static_cast<int>(value)));
}

void check_lengths(const SumOptions& options, const KernelInfo& kernel) {
    if (!std::isfinite(options.softening) || options.softening < 0.0)
        throw InvalidArgument(fmt::format(
            "softening is {}; it must be finite and ≥ 0, in the length unit of the points (0 = none)",
            options.softening));
    if (options.softening > 0.0 && !kernel.softens)
        throw InvalidArgument(fmt::format("softening is {}, but kernel '{}' has none; leave it out",
                                          options.softening, kernel.name));
    if (!std::isfinite(options.sigma) || options.sigma < 0.0)
        throw InvalidArgument(fmt::format(
            "sigma is {}; it must be finite and > 0, in the length unit of the points", options.sigma));
    if (kernel.has_sigma != (options.sigma > 0.0))
        throw InvalidArgument(kernel.has_sigma
                                  ? fmt::format("kernel '{}' needs sigma, its width > 0", kernel.name)
                                  : fmt::format("sigma is {}, but kernel '{}' has none; leave it out",
                                                options.sigma, kernel.name));
}

void check(const SumOptions& options) {
    check_enum(options.kernel, "kernel");
    check_enum(options.method, "method");
    check_enum(options.precision, "precision");
    check_enum(options.coincident, "coincident");
    check_enum(options.isa, "isa");
    check_enum(options.variant, "variant");
    check_enum(options.multi_gpu, "multi_gpu");
    check_enum(options.exchange, "exchange");
    check_lengths(options, kernel_info(options.kernel));
    if (!std::isfinite(options.tolerance) || options.tolerance < 0.0)
        throw InvalidArgument(fmt::format(
            "tolerance is {}; it must be a finite relative error > 0, or 0 for none", options.tolerance));
    if (options.threads < 0)
        throw InvalidArgument(fmt::format(
            "threads is {}; it must be ≥ 1, or 0 for as many as OpenMP would use", options.threads));
}

} // namespace

SumProblem problem_of(const SumOptions& options, const ConstArrayView& sources,
                      const ConstArrayView* targets) {
    check(options);
    const auto& kernel = kernel_info(options.kernel);
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
    problem.tolerance = options.tolerance;
    problem.precision = options.precision;
    problem.coincident = options.coincident;
    return problem;
}

void check_outputs(const SumProblem& problem, const SumOutputs& outputs) {
    for (int k = 0; k < output_count; ++k) {
        const auto output = static_cast<Output>(k);
        const auto& view = outputs.of(output);
        if (!view) continue;
        const auto* info = problem.kernel->find(output);
        if (info == nullptr)
            throw InvalidArgument(fmt::format("kernel '{}' has no output '{}'; it has {}",
                                              problem.kernel->name, name_of(output),
                                              name_of(problem.outputs)));
        check_output(view, problem.targets, problem.kernel->width(*info, problem.dimension), name_of(output));
    }
}

} // namespace farfield
