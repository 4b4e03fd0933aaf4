// The names of the ways to place vortices anew.
#include "base/names.h"

#include <farfield/simulation.h>

namespace farfield {
namespace {

constexpr NameTable<2> reinitialise_names{"none", "rbf"};

} // namespace

FF_DEFINE_ENUM_NAMES(Reinitialise, reinitialise_names)

} // namespace farfield
