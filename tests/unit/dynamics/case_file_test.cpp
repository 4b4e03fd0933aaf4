// Case files: what is read, and what is said about what cannot be. Expected texts are written out by hand.
#include "dynamics/case_file/case_file.h"
#include "dynamics/case_file/keys.h"
#include "dynamics/initial/model.h"
#include "expect_error.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

using namespace farfield;

namespace {

const std::string minimal = R"([initial]
kind = "plummer"
n = 100

[time]
step = 0.01
end = 1.0
)";

std::string message_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
        parse_case(text, "folder/my.toml", overrides);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "(accepted)";
}

testing::AssertionResult contains(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

} // namespace

TEST(CaseFile, ReadsEveryKeyToItsField) {
    const auto c = parse_case(R"(
name = "both"
[initial]
kind = "two-clusters"
n = 2000
seed = 7
model = "king"
w0 = 5
mass_ratio = 0.25
separation = 8.0
impact_parameter = 1.5
relative_speed = 0.5
[force]
kernel = "coulomb"
method = "direct"
G = 2.0
softening = 0.125
precision = "mixed"
[time]
integrator = "hermite4"
step = 0.5
end = 10
adaptive = true
eta = 0.01
[output]
snapshot_every = 1.0
diagnostics_every = 0.25
checkpoint_every = 2.5
pictures = false
plane = "xz"
picture_width = 20
)",
                              "x.toml");
    EXPECT_EQ(c.name, "both");
    EXPECT_EQ(c.initial.kind, InitialKind::two_clusters);
    EXPECT_EQ(c.initial.n, 2000);
    EXPECT_EQ(c.initial.seed, 7U);
    EXPECT_EQ(c.initial.model, InitialKind::king);
    EXPECT_EQ(c.initial.w0, 5.0);
    EXPECT_EQ(c.initial.mass_ratio, 0.25);
    EXPECT_EQ(c.initial.separation, 8.0);
    EXPECT_EQ(c.initial.impact_parameter, 1.5);
    EXPECT_EQ(c.initial.relative_speed, 0.5);
    EXPECT_EQ(c.force.kernel, Kernel::coulomb);
    EXPECT_EQ(c.force.G, 2.0);
    EXPECT_EQ(c.force.softening, 0.125);
    EXPECT_EQ(c.force.precision, Precision::mixed);
    EXPECT_EQ(c.time.integrator, Integrator::hermite4);
    EXPECT_EQ(c.time.step, 0.5);
    EXPECT_EQ(c.time.end, 10.0);
    EXPECT_TRUE(c.time.adaptive);
    EXPECT_EQ(c.time.eta, 0.01);
    EXPECT_EQ(c.output.snapshot_every, 1.0);
    EXPECT_EQ(c.output.diagnostics_every, 0.25);
    EXPECT_EQ(c.output.checkpoint_every, 2.5);
    EXPECT_FALSE(c.output.pictures);
    EXPECT_EQ(c.output.plane, "xz");
    EXPECT_EQ(c.output.picture_width, 20.0);
}

TEST(CaseFile, NameAndDefaultsComeFromTheFileNameAndTheStructs) {
    const auto c = parse_case(minimal, "folder/my.toml");
    EXPECT_EQ(c.name, "my");
    EXPECT_EQ(c.initial.n, 100);
    EXPECT_EQ(c.force.softening, ForceOptions{}.softening);
}

TEST(CaseFile, AToleranceIsReadAndNoneIsTheDefault) {
    EXPECT_EQ(parse_case(minimal, "a.toml").force.tolerance, 0.0);
    EXPECT_EQ(parse_case(minimal, "a.toml", {"force.tolerance=1e-5"}).force.tolerance, 1e-5);
    test::expect_contains(
        test::error_of<InvalidArgument>([&] { (void)parse_case(minimal, "a.toml", {"force.tolerance=0"}); }),
        {"force.tolerance = 0", "> 0", "for example tolerance = 1e-6"});
    EXPECT_EQ(parse_case(minimal, "a.toml", {"force.method=\"auto\""}).force.method, Method::automatic);
}

