// Files of stencil runs: VTKHDF, growing and sealed files, and what pictures of fields show.
#include "io/growing_file.h"
#include "io/hdf5.h"
#include "io/picture/animation.h"
#include "io/picture/colour_map.h"
#include "io/picture/plot_field.h"
#include "io/vtkhdf.h"
#include "run/sealed_file.h"
#include "unit/io/io_test.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

using namespace farfield;
using namespace farfield::test;

namespace {

class FieldFiles : public IoTest {};

TEST_F(FieldFiles, VtkhdfHasShapePlaceAndMoment) {
    FieldImage image{.name = "Ez",
                     .points = {4, 1, 3},
                     .origin = {0.5, 0, -1},
                     .spacing = {0.25, 1, 0.5},
                     .stagger = {0.5, 0, 0},
                     .single_precision = false,
                     .step = 30,
                     .time = 1.5,
                     .program = "cavity"};
    std::vector<double> values(12);
    std::iota(values.begin(), values.end(), 0.1);
    write_field_image(file("a.vtkhdf"), image, values);
    const auto opened = hdf5::File::open(file("a.vtkhdf"));
    const auto group = opened.root().group("VTKHDF");
    EXPECT_EQ(group.text_attribute("Type"), "ImageData");
    EXPECT_EQ(group.attribute_array<std::int64_t>("WholeExtent"),
              (std::vector<std::int64_t>{0, 3, 0, 0, 0, 2}));
    EXPECT_EQ(group.attribute_array<double>("Origin"), (std::vector<double>{0.5, 0, -1}));
    EXPECT_EQ(group.attribute_array<double>("Spacing"), (std::vector<double>{0.25, 1, 0.5}));
    EXPECT_EQ(group.attribute<std::int64_t>("Step"), 30);
    EXPECT_EQ(group.attribute<double>("Time"), 1.5);
    const auto data = group.group("PointData").dataset("Ez");
    EXPECT_EQ(data.shape(), (hdf5::Shape{3, 4})); // z, x
    EXPECT_EQ(data.read<double>(), values);
    EXPECT_EQ(group.group("FieldData").dataset("TimeValue").read<double>(), std::vector<double>{1.5});
    const auto bytes = content_of(file("a.vtkhdf"));
    write_field_image(file("b.vtkhdf"), image, values);
    EXPECT_EQ(content_of(file("b.vtkhdf")), bytes);
    image.single_precision = true;
    write_field_image(file("c.vtkhdf"), image, values);
    const auto single = hdf5::File::open(file("c.vtkhdf"));
    const auto rounded = single.root().group("VTKHDF").group("PointData").dataset("Ez").read<double>();
    for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_EQ(rounded[i], static_cast<double>(static_cast<float>(values[i])));
}

TEST_F(FieldFiles, AGrowingFileIsCutBack) {
    {
        GrowingFile rows(file("rows.csv"));
        rows.begin("a\n");
        rows.append(std::string_view("1\n2\n"));
        EXPECT_EQ(rows.sync(), 6U);
        rows.append(std::string_view("3\n"));
        EXPECT_THROW(GrowingFile second(file("rows.csv")), InvalidArgument); // locked
    }
    GrowingFile rows(file("rows.csv"));
    rows.continue_from(4);
    rows.append(std::string_view("4\n"));
    EXPECT_EQ(content_of(file("rows.csv")), "a\n1\n4\n");
    EXPECT_THROW(rows.continue_from(100), IoError);
}

TEST_F(FieldFiles, ASealFindsEveryFlippedByte) {
    const Generations files{file("new"), file("old")};
    const std::string text = "the state of a run";
    write_sealed(files, std::as_bytes(std::span(text)));
    write_sealed(files, std::as_bytes(std::span(text)));
    EXPECT_TRUE(std::filesystem::exists(files.previous));
    const auto whole = content_of(files.newest);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        auto broken = whole;
        broken[i] = static_cast<char>(broken[i] ^ 1);
        EXPECT_THROW((void)read_sealed(written("broken", broken)), IoError) << "byte " << i;
        EXPECT_THROW((void)read_sealed(written("broken", whole.substr(0, i))), IoError) << "cut at " << i;
    }
    (void)written("new", "damaged");
    std::string told;
    const auto bytes = read_newest(files, read_sealed, [&](const std::string& message) { told = message; });
    ASSERT_TRUE(bytes.has_value());
    EXPECT_EQ(bytes->size(), text.size());
    EXPECT_NE(told.find("continuing from the one before it"), std::string::npos);
}

