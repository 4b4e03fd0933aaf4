// Case files of periodic boxes: how lengths are written, what is refused before anything is computed, and
// what runs leave in their folders.
#include "run_support.h"

#include "dynamics/case_file/case_file.h"
#include "dynamics/run/case_text.h"
#include "io/csv.h"
#include "io/hdf5.h"
#include "io/picture.h"
#include "io/snapshot.h"

#include <farfield/farfield.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace farfield {
namespace {

using namespace test;
using Lengths = std::array<double, 3>;

const std::string plasma_case = R"([initial]
kind = "plasma"
n = 32
particle_charge = 0.1
[force]
kernel = "coulomb"
method = "auto"
softening = 0.2
period = PERIOD
[time]
step = 0.0625
end = 0.5
)";

std::string with_period(const std::string& period) {
    auto text = plasma_case;
    return text.replace(text.find("PERIOD"), 6, period);
}

std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return error_of<InvalidArgument>([&] { (void)parse_case(text, "p.toml", overrides); });
}

TEST(PeriodicCase, TakesOneLengthOrThree) {
    const auto period_of = [](const std::string& written, const std::vector<std::string>& overrides = {}) {
        return parse_case(with_period(written), "p.toml", overrides).force.period;
    };
    EXPECT_EQ(period_of("4"), (Lengths{4, 4, 4}));
    EXPECT_EQ(period_of("2.5"), (Lengths{2.5, 2.5, 2.5}));
    EXPECT_EQ(period_of("[2.5, 3, 4.25]"), (Lengths{2.5, 3, 4.25}));
    EXPECT_EQ(period_of("\"1,2,3\""), (Lengths{1, 2, 3}));
    EXPECT_EQ(period_of("4", {"force.period=5"}), (Lengths{5, 5, 5}));
    EXPECT_EQ(period_of("4", {"force.period=5,6,7"}), (Lengths{5, 6, 7}));
    EXPECT_EQ(period_of("4", {"force.period = [5.5, 6, 7]"}), (Lengths{5.5, 6, 7}));
    EXPECT_EQ(parse_case(with_period("4"), "p.toml").initial.box, (Lengths{4, 4, 4}));
    EXPECT_EQ(parse_case(with_period("4"), "p.toml", {"initial.box=1,2,3"}).initial.box, (Lengths{1, 2, 3}));
}

TEST(PeriodicCase, SaysWhatIsNoLength) {
    for (const char* wrong : {"-1", "[1, 2]", "[1, 2, 3, 4]", "[1, 2, -3]", "\"wide\"", "nan", "inf"})
        expect_contains(refusal(with_period(wrong)), {"p.toml:9", "force.period", "for example period ="});
    for (const char* wrong : {"true", "[1, 2, \"3\"]", "[]", "[[1, 2, 3]]", "1979-05-27"})
        expect_contains(refusal(with_period(wrong)), {"p.toml:9", "force.period", "length"});
    expect_contains(refusal(with_period("0")), {"force.period = 0", "leave it out"});
    expect_contains(refusal(with_period("4"), {"force.period="}), {"--set force.period=", "force.period"});
}

TEST(PeriodicCase, RefusesBeforeAnythingIsComputed) {
    const auto text = with_period("4");
    const auto refused = [&](const std::vector<std::string>& overrides,
                             std::initializer_list<std::string> words) {
        expect_contains(refusal(text, overrides), words);
    };
    refused({"force.boundary=vacuum"}, {"p.toml:9", "vacuum", "jumps", "tin-foil"});
    refused({"force.kernel=gravity"}, {"gravity", "uniform"});
    refused({"time.integrator=hermite4"}, {"hermite4", "yoshida4"});
    refused({"force.device=cuda:0,1", "force.method=fmm"}, {"one GPU", "cuda:0"});
    refused({"force.softening=30", "force.method=fmm"}, {"softening", "30", "ewald"}); // images cancel
    refused({"force.variant=soa", "force.method=pme"}, {"soa", "leave it out"});
    refused({"force.precision=float", "force.method=pme"}, {"float", "double"});
    refused({"force.tolerance=1e-15"}, {"tolerance"});
    refused({"force.period=4,4,0", "force.method=pme"}, {"three lengths", "force.period"});
    refused({"force.kernel=vortex2d"}, {"force.", "not used by kernel = \"vortex2d\""});
    expect_contains(refusal(std::string("[initial]\nkind='plummer'\nn=9\n[force]\nbackground='uniform'\n") +
                            "[time]\nstep=1\nend=1\n"),
                    {"force.background", "force.period"});
    expect_contains(refusal("[initial]\nkind='plasma'\nn=8\n[time]\nstep=1\nend=1\n"),
                    {"plasma", "force.period"});
    EXPECT_NO_THROW((void)parse_case(text, "p.toml", {"force.kernel=gravity", "force.background=uniform"}));
}