// Each documented default, written into a file, must give the same case as leaving the key out.
TEST(CaseFile, DocumentedDefaultsAreTheRealOnes) {
    for (const auto& key : case_file::keys()) {
        if (key.required || key.required_by != 0 || key.section.empty() || key.name == "eta" ||
            key.name == "negative_fraction" || key.default_text == "none" ||
            key.type == case_file::KeyType::unit || key.type == case_file::KeyType::lengths)
            continue;
        Case plain;
        Case set;
        const auto assignment = case_file::full_name(key) + "=" + std::string(key.default_text);
        auto text = minimal;
        if (key.kinds != 0) { // a kind that uses the key
            for (auto kind : {InitialKind::uniform_sphere, InitialKind::king, InitialKind::two_clusters,
                              InitialKind::vortex_pair, InitialKind::leapfrogging_pairs,
                              InitialKind::vortex_sheet, InitialKind::vortex_patch, InitialKind::plasma})
                if ((key.kinds & case_file::bit(kind)) != 0)
                    text.replace(text.find('"'), text.find('\n', text.find('"')) - text.find('"'),
                                 '"' + std::string(name_of(kind)) + '"');
        }
        for (const auto kind : {InitialKind::vortex_pair, InitialKind::leapfrogging_pairs}) // they have no n
            if (text.find(name_of(kind)) != std::string::npos) text.erase(text.find("n = 100"), 8);
        const auto kernel = case_file::used_by(key, Kernel::gravity) ? "gravity" : "vortex2d";
        std::vector<std::string> overrides{std::string("force.kernel=") + kernel};
        if (key.name == "boundary" || key.name == "background" || text.find("plasma") != std::string::npos)
            overrides = {"force.kernel=coulomb", "force.period=10", "force.method=auto"};
        plain = parse_case(text, "a.toml", overrides);
        overrides.push_back(assignment);
        set = parse_case(text, "a.toml", overrides);
        SCOPED_TRACE(assignment);
        EXPECT_EQ(plain.initial.seed, set.initial.seed);
        EXPECT_EQ(plain.initial.cutoff_radius, set.initial.cutoff_radius);
        EXPECT_EQ(plain.initial.virial_ratio, set.initial.virial_ratio);
        EXPECT_EQ(plain.initial.w0, set.initial.w0);
        EXPECT_EQ(plain.initial.model, set.initial.model);
        EXPECT_EQ(plain.initial.mass_ratio, set.initial.mass_ratio);
        EXPECT_EQ(plain.initial.separation, set.initial.separation);
        EXPECT_EQ(plain.initial.impact_parameter, set.initial.impact_parameter);
        EXPECT_EQ(plain.initial.relative_speed, set.initial.relative_speed);
        EXPECT_EQ(plain.initial.circulation, set.initial.circulation);
        EXPECT_EQ(plain.initial.circulation_ratio, set.initial.circulation_ratio);
        EXPECT_EQ(plain.initial.distance, set.initial.distance);
        EXPECT_EQ(plain.initial.width_ratio, set.initial.width_ratio);
        EXPECT_EQ(plain.initial.length, set.initial.length);
        EXPECT_EQ(plain.initial.amplitude, set.initial.amplitude);
        EXPECT_EQ(plain.initial.waves, set.initial.waves);
        EXPECT_EQ(plain.initial.radius, set.initial.radius);
        EXPECT_EQ(plain.initial.particle_mass, set.initial.particle_mass);
        EXPECT_EQ(plain.initial.particle_charge, set.initial.particle_charge);
        EXPECT_EQ(plain.initial.temperature, set.initial.temperature);
        EXPECT_EQ(plain.force.boundary, set.force.boundary);
        EXPECT_EQ(plain.force.background, set.force.background);
        EXPECT_EQ(plain.force.viscosity, set.force.viscosity);
        EXPECT_EQ(plain.force.kernel, set.force.kernel);
        EXPECT_EQ(plain.force.method, set.force.method);
        EXPECT_EQ(plain.force.G, set.force.G);
        EXPECT_EQ(plain.force.softening, set.force.softening);
        EXPECT_EQ(plain.force.precision, set.force.precision);
        EXPECT_EQ(plain.time.integrator, set.time.integrator);
        EXPECT_EQ(plain.time.adaptive, set.time.adaptive);
        EXPECT_EQ(plain.output.snapshot_every, set.output.snapshot_every);
        EXPECT_EQ(plain.output.diagnostics_every, set.output.diagnostics_every);
        EXPECT_EQ(plain.output.checkpoint_every, set.output.checkpoint_every);
        EXPECT_EQ(plain.output.pictures, set.output.pictures);
        EXPECT_EQ(plain.output.plane, set.output.plane);
        EXPECT_EQ(plain.output.picture_width, set.output.picture_width);
    }
}

TEST(CaseFile, OverridesAreTypedByTheKeyAndTheLastOneCounts) {
    const auto c = parse_case(minimal, "a.toml",
                              {"initial.n=5", "initial.n=6", "time.step=1e-3", "output.pictures=false",
                               "initial.kind=king", "initial.w0 = +3", "name='other'"});
    EXPECT_EQ(c.initial.n, 6);
    EXPECT_EQ(c.time.step, 1e-3);
    EXPECT_FALSE(c.output.pictures);
    EXPECT_EQ(c.initial.kind, InitialKind::king);
    EXPECT_EQ(c.initial.w0, 3.0);
    EXPECT_EQ(c.name, "other");
}

