// The names of the initial models; those of the integrators are in their descriptors (integrators/).
#include "base/names.h"

#include <farfield/run.h>

namespace farfield {
namespace {

constexpr NameTable<13> initial_kind_names{
    "plummer",      "uniform-sphere", "hernquist", "king",        "two-clusters",       "figure-eight",
    "solar-system", "plasma",         "file",      "vortex-pair", "leapfrogging-pairs", "vortex-sheet",
    "vortex-patch"};

} // namespace

FF_DEFINE_ENUM_NAMES(InitialKind, initial_kind_names)

} // namespace farfield
