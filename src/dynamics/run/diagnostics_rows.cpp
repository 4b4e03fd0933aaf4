#include "dynamics/run/diagnostics_rows.h"

#include "io/csv.h"

#include <array>

namespace farfield {

std::string diagnostics_row(const Diagnostics& d) {
    const std::array<double, 15> values{d.time,
                                        d.kinetic,
                                        d.potential,
                                        d.total,
                                        d.relative_energy_error,
                                        d.momentum[0],
                                        d.momentum[1],
                                        d.momentum[2],
                                        d.angular_momentum[0],
                                        d.angular_momentum[1],
                                        d.angular_momentum[2],
                                        d.virial_ratio,
                                        d.lagrangian_radii[0],
                                        d.lagrangian_radii[1],
                                        d.lagrangian_radii[2]};
    return format_csv_row(values) + '\n';
}

} // namespace farfield
