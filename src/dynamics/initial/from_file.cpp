// Bodies from a file, in any format that io/bodies_file.h reads, with the time and the constant G that it
// states.
#include "dynamics/initial/model.h"
#include "io/bodies_file.h"

#include <farfield/error.h>

namespace farfield {
namespace {

InitialState make_from_file(const InitialOptions& options) {
    if (options.path.empty())
        throw InvalidArgument(
            "[initial] path is missing for kind = \"file\": set it to a .h5, .hdf5, .csv, .npy, "
            ".tipsy or .std file of bodies");
    Snapshot snapshot = read_bodies(options.path);
    return {std::move(snapshot.bodies), snapshot.info.time, snapshot.info.G};
}

} // namespace

const InitialModel file_model{InitialKind::file, "path",
                              "Bodies from a GADGET-4 HDF5, CSV, .npy or Tipsy file, with its time and G",
                              make_from_file};

} // namespace farfield
