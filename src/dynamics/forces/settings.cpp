#include "dynamics/forces/settings.h"

#include <farfield/options.h>

namespace farfield {

SumOptions sum_options_of(const ForceOptions& force, const ForceSettings& settings, Precision precision) {
    const DeviceChoice on_cpu{.kind = DeviceKind::cpu};
    SumOptions options{.kernel = force.kernel,
                       .method = settings.is_settled() ? settings.method : force.method,
                       .softening = force.softening,
                       .sigma = force.sigma,
                       .period = force.period,
                       .boundary = force.boundary,
                       .background = force.background,
                       .tolerance = settings.aim > 0.0 ? settings.aim : force.tolerance,
                       .order = settings.order > 0 ? settings.order : force.order,
                       .separation = force.separation,
                       .leaf = settings.leaf > 0 ? settings.leaf : force.leaf,
                       .grading = force.grading,
                       .m2l = settings.m2l != M2L::automatic ? settings.m2l : force.m2l,
                       .theta = force.theta,
                       .precision = precision,
                       .threads = force.threads,
                       .isa = force.isa,
                       .variant = force.variant,
                       .device = force.device.kind == DeviceKind::cuda ? force.device : on_cpu,
                       .multi_gpu = force.multi_gpu,
                       .exchange = force.exchange,
                       .mpi_gpu = force.mpi_gpu,
                       .communicator = force.communicator};
    // `auto` was free to take a method that has no use for what another one takes.
    for (const auto& row : option_table())
        if (row.sum && !row.is_of(options.method)) row.sum.set(options, row.sum.get(SumOptions{}));
    return options;
}

} // namespace farfield
