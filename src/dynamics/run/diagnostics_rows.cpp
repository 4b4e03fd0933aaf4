#include "dynamics/run/diagnostics_rows.h"

#include "io/csv.h"

#include <farfield/options.h>

#include <array>
#include <span>
#include <vector>

namespace farfield {

namespace {

std::string row_of_vortices(const Diagnostics& d, const DiagnosticsColumns& columns) {
    const auto& v = *d.vortices;
    std::vector<double> values{
        d.time,  static_cast<double>(d.step), v.circulation, v.impulse[0], v.impulse[1], v.angular_impulse,
        d.total, d.relative_energy_error,     v.sigma};
    if (columns.compared) values.insert(values.end(), {d.acceleration_error, d.potential_error});
    if (columns.reinitialised)
        values.insert(values.end(), {static_cast<double>(v.count), static_cast<double>(v.reinitialisations),
                                     v.residual, v.vorticity_error});
    return format_csv_row(values) + '\n';
}

std::string header_of_vortices(const DiagnosticsColumns& columns) {
    std::string out = "time,step,circulation,impulse_x,impulse_y,angular_impulse,hamiltonian,"
                      "hamiltonian_error,sigma";
    if (columns.compared) out += ",velocity_error,stream_function_error";
    if (columns.reinitialised) out += ",vortices,reinitialisations,residual,vorticity_error";
    return out + '\n';
}

} // namespace

DiagnosticsColumns diagnostics_columns(const ForceOptions& force) {
    return {.vortices = facts_of(force.kernel).moves_vortices,
            .compared = force.tolerance > 0.0,
            .reinitialised = force.reinitialise != Reinitialise::none};
}

std::string diagnostics_header(const DiagnosticsColumns& columns) {
    if (columns.vortices) return header_of_vortices(columns);
    const std::string always =
        "time,kinetic,potential,total,relative_energy_error,px,py,pz,lx,ly,lz,virial_ratio,r10,r50,r90";
    return always + (columns.compared ? ",acceleration_error,potential_error\n" : "\n");
}

std::string diagnostics_row(const Diagnostics& d, const DiagnosticsColumns& columns) {
    if (d.vortices) return row_of_vortices(d, columns);
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
    return format_csv_row(std::span(values).first(columns.compared ? 17 : 15)) + '\n';
}

} // namespace farfield
