#include "io/bodies_file.h"

#include "io/hdf5.h"
#include "io/npy.h"
#include "unit/io/io_test.h"

#include <cmath>
#include <limits>

using namespace farfield;
using namespace farfield::test;

namespace {

class BodiesFile : public IoTest {
protected:
    void refused(std::string_view csv, std::initializer_list<std::string_view> parts) const {
        const auto path = written("b.csv", csv);
        for (auto part : parts)
            expect_error<InvalidArgument>([&] { (void)read_bodies(path); }, path.string(), part);
    }
};

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

} // namespace

TEST_F(BodiesFile, ReadsCsvInAnyOrder) {
    const auto path = written("b.csv", "m,vz,vy,vx,z,y,x\n7,6,5,4,3,2,1\n70,60,50,40,30,20,10\n");
    const auto bodies = read_bodies(path).bodies;
    EXPECT_EQ(bodies.position, (std::vector<double>{1, 2, 3, 10, 20, 30}));
    EXPECT_EQ(bodies.velocity, (std::vector<double>{4, 5, 6, 40, 50, 60}));
    EXPECT_EQ(bodies.mass, (std::vector<double>{7, 70}));
    EXPECT_TRUE(bodies.charge.empty());
    EXPECT_EQ(bodies.id, (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(read_bodies(written("B.CSV", "x,y,z,vx,vy,vz,m,q\n1,2,3,4,5,6,7,-8\n")).bodies.charge,
              std::vector<double>{-8});
}

TEST_F(BodiesFile, ReadsCsvAsOthersWriteIt) {
    const auto path = written(
        "b.csv", "name;X;Y;Z;VX;VY;VZ;M;radius\nSun;1;2;3;4;5;6;7;big\n\"Moon\";8;9;10;11;12;13;14;\n");
    const auto bodies = read_bodies(path).bodies;
    EXPECT_EQ(bodies.position, (std::vector<double>{1, 2, 3, 8, 9, 10}));
    EXPECT_EQ(bodies.velocity, (std::vector<double>{4, 5, 6, 11, 12, 13}));
    EXPECT_EQ(bodies.mass, (std::vector<double>{7, 14}));
    EXPECT_TRUE(bodies.charge.empty());
    EXPECT_EQ(
        read_bodies(written("q.csv", "x,y,z,vx,vy,vz,m,temperature,Q\n1,2,3,4,5,6,7,300,-8\n")).bodies.charge,
        std::vector<double>{-8});
}

TEST_F(BodiesFile, ReadsNpy) {
    write_npy(file("b.npy"), std::vector<double>{1, 2, 3, 4, 5, 6, 7}, {1, 7});
    EXPECT_EQ(read_bodies(file("b.npy")).bodies.mass, std::vector<double>{7});
    write_npy(file("b.npy"), std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8}, {1, 8});
    const auto bodies = read_bodies(file("b.npy")).bodies;
    EXPECT_EQ(bodies.velocity, (std::vector<double>{4, 5, 6}));
    EXPECT_EQ(bodies.charge, std::vector<double>{8});
}

TEST_F(BodiesFile, ReadsASnapshotButNoComovingOne) {
    Bodies bodies;
    bodies.position = bodies.velocity = {1, 2, 3};
    bodies.mass = {2};
    bodies.id = {42};
    write_snapshot(file("b.hdf5"), bodies, {});
    EXPECT_EQ(read_bodies(file("b.hdf5")).bodies.id, std::vector<std::uint64_t>{42});

    const auto h5 = hdf5::File::create();
    auto root = h5.root();
    auto header = root.create_group("Header");
    header.write_attribute_array("NumPart_ThisFile",
                                 std::span<const std::uint64_t>(std::array<std::uint64_t, 1>{1}));
    header.write_attribute_array("MassTable", std::span<const double>(std::array<double, 1>{1.0}));
    root.create_group("Parameters").write_attribute("ComovingIntegrationOn", 1);
    auto part = root.create_group("PartType0");
    part.write("Coordinates", std::span<const double>(bodies.position), {1, 3});
    part.write("Velocities", std::span<const double>(bodies.position), {1, 3});
    h5.save(file("c.h5"));
    EXPECT_TRUE(read_snapshot(file("c.h5")).info.comoving);
    expect_error<InvalidArgument>([&] { (void)read_bodies(file("c.h5")); }, "c.h5", "comoving", "convert");
}

TEST_F(BodiesFile, RefusesBadCsv) {
    refused("x,y,z,vx,vy,vz\n1,2,3,4,5,6\n", {"no column 'm'", "x,y,z,vx,vy,vz,m"});
    refused("x,y,z,vx,vy,v_z,m\n1,2,3,4,5,6,7\n", {"no column 'vz'", "is 'v_z' meant?"});
    refused("x,y,z,vx,vy,vz,m,X\n1,2,3,4,5,6,7,8\n", {"column 'x' is named twice"});
    refused("x;y;z;vx;vy;vz;m\n1;2,5;3;4;5;6;7\n", {"line 2", "column 'y'", "2,5"});
    refused("x,y,z,vx,vy,vz,m,name\n1,2,3,4,5,6,7\n",
            {"7 values where the header names 8 columns", "vz,m,name"});
    refused("x,y,z,vx,vy,vz,m\n", {"no rows"});
    refused("x,y,z,vx,vy,vz,m\n1,2,3,4,5,6,7\n1,2,3,4,nan,6,7\n", {"line 3", "column 'vy'", "nan", "finite"});
    refused("x,y,z,vx,vy,vz,m\n1,inf,3,4,5,6,7\n", {"line 2", "column 'y'", "inf"});
    refused("", {"empty"});
}

TEST_F(BodiesFile, RefusesBadNpy) {
    const auto refuse = [&](std::vector<std::int64_t> shape, std::string_view part) {
        std::int64_t size = 1;
        for (auto extent : shape) size *= extent;
        write_npy(file("b.npy"), std::vector<double>(static_cast<std::size_t>(size)), shape);
        expect_error<InvalidArgument>([&] { (void)read_bodies(file("b.npy")); }, "b.npy", part, "(N, 7)",
                                      "x y z vx vy vz m");
    };
    refuse({2, 6}, "(2, 6)");
    refuse({7}, "(7,)");
    refuse({1, 7, 1}, "(1, 7, 1)");
    refuse({0, 7}, "(0, 7)");
    write_npy(file("b.npy"), std::vector<double>{1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, not_a_number, 6, 7},
              {2, 7});
    expect_error<InvalidArgument>([&] { (void)read_bodies(file("b.npy")); }, "row 1, column 4", "nan");
}

TEST_F(BodiesFile, RefusesUnknownExtensions) {
    expect_error<InvalidArgument>([&] { (void)read_bodies(file("b.txt")); }, "b.txt", "'.txt'", ".csv",
                                  ".npy", ".tipsy");
    expect_error<InvalidArgument>([&] { (void)read_bodies(file("bodies")); }, "allowed are");
}
