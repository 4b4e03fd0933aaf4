#include "dynamics/run/diagnostics_rows.h"

#include "dynamics/bodies/box.h"
#include "io/csv.h"

#include <farfield/options.h>

#include <array>
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
            .periodic = is_periodic(force.period),
            .compared = force.tolerance > 0.0,
            .reinitialised = force.reinitialise != Reinitialise::none};
}

std::string diagnostics_header(const DiagnosticsColumns& columns) {
    if (columns.vortices) return header_of_vortices(columns);
    std::string out = "time,kinetic,potential,total,relative_energy_error,px,py,pz";
    if (!columns.periodic) out += ",lx,ly,lz,virial_ratio,r10,r50,r90";
    return out + (columns.compared ? ",acceleration_error,potential_error\n" : "\n");
}

std::string diagnostics_row(const Diagnostics& d, const DiagnosticsColumns& columns) {
    if (d.vortices) return row_of_vortices(d, columns);
    std::vector<double> values{d.time,        d.kinetic,     d.potential,  d.total, d.relative_energy_error,
                               d.momentum[0], d.momentum[1], d.momentum[2]};
    const auto add = [&](const std::array<double, 3>& vector) {
        values.insert(values.end(), vector.begin(), vector.end());
    };
    if (!columns.periodic) {
        add(d.angular_momentum);
        values.push_back(d.virial_ratio);
        add(d.lagrangian_radii);
    }
    if (columns.compared) values.insert(values.end(), {d.acceleration_error, d.potential_error});
    return format_csv_row(values) + '\n';
}

} // namespace farfield
