// What snapshots of other codes say of their units and of G, snapshots in several files, and damage.
#include "io/file.h"
#include "io/hdf5.h"
#include "io/snapshot.h"
#include "unit/io/io_test.h"

#include <array>
#include <cmath>
#include <random>

using namespace farfield;
using namespace farfield::test;

namespace {

class SnapshotUnits : public IoTest {};
class SnapshotParts : public IoTest {};
class SnapshotDamage : public IoTest {};

// One body, and whatever attributes a test adds.
struct OneBody {
    hdf5::File file = hdf5::File::create();
    hdf5::Group root = file.root();
    hdf5::Group header = root.create_group("Header");

    OneBody() {
        const std::array<std::uint64_t, 2> counts{0, 1};
        header.write_attribute_array("NumPart_ThisFile", std::span<const std::uint64_t>(counts));
        auto group = root.create_group("PartType1");
        const std::vector<double> three{1, 2, 3};
        group.write("Coordinates", std::span<const double>(three), {1, 3});
        group.write("Velocities", std::span<const double>(three), {1, 3});
        group.write("Masses", std::vector<double>{1});
    }
    [[nodiscard]] SnapshotInfo info() const { return parse_snapshot(file.image(), "s.h5").info; }
};

// kpc, 10^10 solar masses and km/s; G from CODATA's 6.67430e-8 by hand.
constexpr double G_of_gadget = 43021.93;

void expect_gadget_units(const SnapshotInfo& info) {
    EXPECT_NEAR(info.G, G_of_gadget, 0.1);
    EXPECT_EQ(info.units.length.name, "kpc");
    EXPECT_EQ(info.units.length.in_cgs, 3.085678e21);
    EXPECT_EQ(info.units.mass.name, "1e10 Msun");
    EXPECT_EQ(info.units.velocity.name, "km/s");
    EXPECT_NE(info.G_origin.find("follows from the units"), std::string::npos) << info.G_origin;
}

template <class T>
void write_one(hdf5::Group& group, const char* name, T value) { // as SWIFT does, an array of one
    group.write_attribute_array(name, std::span<const T>(&value, 1));
}

} // namespace

TEST_F(SnapshotUnits, OfGadget4AreInParameters) {
    OneBody body;
    auto parameters = body.root.create_group("Parameters");
    parameters.write_attribute("GravityConstantInternal", 0.0);
    parameters.write_attribute("UnitLength_in_cm", 3.085678e21);
    parameters.write_attribute("UnitMass_in_g", 1.989e43);
    parameters.write_attribute("UnitVelocity_in_cm_per_s", 1e5);
    expect_gadget_units(body.info());
}

TEST_F(SnapshotUnits, OfArepoAndGizmoAreInTheHeader) {
    {
        OneBody arepo;
        arepo.header.write_attribute("UnitLength_in_cm", 3.085678e21);
        arepo.header.write_attribute("UnitMass_in_g", 1.989e43);
        arepo.header.write_attribute("UnitVelocity_in_cm_per_s", 1e5);
        expect_gadget_units(arepo.info());
    }
    OneBody gizmo;
    gizmo.header.write_attribute("UnitLength_In_CGS", 3.085678e21);
    gizmo.header.write_attribute("UnitMass_In_CGS", 1.989e43);
    gizmo.header.write_attribute("UnitVelocity_In_CGS", 1e5);
    expect_gadget_units(gizmo.info());
    gizmo.header.write_attribute("Gravitational_Constant_In_Code_Inits", 43007.1);
    EXPECT_EQ(gizmo.info().G, 43007.1);
    EXPECT_EQ(gizmo.info().G_origin, "stored in the file");
}

TEST_F(SnapshotUnits, OfSwiftHaveATime) {
    OneBody body;
    auto units = body.root.create_group("Units");
    write_one(units, "Unit length in cgs (U_L)", 3.085678e21);
    write_one(units, "Unit mass in cgs (U_M)", 1.989e43);
    write_one(units, "Unit time in cgs (U_t)", 3.085678e16);
    expect_gadget_units(body.info());
    auto constants = body.root.create_group("PhysicalConstants").create_group("InternalUnits");
    write_one(constants, "newton_G", 43009.2);
    EXPECT_EQ(body.info().G, 43009.2);
    write_one(body.header, "Redshift", 0.0);
    auto cosmology = body.root.create_group("Cosmology");
    write_one(cosmology, "Cosmological run", 1);
    EXPECT_TRUE(body.info().comoving);
}

