// Fields on grids as VTKHDF files (https://docs.vtk.org, "VTKHDF file format", ImageData), which
// ParaView 5.10 and later, VTK and h5py open. Values are point data: each lies where the field has it,
// stagger included.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace farfield {

/// One field at one moment. Axes in the order x, y, z; those that the grid lacks have one point.
struct FieldImage {
    std::string name;
    std::array<std::int64_t, 3> points{1, 1, 1};
    std::array<double, 3> origin{}; ///< of the first value
    std::array<double, 3> spacing{1, 1, 1};
    std::array<double, 3> stagger{}; ///< in cells; `origin` includes it
    bool single_precision = false;   ///< values are stored as 32-bit floats
    std::int64_t step = 0;
    double time = 0;
    std::string program; ///< name of the program
};

/// Writes a file atomically; the same input gives the same bytes. /VTKHDF has the attributes Version, Type,
/// WholeExtent, Origin, Spacing, Direction, and of ours Step, Time, Stagger and Program;
/// /VTKHDF/PointData/NAME the values [z][y][x]; /VTKHDF/FieldData the same step and time (Step, TimeValue)
/// for ParaView.
/// @param values x fastest. @throws IoError.
void write_field_image(const std::filesystem::path& path, const FieldImage& image,
                       std::span<const double> values);

} // namespace farfield
