// A sum in one call: a plan, new arrays for its outputs, and one execution.
#include "sums/kernels/kernel.h"

#include <farfield/sum.h>

#include <span>

namespace farfield {
namespace {

std::vector<double>& values_of(SumResult& result, Output output) {
    switch (output) {
    case Output::potential:
        return result.potential;
    case Output::field:
        return result.field;
    case Output::gradient:
        return result.gradient;
    default:
        return result.hessian;
    }
}

// The options with the outputs that one execution asks for.
SumOptions asking_for(OutputSet wanted, const SumStrengths& strengths, SumOptions options) {
    options.outputs = wanted.empty() ? kernel_info(options.kernel).usual_outputs() : wanted;
    options.dipoles = static_cast<bool>(strengths.dipoles);
    return options;
}

SumResult execute_once(SumPlan& plan, const SumStrengths& strengths, const ConstArrayView& targets) {
    const auto& kernel = kernel_info(plan.options().kernel);
    const auto wanted = plan.options().outputs;
    SumResult result;
    SumOutputs outputs;
    const auto m = targets.shape[0];
    const auto dimension = static_cast<int>(targets.shape[1]);
    for (const auto& info : kernel.outputs) {
        if (!wanted.has(info.output)) continue;
        const auto width = kernel.width(info, dimension);
        auto& values = values_of(result, info.output);
        values.resize(static_cast<std::size_t>(m * width));
        outputs.of(info.output) = width == 1 && info.shape == OutputShape::value
                                      ? ArrayView(std::span<double>(values))
                                      : matrix_view(std::span<double>(values), width);
    }
    plan.execute(strengths, outputs);
    result.report = plan.report();
    return result;
}

} // namespace

SumResult sum(ConstArrayView sources, ConstArrayView strengths, const SumOptions& options, OutputSet wanted) {
    return sum(sources, SumStrengths{.charges = strengths}, options, wanted);
}

SumResult sum(ConstArrayView sources, const SumStrengths& strengths, const SumOptions& options,
              OutputSet wanted) {
    SumPlan plan(sources, asking_for(wanted, strengths, options));
    return execute_once(plan, strengths, sources);
}

SumResult sum(ConstArrayView sources, ConstArrayView targets, ConstArrayView strengths,
              const SumOptions& options, OutputSet wanted) {
    return sum(sources, targets, SumStrengths{.charges = strengths}, options, wanted);
}

SumResult sum(ConstArrayView sources, ConstArrayView targets, const SumStrengths& strengths,
              const SumOptions& options, OutputSet wanted) {
    SumPlan plan(sources, targets, asking_for(wanted, strengths, options));
    return execute_once(plan, strengths, targets);
}

} // namespace farfield
