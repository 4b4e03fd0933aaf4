#include "io/snapshot.h"

#include "io/file.h"
#include "io/hdf5.h"
#include "unit/io/io_test.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace farfield;
using namespace farfield::test;

namespace {

class SnapshotFile : public IoTest {};

Bodies three_bodies() {
    Bodies bodies;
    bodies.position = {0.1, -0.2, 0.3, 1.0 / 3.0, 5e-324, 1e300, -7, 8, 9};
    bodies.velocity = {1, 2, 3, -4, -5, -6, 0.7, 0.8, 0.9};
    bodies.mass = {0.5, 0.25, 0.25};
    bodies.id = {1, 2, std::numeric_limits<std::uint64_t>::max()};
    return bodies;
}

void expect_same(const Bodies& a, const Bodies& b) {
    EXPECT_EQ(a.position, b.position);
    EXPECT_EQ(a.velocity, b.velocity);
    EXPECT_EQ(a.mass, b.mass);
    EXPECT_EQ(a.charge, b.charge);
    EXPECT_EQ(a.id, b.id);
}

// A file as another code may write it, built piece by piece.
struct ForeignFile {
    hdf5::File file = hdf5::File::create();
    hdf5::Group root = file.root();
    hdf5::Group header = root.create_group("Header");

    ForeignFile(std::vector<std::uint64_t> counts, std::vector<double> masses) {
        header.write_attribute_array("NumPart_ThisFile", std::span<const std::uint64_t>(counts));
        header.write_attribute_array("MassTable", std::span<const double>(masses));
        header.write_attribute("Time", 2.5);
    }
    // n bodies whose coordinates start at `first`.
    hdf5::Group add_type(int type, std::int64_t n, double first) {
        auto group = root.create_group("PartType" + std::to_string(type));
        std::vector<double> values(static_cast<std::size_t>(3 * n));
        std::iota(values.begin(), values.end(), first);
        group.write("Coordinates", std::span<const double>(values), {n, 3});
        group.write("Velocities", std::span<const double>(values), {n, 3});
        return group;
    }
    [[nodiscard]] Snapshot parse() const { return parse_snapshot(file.image(), "s.h5"); }
};

} // namespace

TEST_F(SnapshotFile, RoundTripKeepsEveryBit) {
    const auto bodies = three_bodies();
    SnapshotInfo info;
    info.units = solar_system_units();
    info.name = "a name";
    info.time = 0.1;
    info.G = 2.5;
    info.softening = 0.01;
    info.kernel = Kernel::coulomb;
    write_snapshot(file("s.h5"), bodies, info);
    const auto snapshot = read_snapshot(file("s.h5"));
    expect_same(snapshot.bodies, bodies);
    EXPECT_EQ(snapshot.info.name, "a name");
    EXPECT_EQ(snapshot.info.time, 0.1);
    EXPECT_EQ(snapshot.info.G, 2.5);
    EXPECT_EQ(snapshot.info.softening, 0.01);
    EXPECT_EQ(snapshot.info.kernel, Kernel::coulomb);
    EXPECT_EQ(snapshot.info.units.length.name, "au");
    EXPECT_EQ(snapshot.info.units.length.in_cgs, 1.495978707e13);
    EXPECT_FALSE(snapshot.info.comoving);
}

TEST_F(SnapshotFile, KeepsChargesAndPotential) {
    auto bodies = three_bodies();
    bodies.charge = {1, -1, 0.5};
    write_snapshot(file("s.h5"), bodies, {}, std::vector<double>{-1, -2, -3});
    expect_same(read_snapshot(file("s.h5")).bodies, bodies);
    const auto h5 = hdf5::File::open(file("s.h5"));
    EXPECT_EQ(h5.root().group("PartType1").dataset("Potential").read<double>(),
              (std::vector<double>{-1, -2, -3}));
}

TEST_F(SnapshotFile, SameInputSameBytes) {
    write_snapshot(file("a.h5"), three_bodies(), {});
    ::sleep(1); // object times would have a resolution of one second
    write_snapshot(file("b.h5"), three_bodies(), {});
    EXPECT_EQ(content_of(file("a.h5")), content_of(file("b.h5")));
}

TEST_F(SnapshotFile, HasTheLayoutOfGadget4) {
    SnapshotInfo info;
    info.units = solar_system_units();
    write_snapshot(file("s.h5"), three_bodies(), info);
    const auto h5 = hdf5::File::open(file("s.h5"));
    const auto header = h5.root().group("Header");
    EXPECT_EQ(header.attribute_array<std::uint64_t>("NumPart_ThisFile"),
              (std::vector<std::uint64_t>{0, 3, 0, 0, 0, 0}));
    EXPECT_EQ(header.attribute_array<double>("MassTable"), std::vector<double>(6, 0.0));
    EXPECT_EQ(header.attribute<int>("NumFilesPerSnapshot"), 1);
    for (const char* name : {"NumPart_Total", "Time", "Redshift", "BoxSize"})
        EXPECT_TRUE(header.has_attribute(name)) << name;
    const auto velocities = h5.root().group("PartType1").dataset("Velocities");
    EXPECT_EQ(velocities.shape(), (hdf5::Shape{3, 3}));
    EXPECT_EQ(velocities.attribute<double>("velocity_scaling"), 1.0);
    EXPECT_EQ(velocities.attribute<double>("length_scaling"), 0.0);
    EXPECT_DOUBLE_EQ(velocities.attribute<double>("to_cgs"), 1.495978707e13 / 86400);
    EXPECT_TRUE(h5.root().has_group("Config"));
    EXPECT_EQ(h5.root().group("Parameters").attribute<double>("UnitLength_in_cm"), 1.495978707e13);
}

