// Runs of bodies from files: their units, the G that follows, and files that change while a run waits.
#include "run_support.h"

#include "io/hdf5.h"
#include "io/snapshot.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <numbers>

namespace farfield {
namespace {

using namespace test;

// GADGET's usual units, written out by hand: kpc, 10^10 solar masses, km/s. G in them is about 43,000.
constexpr double kpc = 3.085678e21;
constexpr double ten_billion_suns = 1.989e43;
constexpr double kilometre_per_second = 1e5;
constexpr double gadget_G =
    6.67430e-8 * ten_billion_suns / kpc / (kilometre_per_second * kilometre_per_second);

struct Binary {
    double mass1 = 1.0, mass2 = 0.5, distance = 10.0;
    [[nodiscard]] double speed() const { return std::sqrt(gadget_G * (mass1 + mass2) / distance); }
    [[nodiscard]] double period() const { return 2.0 * std::numbers::pi * distance / speed(); }
    [[nodiscard]] std::vector<double> positions() const {
        const double m = mass1 + mass2;
        return {-distance * mass2 / m, 0, 0, distance * mass1 / m, 0, 0};
    }
    [[nodiscard]] std::vector<double> velocities() const {
        const double m = mass1 + mass2;
        return {0, -speed() * mass2 / m, 0, 0, speed() * mass1 / m, 0};
    }
};

// As GADGET-4 writes it: G is 0 and follows from the units.
void write_gadget_binary(const fs::path& path, const Binary& binary, bool with_units) {
    const auto file = hdf5::File::create();
    auto root = file.root();
    auto header = root.create_group("Header");
    const std::array<std::uint64_t, 2> counts{0, 2};
    header.write_attribute_array("NumPart_ThisFile", std::span<const std::uint64_t>(counts));
    header.write_attribute("Time", 0.0);
    auto parameters = root.create_group("Parameters");
    parameters.write_attribute("GravityConstantInternal", 0.0);
    parameters.write_attribute("ComovingIntegrationOn", 0);
    parameters.write_attribute("HubbleParam", 0.7);
    if (with_units) {
        parameters.write_attribute("UnitLength_in_cm", kpc);
        parameters.write_attribute("UnitMass_in_g", ten_billion_suns);
        parameters.write_attribute("UnitVelocity_in_cm_per_s", kilometre_per_second);
    }
    auto bodies = root.create_group("PartType1");
    bodies.write("Coordinates", std::span<const double>(binary.positions()), {2, 3});
    bodies.write("Velocities", std::span<const double>(binary.velocities()), {2, 3});
    bodies.write("Masses", std::vector<double>{binary.mass1, binary.mass2});
    file.save(path);
}

std::string orbit_case(const std::string& file, const Binary& binary, const std::string& more = "") {
    return fmt::format(
        "[initial]\nkind = \"file\"\npath = \"{}\"\n{}\n[time]\nintegrator = \"yoshida4\"\nstep = {}\n"
        "end = {}\n[output]\npictures = false\n",
        file, more, binary.period() / 2000, binary.period());
}

double distance_from_start(const fs::path& snapshot, const Binary& binary) {
    const auto bodies = read_snapshot(snapshot).bodies;
    const auto start = binary.positions();
    double furthest = 0.0;
    for (std::size_t i = 0; i < 2; ++i)
        furthest = std::max(furthest, std::hypot(bodies.position[3 * i] - start[3 * i],
                                                 bodies.position[3 * i + 1] - start[3 * i + 1],
                                                 bodies.position[3 * i + 2] - start[3 * i + 2]));
    return furthest;
}

TEST(RunUnits, AGadgetBinaryClosesItsOrbit) {
    const TemporaryFolder folder;
    const Binary binary;
    write_gadget_binary(folder / "binary.hdf5", binary, true);
    write_bytes(folder / "orbit.toml", orbit_case("binary.hdf5", binary));
    Messages messages;
    run_case(read_case(folder / "orbit.toml"), {.out = folder / "out"}, messages.hooks());
    EXPECT_LT(distance_from_start(folder / "out" / "snapshot_0001.h5", binary), 1e-6 * binary.distance);
    expect_contains(messages.text, {"G = 4302", "follows from the units of the file"});
    const auto summary = nlohmann::json::parse(bytes_of(folder / "out" / "summary.json"));
    EXPECT_NEAR(summary.at("G").at("value").get<double>(), gadget_G, 1e-12 * gadget_G);
    expect_contains(summary.at("G").at("origin"), {"follows from the units of the file"});
    EXPECT_EQ(summary.at("units").at("length").at("cm"), kpc);
    EXPECT_EQ(summary.at("units").at("length").at("name"), "kpc");
    EXPECT_EQ(summary.at("units").at("mass").at("name"), "1e10 Msun");
    EXPECT_EQ(summary.at("units").at("velocity").at("name"), "km/s");
}

TEST(RunUnits, RefusesAFileOfAnotherCodeThatDoesNotTellG) {
    const TemporaryFolder folder;
    const Binary binary;
    write_gadget_binary(folder / "binary.hdf5", binary, false);
    write_bytes(folder / "orbit.toml", orbit_case("binary.hdf5", binary));
    const auto text = error_of<InvalidArgument>([&] { (void)read_case(folder / "orbit.toml"); });
    expect_contains(text, {"binary.hdf5", "gravitational constant is not known", "[force] G", "length_unit"});
    // Either remedy helps.
    const auto with_units = orbit_case("binary.hdf5", binary,
                                       "length_unit = \"3.085678e21 cm\"\nmass_unit = \"1.989e43 g\"\n"
                                       "velocity_unit = \"km/s\"\n");
    write_bytes(folder / "units.toml", with_units);
    run_case(read_case(folder / "units.toml"), {.out = folder / "units"});
    EXPECT_LT(distance_from_start(folder / "units" / "snapshot_0001.h5", binary), 1e-6 * binary.distance);
    write_bytes(folder / "G.toml",
                orbit_case("binary.hdf5", binary) + fmt::format("[force]\nG = {}\n", gadget_G));
    run_case(read_case(folder / "G.toml"), {.out = folder / "G"});
    EXPECT_LT(distance_from_start(folder / "G" / "snapshot_0001.h5", binary), 1e-6 * binary.distance);
}

TEST(RunUnits, SaysThatAnotherGIsUsedThanTheUnitsHave) {
    const TemporaryFolder folder;
    const Binary binary;
    write_gadget_binary(folder / "binary.hdf5", binary, true);
    Case simulation_case; // as C++ and Python make it: G stays 1 unless set
    simulation_case.initial.kind = InitialKind::file;
    simulation_case.initial.path = folder / "binary.hdf5";
    simulation_case.time = {.step = 1e-6, .end = 1e-6};
    simulation_case.output.pictures = false;
    Messages messages;
    run_case(simulation_case, {.out = folder / "out"}, messages.hooks());
    expect_contains(messages.text, {"warning: G is 1 in this run, but 4302"});
}

TEST(RunUnits, SurviveAFile) {
    const TemporaryFolder folder;
    Case planets;
    planets.initial.kind = InitialKind::solar_system;
    planets.force.G = natural_G(planets.initial);
    planets.time = {.step = 1.0, .end = 2.0};
    planets.output.pictures = false;
    run_case(planets, {.out = folder / "first"});
    write_bytes(folder / "again.toml", "[initial]\nkind = \"file\"\npath = \"first/snapshot_0001.h5\"\n"
                                       "[time]\nstep = 1.0\nend = 6.0\n[output]\npictures = false\n");
    auto stop_soon = RunHooks{};
    stop_soon.stop_requested = [] { return true; };
    const auto again = read_case(folder / "again.toml");
    EXPECT_FALSE(run_case(again, {.out = folder / "second"}, stop_soon).finished);
    run_case(again, {.out = folder / "second", .restart = true});
    for (const char* name : {"snapshot_0000.h5", "snapshot_0001.h5"}) {
        const auto info = read_snapshot(folder / "second" / name).info;
        EXPECT_EQ(info.units, solar_system_units()) << name;
        EXPECT_EQ(info.G, planets.force.G);
    }
    const auto summary = nlohmann::json::parse(bytes_of(folder / "second" / "summary.json"));
    EXPECT_EQ(summary.at("units").at("length").at("name"), "au");
    EXPECT_EQ(summary.at("G").at("origin"), "stored in the file");
}

constexpr const char* two_bodies = "x,y,z,vx,vy,vz,m\n-1,0,0,0,-0.1,0,1\n1,0,0,0,0.1,0,1\n";

TEST(RunUnits, OfACsvFileAreThoseOfTheCase) {
    const TemporaryFolder folder;
    write_bytes(folder / "b.csv", two_bodies);
    const std::string start = "[initial]\nkind = \"file\"\npath = \"b.csv\"\n";
    const std::string end = "[time]\nstep = 0.1\nend = 0.2\n[output]\npictures = false\n";
    write_bytes(folder / "u.toml",
                start + "length_unit = \"pc\"\nmass_unit = \"Msun\"\nvelocity_unit = \"km/s\"\n" + end);
    const auto c = read_case(folder / "u.toml");
    EXPECT_NEAR(c.force.G, 4.30091e-3, 1e-8); // pc (km/s)² per solar mass, as textbooks have it
    run_case(c, {.out = folder / "out"});
    const auto info = read_snapshot(folder / "out" / "snapshot_0001.h5").info;
    EXPECT_EQ(info.units.length, (Unit{"pc", 3.0856775814913673e18}));
    EXPECT_EQ(info.units.velocity.in_cgs, 1e5);
    EXPECT_EQ(read_case(folder / "out" / "case.toml").initial.velocity_unit, "km/s");

    write_bytes(folder / "two.toml", start + "length_unit = \"pc\"\nmass_unit = \"Msun\"\n" + end);
    expect_contains(error_of<InvalidArgument>([&] { (void)read_case(folder / "two.toml"); }),
                    {"initial.mass_unit needs velocity_unit as well"});
    write_bytes(folder / "bad.toml", start + "length_unit = \"parsec\"\n" + end);
    expect_contains(error_of<InvalidArgument>([&] { (void)read_case(folder / "bad.toml"); }),
                    {"initial.length_unit", "'parsec' is no unit of length", "kpc"});
}

TEST(RunUnits, AreNotStatedTwice) {
    const TemporaryFolder folder;
    Bodies bodies{.position = {1, 2, 3}, .velocity = {0, 0, 0}, .mass = {1}, .charge = {}, .id = {1}};
    SnapshotInfo info;
    info.units = solar_system_units();
    write_snapshot(folder / "s.h5", bodies, info);
    const InitialOptions options{.kind = InitialKind::file,
                                 .path = folder / "s.h5",
                                 .length_unit = "pc",
                                 .mass_unit = "Msun",
                                 .velocity_unit = "km/s"};
    expect_contains(error_of<InvalidArgument>([&] { (void)make_initial_state(options); }),
                    {"the file states its units (au, solar masses, au/day)"});
}

// A run of bodies from a CSV file, stopped after its first step.
Case stopped_run_of(const TemporaryFolder& folder) {
    write_bytes(folder / "b.csv", two_bodies);
    Case simulation_case;
    simulation_case.name = "pair";
    simulation_case.initial.kind = InitialKind::file;
    simulation_case.initial.path = folder / "b.csv";
    simulation_case.time = {.step = 0.125, .end = 1.0};
    simulation_case.output = {.diagnostics_every = 0.125, .pictures = false};
    RunHooks hooks;
    hooks.stop_requested = [] { return true; };
    run_case(simulation_case, {.out = folder / "out"}, hooks);
    return simulation_case;
}

TEST(Restart, NoticesAnEditedFileOfBodies) {
    const TemporaryFolder folder;
    const auto simulation_case = stopped_run_of(folder);
    write_bytes(folder / "b.csv", std::string(two_bodies) + "5,0,0,0,0,0,1\n");
    const auto text = error_of<InvalidArgument>(
        [&] { run_case(simulation_case, {.out = folder / "out", .restart = true}); });
    expect_contains(text, {"b.csv", "has changed since the run", "put back"});
    Messages messages;
    fs::remove(folder / "b.csv");
    EXPECT_TRUE(
        run_case(simulation_case, {.out = folder / "out", .restart = true}, messages.hooks()).finished);
    expect_contains(messages.text, {"b.csv' is not there any more"});
}

TEST(Restart, TellsThatDiagnosticsAreMissing) {
    const TemporaryFolder folder;
    const auto simulation_case = stopped_run_of(folder);
    const auto rows = folder / "out" / "diagnostics.csv";
    fs::remove(rows);
    const auto text =
        error_of<IoError>([&] { run_case(simulation_case, {.out = folder / "out", .restart = true}); });
    expect_contains(text, {"diagnostics.csv' is missing", "put the file back"});
    EXPECT_FALSE(fs::exists(rows)) << "an empty file in its place would hide that it is missing";
}

} // namespace
} // namespace farfield