TEST(CaseFile, SolarSystemHasItsOwnGUnlessGiven) {
    const std::string solar = "[initial]\nkind='solar-system'\n[time]\nstep=1\nend=10\n";
    EXPECT_NEAR(parse_case(solar, "a.toml").force.G, 2.9591220828559e-4, 1e-17); // Gauss's k²
    EXPECT_EQ(parse_case(solar, "a.toml", {"force.G=1"}).force.G, 1.0);
}

TEST(CaseFile, UnknownKeysAndSectionsNameTheNearest) {
    EXPECT_TRUE(contains(message_of(minimal + "[force]\nsoftning = 0.1\n"),
                         "folder/my.toml:9:1: unknown key 'softning' in [force], did you mean 'softening'?"));
    EXPECT_TRUE(contains(message_of(minimal + "[froce]\nsoftening = 0.1\n"),
                         "folder/my.toml:8:2: unknown section [froce], did you mean 'force'?"));
    EXPECT_TRUE(contains(message_of("nmae = 'x'\n" + minimal), "folder/my.toml:1:1: unknown key 'nmae'"));
    EXPECT_TRUE(contains(message_of(minimal + "softening = 0.1\n"), "it belongs in [force]"));
    EXPECT_TRUE(contains(message_of(minimal + "[force]\nthreads = 2\n"), "--threads"));
    EXPECT_TRUE(contains(message_of("force = 3\n" + minimal), "'force' is a section"));
    EXPECT_TRUE(contains(message_of(minimal, {"time.stp=1"}),
                         "--set time.stp=1: unknown key 'stp' in [time], did you mean 'step'?"));
    EXPECT_TRUE(contains(message_of(minimal, {"tme.step=1"}), "unknown section [tme], did you mean 'time'?"));
    EXPECT_TRUE(contains(message_of(minimal, {"time.step"}), "section.key=value"));
}

TEST(CaseFile, ValuesOutOfRangeNameKeyValueAndWhatIsAllowed) {
    const auto with = [](const std::string& assignment) { return message_of(minimal, {assignment}); };
    EXPECT_TRUE(contains(with("time.step=0"), "time.step = 0 is not allowed: it must be > 0"));
    EXPECT_TRUE(contains(with("time.step=-1"), "it must be > 0"));
    EXPECT_TRUE(contains(with("time.step=nan"), "finite"));
    EXPECT_TRUE(contains(with("time.end=inf"), "finite"));
    EXPECT_TRUE(contains(with("time.end=-1"), "before the start"));
    EXPECT_TRUE(contains(with("force.softening=-0.1"), "force.softening = -0.1 is not allowed"));
    EXPECT_TRUE(contains(with("initial.n=0"), "it must be ≥ 1"));
    EXPECT_TRUE(contains(with("initial.n=1e3"), "whole number"));
    EXPECT_TRUE(contains(with("initial.n="), "(nothing)"));
    EXPECT_TRUE(contains(with("initial.seed=-1"), "≥ 0"));
    EXPECT_TRUE(contains(with("output.pictures=yes"), "true or false"));
    EXPECT_TRUE(contains(with("initial.kind=plumer"), "did you mean 'plummer'?"));
    EXPECT_TRUE(contains(with("output.plane=xyz"), "did you mean 'xy'?"));
    EXPECT_TRUE(contains(with("name=a/b"), "name of a folder"));
    EXPECT_TRUE(contains(with("name="), "name is empty"));
    EXPECT_TRUE(contains(message_of("[initial]\nkind = 'plummer'\nn = '3'\n[time]\nstep=1\nend=1\n"),
                         "folder/my.toml:3:5: initial.n = \"3\": expected a whole number"));
    EXPECT_TRUE(
        contains(message_of("[initial]\nkind = 'plummer'\nn = [3]\n[time]\nstep=1\nend=1\n"), "an array"));
    EXPECT_TRUE(contains(message_of("[time]\nstep = 2020-01-01\n"), "a date or time"));
}

TEST(CaseFile, KeysThatWouldBeIgnoredAreErrors) {
    EXPECT_TRUE(
        contains(message_of(minimal, {"initial.w0=3"}), "initial.w0 is not used by kind = \"plummer\""));
    EXPECT_TRUE(contains(message_of(minimal, {"initial.path=x.csv"}), "not used"));
    EXPECT_TRUE(contains(message_of(minimal, {"time.eta=0.1"}), "without adaptive"));
    EXPECT_TRUE(contains(message_of(minimal, {"time.adaptive=true"}), "hermite4"));
    EXPECT_TRUE(
        contains(message_of(minimal, {"initial.kind=uniform-sphere", "initial.negative_fraction=0.3"}),
                 "without charge"));
    EXPECT_TRUE(contains(message_of(minimal, {"initial.kind=two-clusters", "initial.impact_parameter=11"}),
                         "≤ the separation, 10"));
    EXPECT_EQ(message_of(minimal, {"initial.kind=two-clusters", "initial.model=king", "initial.w0=3"}),
              "(accepted)");
    EXPECT_TRUE(contains(message_of(minimal, {"initial.kind=two-clusters", "initial.w0=3"}), "not used"));
    EXPECT_TRUE(contains(message_of(minimal, {"initial.kind=figure-eight"}), "initial.n is not used"));
}

