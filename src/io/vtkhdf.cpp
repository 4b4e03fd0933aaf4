#include "io/vtkhdf.h"

#include "io/hdf5.h"

#include <vector>

namespace farfield {
namespace {

void describe(hdf5::Group& group, const FieldImage& image) {
    constexpr std::array<std::int64_t, 2> version{1, 0};
    constexpr std::array<double, 9> identity{1, 0, 0, 0, 1, 0, 0, 0, 1};
    std::array<std::int64_t, 6> extent{};
    for (std::size_t axis = 0; axis < 3; ++axis) extent[2 * axis + 1] = image.points[axis] - 1;
    group.write_attribute_array("Version", std::span<const std::int64_t>(version));
    group.write_attribute("Type", "ImageData");
    group.write_attribute_array("WholeExtent", std::span<const std::int64_t>(extent));
    group.write_attribute_array("Origin", std::span<const double>(image.origin));
    group.write_attribute_array("Spacing", std::span<const double>(image.spacing));
    group.write_attribute_array("Direction", std::span<const double>(identity));
    group.write_attribute("Step", image.step);
    group.write_attribute("Time", image.time);
    group.write_attribute_array("Stagger", std::span<const double>(image.stagger));
    group.write_attribute("Program", image.program.c_str());
}

} // namespace

void write_field_image(const std::filesystem::path& path, const FieldImage& image,
                       std::span<const double> values) {
    const auto file = hdf5::File::create();
    auto group = file.root().create_group("VTKHDF");
    describe(group, image);
    hdf5::Shape shape; // VTK's reader expects no axes of one point
    for (std::size_t axis = 3; axis-- > 0;)
        if (image.points[axis] > 1) shape.push_back(image.points[axis]);
    if (shape.empty()) shape.push_back(1);
    auto data = group.create_group("PointData");
    if (image.single_precision) {
        const std::vector<float> rounded(values.begin(), values.end());
        data.write(image.name, std::span<const float>(rounded), shape);
    } else {
        data.write(image.name, values, shape);
    }
    auto moment = group.create_group("FieldData");
    moment.write("TimeValue", std::vector<double>{image.time});
    moment.write("Step", std::vector<std::int64_t>{image.step});
    file.save(path);
}

} // namespace farfield