TEST_F(SnapshotUnits, AreNBodyUnitsOnlyWhereNothingSpeaksAgainst) {
    EXPECT_EQ(OneBody().info().G, 1.0);
    EXPECT_EQ(OneBody().info().units, Units{});
    for (const char* name : {"Omega0", "OmegaLambda", "HubbleParam", "UnitMass_in_g"}) {
        OneBody body;
        body.header.write_attribute(name, 0.7);
        EXPECT_TRUE(std::isnan(body.info().G)) << name;
        EXPECT_NE(body.info().G_origin.find("neither"), std::string::npos);
    }
    {
        OneBody sized;
        sized.root.group("PartType1").dataset("Coordinates").write_attribute("to_cgs", 3e21);
        EXPECT_TRUE(std::isnan(sized.info().G));
    }
    OneBody negative;
    negative.header.write_attribute("UnitMass_in_g", -1.0);
    expect_error<InvalidArgument>([&] { (void)negative.info(); }, "a unit is -1 in cgs");
}

// GADGET-2 does not say so, but then the time is the scale factor.
TEST_F(SnapshotUnits, AScaleFactorAsTimeIsComoving) {
    {
        OneBody body;
        body.header.write_attribute("Time", 0.25);
        body.header.write_attribute("Redshift", 3.0);
        EXPECT_TRUE(body.info().comoving);
    }
    OneBody physical;
    physical.header.write_attribute("Time", 0.25);
    physical.header.write_attribute("Redshift", 0.0);
    EXPECT_FALSE(physical.info().comoving);
}

TEST_F(SnapshotUnits, TimeInGyrIsThere) {
    SnapshotInfo info;
    info.units = {{"kpc", 3.0856775814913673e21}, {"Msun", 1.98841e33}, {"km/s", 1e5}};
    info.time = 2.0;
    const Bodies body{.position = {1, 2, 3}, .velocity = {0, 0, 0}, .mass = {1}, .charge = {}, .id = {1}};
    write_snapshot(file("s.h5"), body, info);
    const auto h5 = hdf5::File::open(file("s.h5"));
    // 1 kpc/(km/s) is 0.9778 Gyr.
    EXPECT_NEAR(h5.root().group("Parameters").attribute<double>("Time_GYR"), 2 * 0.97779222, 1e-7);
}