TEST_F(SnapshotFile, ReadsAllTypesOfOtherCodes) {
    ForeignFile foreign({2, 0, 1}, {0, 0, 4.0});
    auto gas = foreign.add_type(0, 2, 0.0);
    gas.write("Masses", std::vector<double>{1, 2});
    foreign.add_type(2, 1, 100.0);
    const auto snapshot = foreign.parse();
    EXPECT_EQ(snapshot.info.time, 2.5);
    EXPECT_EQ(snapshot.bodies.mass, (std::vector<double>{1, 2, 4}));
    EXPECT_EQ(snapshot.bodies.position, (std::vector<double>{0, 1, 2, 3, 4, 5, 100, 101, 102}));
    EXPECT_EQ(snapshot.bodies.id, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(SnapshotFile, RefusesWhatIsNoHdf5File) {
    expect_error<IoError>([&] { (void)read_snapshot(file("none.h5")); }, "none.h5", "No such file");
    expect_error<InvalidArgument>([&] { (void)read_snapshot(written("e.h5", "")); }, "e.h5", "empty");
    expect_error<InvalidArgument>([&] { (void)read_snapshot(written("c.h5", "x,y,z\n1,2,3\n")); }, "c.h5",
                                  "not an HDF5 file", "x,y,z");
}

TEST_F(SnapshotFile, RefusesTruncatedFiles) {
    write_snapshot(file("s.h5"), three_bodies(), {});
    const auto whole = content_of(file("s.h5"));
    for (std::size_t size : {std::size_t{8}, std::size_t{100}, whole.size() / 2, whole.size() - 17,
                             whole.size() - 12, whole.size() - 1}) {
        expect_error<IoError>([&] { (void)read_snapshot(written("t.h5", whole.substr(0, size))); }, "t.h5",
                              "truncated", "copy or write it again");
        expect_error<IoError>(
            [&] { (void)parse_snapshot(as_byte_span(std::string_view(whole).substr(0, size)), "t.h5"); },
            "t.h5", "truncated");
    }
}

TEST_F(SnapshotFile, NamesTheRowThatIsNotFinite) {
    auto bodies = three_bodies();
    bodies.position[5] = std::nan("");
    write_snapshot(file("s.h5"), bodies, {});
    expect_error<InvalidArgument>([&] { (void)read_snapshot(file("s.h5")); }, "s.h5",
                                  "/PartType1/Coordinates", "row 1", "nan", "finite");
}

TEST_F(SnapshotFile, RefusesWhatDoesNotFitTogether) {
    expect_error<InvalidArgument>([] { (void)ForeignFile({0, 0}, {0, 0}).parse(); }, "no bodies");
    {
        ForeignFile foreign({0, 3}, {0, 1});
        foreign.add_type(1, 2, 0);
        expect_error<InvalidArgument>([&] { (void)foreign.parse(); }, "2 rows", "says 3");
    }
    {
        ForeignFile foreign({0, 2}, {0, 0});
        foreign.add_type(1, 2, 0);
        expect_error<InvalidArgument>([&] { (void)foreign.parse(); }, "neither a dataset 'Masses'");
    }
    {
        ForeignFile foreign({0, 2}, {0, 0});
        foreign.add_type(1, 2, 0).write("Masses", std::vector<double>{1, 2, 3});
        expect_error<InvalidArgument>([&] { (void)foreign.parse(); }, "/PartType1/Masses", "(3)", "(2)");
    }
    {
        ForeignFile foreign({0, 2}, {0, 1});
        foreign.root.create_group("PartType1");
        expect_error<InvalidArgument>([&] { (void)foreign.parse(); }, "no dataset 'Coordinates'");
    }
    {
        ForeignFile foreign({0, 2}, {0, 1});
        foreign.add_type(1, 2, 0);
        foreign.header.write_attribute("NumFilesPerSnapshot", std::int32_t{4});
        expect_error<InvalidArgument>([&] { (void)foreign.parse(); }, "4 files", "join");
    }
    expect_error<InvalidArgument>([] { (void)parse_snapshot(hdf5::File::create().image(), "s.h5"); },
                                  "no group 'Header'", "GADGET-4");
}

TEST_F(SnapshotFile, WritingChecksLengths) {
    auto bodies = three_bodies();
    bodies.velocity.pop_back();
    expect_error<InvalidArgument>([&] { write_snapshot(file("s.h5"), bodies, {}); }, "9 values of velocity",
                                  "8");
    EXPECT_FALSE(std::filesystem::exists(file("s.h5")));
}

TEST_F(SnapshotFile, AFullDiskIsReported) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
    expect_error<IoError>([] { write_snapshot("/dev/full", three_bodies(), {}); }, "/dev/full",
                          "No space left");
}
