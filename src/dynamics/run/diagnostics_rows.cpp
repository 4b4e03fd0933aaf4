#include "dynamics/run/diagnostics_rows.h"

#include "io/csv.h"

#include <array>
#include <span>

namespace farfield {

namespace {

std::string row_of_vortices(const Diagnostics& d, bool compared) {
    const auto& v = *d.vortices;
    const std::array<double, 11> values{
        d.time,       static_cast<double>(d.step), v.circulation,    v.impulse[0],
        v.impulse[1], v.angular_impulse,           d.total,          d.relative_energy_error,
        v.sigma,      d.acceleration_error,        d.potential_error};
    return format_csv_row(std::span(values).first(compared ? 11 : 9)) + '\n';
}

} // namespace

std::string diagnostics_header(bool compared, bool vortices) {
    if (vortices)
        return std::string("time,step,circulation,impulse_x,impulse_y,angular_impulse,hamiltonian,"
                           "hamiltonian_error,sigma") +
               (compared ? ",velocity_error,stream_function_error\n" : "\n");
    const std::string columns =
        "time,kinetic,potential,total,relative_energy_error,px,py,pz,lx,ly,lz,virial_ratio,r10,r50,r90";
    return columns + (compared ? ",acceleration_error,potential_error\n" : "\n");
}

std::string diagnostics_row(const Diagnostics& d, bool compared) {
    if (d.vortices) return row_of_vortices(d, compared);
    const std::array<double, 17> values{d.time,
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
                                        d.lagrangian_radii[2],
                                        d.acceleration_error,
                                        d.potential_error};
    return format_csv_row(std::span(values).first(compared ? 17 : 15)) + '\n';
}

} // namespace farfield
