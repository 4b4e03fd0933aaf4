// Stands in for io/picture.h until pictures can be drawn: nothing is drawn.
#include "io/picture.h"

namespace farfield {

PictureFrame picture_frame(const Bodies&, const std::string&, double) { return {}; }
void plot_density(const std::filesystem::path&, const Bodies&, const SnapshotInfo&,
                  const DensityPlotOptions&) {}
void plot_diagnostics(const std::filesystem::path&, const Table&) {}

} // namespace farfield
