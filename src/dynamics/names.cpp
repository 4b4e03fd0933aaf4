// The names of the options of a simulation.
#include "base/names.h"

#include <farfield/run.h>

namespace farfield {
namespace {

constexpr NameTable<3> integrator_names{"leapfrog", "yoshida4", "hermite4"};
constexpr NameTable<8> initial_kind_names{"plummer",      "uniform-sphere", "hernquist",    "king",
                                          "two-clusters", "figure-eight",   "solar-system", "file"};

} // namespace

FF_DEFINE_ENUM_NAMES(Integrator, integrator_names)
FF_DEFINE_ENUM_NAMES(InitialKind, initial_kind_names)

} // namespace farfield