TEST(CaseFile, MissingKeysAreNamed) {
    EXPECT_TRUE(contains(message_of("[time]\nstep=1\nend=1\n"), "initial.kind is missing"));
    EXPECT_TRUE(contains(message_of("[initial]\nkind='king'\n[time]\nstep=1\nend=1\n"),
                         "initial.n is missing (kind = \"king\" needs it)"));
    EXPECT_TRUE(
        contains(message_of("[initial]\nkind='file'\n[time]\nstep=1\nend=1\n"), "initial.path is missing"));
    EXPECT_TRUE(contains(message_of("[initial]\nkind='king'\nn=3\n[time]\nend=1\n"), "time.step is missing"));
    EXPECT_TRUE(contains(message_of(""), "folder/my.toml: initial.kind is missing"));
}

TEST(CaseFile, BadTomlGivesLineAndColumn) {
    EXPECT_TRUE(contains(message_of("[initial]\nkind = \n"), "folder/my.toml:2:"));
    EXPECT_TRUE(contains(message_of("[initial]\nkind = \n"), "not valid TOML"));
    EXPECT_TRUE(contains(message_of("[time]\nstep=1\nstep=2\n"), "folder/my.toml:3:"));
    EXPECT_TRUE(contains(message_of("[#time]\n"), "folder/my.toml:1:2: not valid TOML"));
    EXPECT_TRUE(contains(message_of(std::string(5000, '[')), "not valid TOML"));
}

TEST(CaseFile, LettersBeyondAsciiAreTextAndNotKeys) {
    EXPECT_EQ(parse_case("name = \"Müller ε\" # Größe, é\n" + minimal, "a.toml").name, "Müller ε");
    EXPECT_TRUE(contains(message_of("timé = 3\n"), "folder/my.toml:1:4: not valid TOML"));
    EXPECT_TRUE(contains(message_of("timeˌ = 3\n"), "folder/my.toml:1:5: not valid TOML"));
}

TEST(CaseFile, PathsStartAtTheCaseFile) {
    const auto folder = std::filesystem::temp_directory_path() / "farfield_case_file_test";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "b.csv") << "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n";
    std::ofstream(folder / "c.toml") << "[initial]\nkind='file'\npath='b.csv'\n[time]\nstep=1\nend=-3\n";
    EXPECT_EQ(read_case(folder / "c.toml").initial.path, folder / "b.csv");
    EXPECT_EQ(read_case(folder / "c.toml").time.end, -3.0); // a snapshot may start earlier than 0
    EXPECT_TRUE(contains(message_of("[initial]\nkind='file'\npath='b.csv'\n[time]\nstep=1\nend=1\n"),
                         "there is no file folder/b.csv"));
    std::filesystem::remove_all(folder);
    EXPECT_THROW(read_case(folder / "c.toml"), IoError);
}

TEST(CaseFile, TheTableOfKeysNamesEachOnce) {
    const auto table = case_key_table();
    std::set<std::string> seen;
    for (const auto& key : case_file::keys()) {
        EXPECT_TRUE(seen.insert(case_file::full_name(key)).second) << case_file::full_name(key);
        EXPECT_TRUE(contains(table, "| `" + std::string(key.name) + "` |"));
    }
}

// What a model says it reads and what the table lets it have must be the same.
TEST(CaseFile, TheTableAgreesWithTheModels) {
    for (const auto& model : initial_models()) {
        if (model.kind == InitialKind::two_clusters) continue; // its text speaks of another model's keys
        std::vector<std::string> used;
        for (const auto& key : case_file::keys())
            if ((key.kinds & case_file::bit(model.kind)) != 0) used.emplace_back(key.name);
        std::vector<std::string> read;
        std::string word;
        for (const char c : std::string(model.keys) + ',') {
            if (c == ',') {
                if (!word.empty()) read.push_back(word);
                word.clear();
            } else if (c != ' ') {
                word += c;
            }
        }
        std::sort(used.begin(), used.end());
        std::sort(read.begin(), read.end());
        EXPECT_EQ(used, read) << name_of(model.kind);
    }
}
