// What a snapshot says of its units and of G, in the places where GADGET-2 to 4, Arepo, GIZMO and SWIFT put
// it.
#pragma once

#include "io/hdf5.h"
#include "io/snapshot.h"

namespace farfield {

/// Fills in units, G, G_origin and comoving. G is the constant in the file if there is one > 0, else it
/// follows from the units; a file without both is in N-body units with G = 1, unless it is of a cosmological
/// run or states sizes in cgs: then G is NaN. @throws InvalidArgument for an attribute that is no finite
/// number.
void read_units(const hdf5::Group& root, SnapshotInfo& info);

/// The finite number of that name into `value`, which stays as it is where there is none.
/// @throws InvalidArgument where it is not finite.
void read_number(const hdf5::Group& group, const char* name, double& value);

} // namespace farfield