TEST(PeriodicCase, IsReadBackFromItsText) {
    for (const char* period : {"4", "[2.5, 3.0, 4.25]"}) {
        const auto written = parse_case(with_period(period), "p.toml", {"force.background=uniform"});
        const auto again = parse_case(case_toml(written), "again.toml");
        EXPECT_EQ(again.force.period, written.force.period);
        EXPECT_EQ(again.force.background, Background::uniform);
        EXPECT_EQ(again.initial.box, written.initial.box);
        EXPECT_EQ(again.initial.particle_charge, 0.1);
        EXPECT_EQ(deciding_text(again), deciding_text(written));
        EXPECT_NE(deciding_text(again).find("force.period"), std::string::npos);
    }
    Case open;
    open.initial.n = 8;
    for (const char* key : {"period", "boundary", "background", "box"})
        EXPECT_EQ(case_toml(open).find(key), std::string::npos) << "of no use in open space: " << key;
}

TEST(PeriodicCase, LeavesSnapshotsAndDiagnosticsOfABox) {
    const TemporaryFolder folder;
    for (const auto& period : {Lengths{4, 4, 4}, Lengths{2, 3, 4}}) {
        auto simulation_case = parse_case(with_period("4"), "p.toml");
        simulation_case.force.period = simulation_case.initial.box = period;
        simulation_case.force.tolerance = 1e-5;
        const auto out = folder / (period[0] == 4 ? "cube" : "bricks");
        run_case(simulation_case, {.out = out});
        const auto snapshot = read_snapshot(out / "snapshot_0001.h5");
        EXPECT_EQ(snapshot.info.box, period);
        for (std::size_t i = 0; i < snapshot.bodies.position.size(); ++i) {
            EXPECT_GE(snapshot.bodies.position[i], 0.0);
            EXPECT_LT(snapshot.bodies.position[i], period[i % 3]);
        }
        const auto file = hdf5::File::open(out / "snapshot_0001.h5");
        const auto size = file.root().group("Header").attribute_array<double>("BoxSize");
        EXPECT_EQ(size, period[0] == 4 ? std::vector{4.0} : (std::vector{2.0, 3.0, 4.0}));
        const auto rows = read_csv(out / "diagnostics.csv");
        EXPECT_EQ(rows.names,
                  (std::vector<std::string>{"time", "kinetic", "potential", "total", "relative_energy_error",
                                            "px", "py", "pz", "acceleration_error", "potential_error"}));
        for (const double error : *rows.find("potential_error")) EXPECT_LE(error, 1e-5);
        const auto summary = nlohmann::json::parse(bytes_of(out / "summary.json"));
        EXPECT_FALSE(summary.at("last_diagnostics").contains("angular_momentum"));
        EXPECT_FALSE(summary.at("last_diagnostics").contains("lagrangian_radii"));
        EXPECT_FALSE(summary.at("last_diagnostics").contains("virial_ratio"));
        EXPECT_TRUE(fs::exists(out / "diagnostics.png"));
        EXPECT_TRUE(fs::exists(out / "snapshot_0001.png"));
        const auto frame = picture_frame(snapshot.bodies, "xy", 0.0, {}, snapshot.info.box);
        EXPECT_EQ(frame.width, period[0] == 4 ? 4.0 : 3.0) << "from border to border";
        EXPECT_EQ(frame.centre, (Lengths{period[0] / 2, period[1] / 2, period[2] / 2}));
    }
}

TEST(PeriodicCase, HasNoBoxInSnapshotsOfOpenSpace) {
    const TemporaryFolder folder;
    run_case(small_case(), {.out = folder / "open"});
    const auto path = folder / "open" / "snapshot_0001.h5";
    EXPECT_EQ(read_snapshot(path).info.box, Lengths{});
    const auto file = hdf5::File::open(path);
    EXPECT_EQ(file.root().group("Header").attribute<double>("BoxSize"), 0.0);
    EXPECT_FALSE(file.root().group("Farfield").has_attribute("Box"));
}

} // namespace
} // namespace farfield