TEST(FieldPicture, RangesAreRoundAndFitTheSigns) {
    const auto range = [](std::vector<float> values) { return picture::range_of(values); };
    EXPECT_EQ(range({-0.9F, 0.3F}).high, 1.0);
    EXPECT_EQ(range({-0.9F, 0.3F}).low, -1.0);
    EXPECT_EQ(range({0.0F, 7.3F}).low, 0.0);
    EXPECT_EQ(range({0.0F, 7.3F}).high, 8.0);
    EXPECT_EQ(range({0.0F, 0.0F}).high, 1.0);
    const auto warm = range({300.0F, 310.0F}); // far from 0
    EXPECT_GT(warm.low, 299.0);
    EXPECT_LT(warm.high, 311.0);
    std::vector<float> spiky(10000, 0.5F);
    spiky[0] = -0.5F;
    spiky[17] = 90.0F;
    EXPECT_TRUE(picture::range_of(spiky).cut);
    EXPECT_EQ(picture::range_of(spiky).high, 0.5);
}

TEST(FieldPicture, ReducingKeepsSumsOfWholeBlocks) {
    picture::Plane plane;
    plane.columns = 6;
    plane.rows = 4;
    std::vector<double> values(24);
    std::iota(values.begin(), values.end(), 0.0);
    const auto reduced = picture::reduce(plane, values, 3);
    EXPECT_EQ(reduced.plane.columns, 3);
    EXPECT_EQ(reduced.plane.rows, 2);
    EXPECT_EQ(reduced.values, (std::vector<float>{3.5F, 5.5F, 7.5F, 15.5F, 17.5F, 19.5F}));
    EXPECT_EQ(picture::reduce(plane, values, 100).values.size(), 24U);
}

// The upper right cell of a plane is drawn in the upper right, in the colour of its value.
TEST(FieldPicture, CellsLieWhereTheyShould) {
    picture::Plane plane;
    plane.columns = 3;
    plane.rows = 3;
    plane.right = plane.top = 3;
    std::vector<float> values(9, -1.0F);
    values[8] = 1.0F;
    picture::FieldPicture look;
    look.size = 300;
    const auto canvas = picture::draw_field(plane, values, {-1, 1, false}, look);
    const auto has = [&](int x, int y, double value) {
        return canvas.at(x, y) == picture::signed_colour(value);
    };
    EXPECT_TRUE(has(120 + 250, 70 + 50, 1.0));   // upper right
    EXPECT_TRUE(has(120 + 50, 70 + 50, -1.0));   // upper left
    EXPECT_TRUE(has(120 + 250, 70 + 250, -1.0)); // lower right
}

TEST(FieldPicture, SignedColoursAreEvenOnBothSides) {
    const auto light = [](double t) {
        const auto c = picture::signed_colour(t);
        return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;
    };
    for (int i = 0; i < 8; ++i) {
        EXPECT_GT(light(i / 8.0), light((i + 1) / 8.0)) << i;
        EXPECT_GT(light(-i / 8.0), light(-(i + 1) / 8.0)) << i;
    }
    EXPECT_GT(picture::signed_colour(0.8).red, picture::signed_colour(0.8).blue);
    EXPECT_LT(picture::signed_colour(-0.8).red, picture::signed_colour(-0.8).blue);
}

TEST(Animation, EqualFramesCostNextToNothing) {
    const picture::Canvas frame(200, 100, {10, 20, 30});
    picture::Animation one(50);
    one.add(frame);
    picture::Animation many(50);
    for (int i = 0; i < 10; ++i) many.add(frame);
    EXPECT_EQ(many.frames(), 10U);
    EXPECT_LT(many.bytes().size(), one.bytes().size() + 10 * 200);
    EXPECT_EQ(many.bytes(), many.bytes());
}

} // namespace
