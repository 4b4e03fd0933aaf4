// farfield.sum with a width for each source.
#include "interrupt.h"
#include "sum_outputs.h"

#include <farfield/error.h>
#include <farfield/options.h>
#include <farfield/sum_sigmas.h>

namespace nb = nanobind;

namespace farfield::python {

SumObjects sum_with_sigmas(nb::handle points, nb::handle strengths, nb::handle targets, nb::handle sigmas,
                           const SumOptions& options, const Wanted& wanted) {
    const Memory memory{.gpu = true, .stream = options.stream};
    if (strengths.is_none()) throw nb::type_error("strengths are needed: they are None");
    const auto point_input = input_view(points, "points", memory);
    const auto strength_input = input_view(strengths, "strengths", memory);
    const auto sigma_input = input_view(sigmas, "sigma", memory);
    const auto target_input =
        targets.is_none() ? Held<ConstArrayView>{} : input_view(targets, "targets", memory);
    const auto& at = targets.is_none() ? point_input.view : target_input.view;
    const auto facts = facts_of(Kernel::gauss);
    const Outputs outputs(
        wanted.outputs.empty() ? facts.usual_outputs : wanted.outputs, dict_from(wanted.out),
        [&](Output output) {
            return shape_of_output(output, at.shape[0], point_input.view.shape[1], facts.strength_columns);
        },
        nb::none(), {});
    Interrupt interrupt;
    SumObjects result;
    interruptible(interrupt, [&] {
        const nb::gil_scoped_release no_gil;
        result.report = sum_sigmas({.sources = point_input.view,
                                    .strengths = strength_input.view,
                                    .sigmas = sigma_input.view,
                                    .targets = target_input.view},
                                   options, outputs.views,
                                   {.progress = {}, .stop_requested = [&] { return interrupt.poll(); }})
                            .sum;
    });
    interrupt.rethrow(); // Ctrl-C that came too late to stop anything
    result.arrays = outputs.objects();
    if (is_on_gpu(points))
        for (auto& array : result.arrays)
            if (!array.is_none())
                array = nb::module_::import_("farfield._device_arrays").attr("from_host")(points, array);
    return result;
}

} // namespace farfield::python