TEST_F(SnapshotParts, AreReadAsOne) {
    // Part 0 has a gas particle and a dark one, part 1 two dark ones and a star.
    const std::array<std::array<std::uint64_t, 5>, 2> counts{{{1, 1, 0, 0, 0}, {0, 2, 0, 0, 1}}};
    const std::array<std::uint64_t, 5> total{1, 3, 0, 0, 1};
    double value = 0.0;
    for (std::size_t part = 0; part < 2; ++part) {
        const auto h5 = hdf5::File::create();
        auto root = h5.root();
        auto header = root.create_group("Header");
        header.write_attribute_array("NumPart_ThisFile", std::span<const std::uint64_t>(counts[part]));
        header.write_attribute_array("NumPart_Total", std::span<const std::uint64_t>(total));
        header.write_attribute("NumFilesPerSnapshot", 2);
        header.write_attribute("Time", 4.0);
        for (std::size_t type = 0; type < 5; ++type) {
            const auto n = static_cast<std::int64_t>(counts[part][type]);
            if (n == 0) continue;
            auto group = root.create_group("PartType" + std::to_string(type));
            std::vector<double> masses;
            for (std::int64_t i = 0; i < n; ++i) masses.push_back(value += 1.0);
            std::vector<double> xs;
            for (const double m : masses) xs.insert(xs.end(), {m, 10 * m, 100 * m});
            group.write("Coordinates", std::span<const double>(xs), {n, 3});
            group.write("Velocities", std::span<const double>(xs), {n, 3});
            group.write("Masses", masses);
        }
        h5.save(file("snap_007." + std::to_string(part) + ".hdf5"));
    }
    for (const char* name : {"snap_007.0.hdf5", "snap_007.1.hdf5"}) {
        const auto snapshot = read_snapshot(file(name));
        EXPECT_EQ(snapshot.bodies.mass, (std::vector<double>{1, 2, 3, 4, 5})) << "types in their order";
        EXPECT_EQ(snapshot.bodies.position[3 * 4 + 2], 500.0);
        EXPECT_EQ(snapshot.bodies.id, (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
        EXPECT_EQ(snapshot.info.time, 4.0);
    }
    std::filesystem::copy_file(file("snap_007.1.hdf5"), file("other.hdf5"));
    expect_error<InvalidArgument>([&] { (void)read_snapshot(file("other.hdf5")); }, "split over 2 files",
                                  ".0.hdf5");
    std::filesystem::copy_file(file("snap_007.1.hdf5"), file("snap_007.0.hdf5"),
                               std::filesystem::copy_options::overwrite_existing);
    expect_error<InvalidArgument>([&] { (void)read_snapshot(file("snap_007.0.hdf5")); },
                                  "NumPart_Total says 1", "type 0");
    std::filesystem::remove(file("snap_007.0.hdf5"));
    expect_error<IoError>([&] { (void)read_snapshot(file("snap_007.1.hdf5")); },
                          "'snap_007.0.hdf5' is missing");
}

namespace {

std::string sealed_snapshot(const std::filesystem::path& path) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Bodies bodies;
    for (std::uint64_t i = 0; i < 300; ++i) {
        for (int k = 0; k < 3; ++k) {
            bodies.position.push_back(uniform(random));
            bodies.velocity.push_back(uniform(random));
        }
        bodies.mass.push_back(1.0 / 300);
        bodies.id.push_back(i + 1);
    }
    SnapshotInfo info;
    info.time = 1.5;
    write_snapshot(path, bodies, info);
    return content_of(path);
}

} // namespace

// 300 copies with a bit flipped anywhere: none is read.
TEST_F(SnapshotDamage, IsFoundWhereverItIs) {
    const auto whole = sealed_snapshot(file("s.h5"));
    constexpr std::uint64_t seed = 300;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    for (int copy = 0; copy < 300; ++copy) {
        auto damaged = whole;
        const auto at = random() % (whole.size() - 16); // the rest is the checksum itself
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
        expect_error<IoError>([&] { (void)read_snapshot(written("d.h5", damaged)); }, "d.h5", "checksum",
                              "damaged");
        expect_error<IoError>([&] { (void)parse_snapshot(as_byte_span(damaged), "d.h5"); }, "d.h5",
                              "checksum");
    }
}

// Other programs know nothing of the checksum at the end, but HDF5 checks those of the data sets.
TEST_F(SnapshotDamage, OfTheDataIsFoundByHdf5) {
    auto damaged = sealed_snapshot(file("s.h5"));
    damaged.resize(damaged.size() - 16);
    EXPECT_EQ(parse_snapshot(as_byte_span(damaged), "d.h5").bodies.size(), 300)
        << "without a seal it is one of others";
    const auto bodies = read_snapshot(file("s.h5")).bodies;
    for (const auto* values : {&bodies.position, &bodies.velocity, &bodies.mass}) {
        const std::string_view bytes(reinterpret_cast<const char*>(values->data()),
                                     values->size() * sizeof(double));
        const auto at = damaged.find(bytes);
        ASSERT_NE(at, std::string::npos);
        auto copy = damaged;
        copy[at + 1000] = static_cast<char>(copy[at + 1000] ^ 1);
        expect_error<IoError>([&] { (void)parse_snapshot(as_byte_span(copy), "d.h5"); }, "d.h5: /PartType1/",
                              "Fletcher32", "damaged");
    }
}

// More than one chunk of 65,536 rows, the last one shorter.
TEST_F(SnapshotDamage, ChecksumsLeaveEveryBodyWhereItWas) {
    Bodies bodies;
    constexpr std::int64_t n = 3 * 65536 - 5;
    for (std::int64_t i = 0; i < n; ++i) {
        for (int k = 0; k < 3; ++k) {
            bodies.position.push_back(static_cast<double>(3 * i + k));
            bodies.velocity.push_back(-static_cast<double>(3 * i + k));
        }
        bodies.mass.push_back(static_cast<double>(i + 1));
        bodies.id.push_back(static_cast<std::uint64_t>(i + 1));
    }
    write_snapshot(file("s.h5"), bodies, {});
    const auto read = read_snapshot(file("s.h5")).bodies;
    EXPECT_TRUE(read.position == bodies.position && read.velocity == bodies.velocity &&
                read.mass == bodies.mass && read.id == bodies.id);
}
