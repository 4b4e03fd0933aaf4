// What run_case leaves behind: which files and rows, at which times; the folders and options it refuses.
#include "run_support.h"

#include "dynamics/case_file/keys.h"
#include "dynamics/run/case_text.h"
#include "dynamics/run/outputs.h"
#include "io/csv.h"
#include "io/snapshot.h"

#include <nlohmann/json.hpp>

namespace farfield {
namespace {

using namespace test;

TEST(Run, LeavesTheFilesItPromises) {
    const TemporaryFolder folder;
    auto simulation_case = small_case();
    simulation_case.output.pictures = true;
    const auto result = run_case(simulation_case, {.out = folder / "deep/out"});
    EXPECT_TRUE(result.finished);
    EXPECT_EQ(result.steps, 64U);
    EXPECT_EQ(result.time, 0.5);
    for (const char* name :
         {"case.toml", "diagnostics.csv", "checkpoint.h5", "summary.json", "snapshot_0000.h5",
          "snapshot_0004.h5", "snapshot_0000.png", "snapshot_0004.png", "diagnostics.png"})
        EXPECT_NE(std::find(result.files.begin(), result.files.end(), folder / "deep/out" / name),
                  result.files.end())
            << name;
    EXPECT_FALSE(fs::exists(folder / "deep/out/snapshot_0005.h5"));
    for (const auto& entry : fs::directory_iterator(folder / "deep/out"))
        EXPECT_NE(entry.path().extension(), ".part");

    const auto last = read_snapshot(folder / "deep/out/snapshot_0004.h5");
    EXPECT_EQ(last.info.time, 0.5);
    EXPECT_EQ(last.bodies.size(), 48);
    const auto summary = nlohmann::json::parse(bytes_of(folder / "deep/out/summary.json"));
    EXPECT_EQ(summary.at("steps"), 64);
    EXPECT_EQ(summary.at("finished"), true);
    EXPECT_EQ(summary.at("options").at("initial").at("n"), 48);
    EXPECT_EQ(summary.at("options").at("force").at("softening"), 0.05);
    EXPECT_EQ(summary.at("relative_energy_error"), result.relative_energy_error);
    EXPECT_GT(summary.at("this_process").at("pairs_per_second").get<double>(), 0.0);
}

// Steps as long as an orbit's innermost part.
Case hasty_case() {
    auto out = small_case();
    out.force.softening = 0.0;
    out.time.step = 0.25;
    out.time.end = 5.0;
    return out;
}

TEST(Run, WarnsOfAnEnergyThatIsOff) {
    const TemporaryFolder folder;
    const auto hasty = run_case(hasty_case(), {.out = folder / "hasty"});
    const auto table = read_csv(folder / "hasty/diagnostics.csv");
    const auto at = [&](const char* name, std::size_t row) { return (*table.find(name))[row]; };
    const double scale =
        std::max(std::abs(at("total", 0)), (at("kinetic", 0) + std::abs(at("potential", 0))) / 10);
    const auto last = static_cast<std::size_t>(table.rows() - 1);
    EXPECT_DOUBLE_EQ(hasty.energy_error, std::abs(at("total", last) - at("total", 0)) / scale);
    EXPECT_GT(hasty.energy_error, 0.01);
    EXPECT_NE(hasty.warning.find("output.energy_warning"), std::string::npos) << hasty.warning;
    const auto summary = nlohmann::json::parse(bytes_of(folder / "hasty/summary.json"));
    EXPECT_EQ(summary.at("warnings").at(0), hasty.warning);
    EXPECT_EQ(summary.at("energy_error"), hasty.energy_error);

    auto not_asked = hasty_case();
    not_asked.output.energy_warning = 0.0;
    EXPECT_EQ(run_case(not_asked, {.out = folder / "not_asked"}).warning, "");

    const auto good = run_case(small_case(), {.out = folder / "good"});
    EXPECT_EQ(good.warning, "");
    EXPECT_LT(good.energy_error, 0.01);
    EXPECT_EQ(nlohmann::json::parse(bytes_of(folder / "good/summary.json")).at("warnings").size(), 0U);
}

TEST(Run, WritesRowsWithTheAgreedColumns) {
    const TemporaryFolder folder;
    run_case(small_case(), {.out = folder / "out"});
    const auto text = bytes_of(folder / "out" / "diagnostics.csv");
    EXPECT_EQ(text.substr(0, text.find('\n')),
              "time,kinetic,potential,total,relative_energy_error,px,py,pz,lx,ly,lz,"
              "virial_ratio,r10,r50,r90");
    const auto table = read_csv(folder / "out" / "diagnostics.csv");
    ASSERT_EQ(table.rows(), 17);
    for (int k = 0; k <= 16; ++k) EXPECT_EQ((*table.find("time"))[k], k / 32.0);
    EXPECT_EQ((*table.find("relative_energy_error"))[0], 0.0);
    EXPECT_NE((*table.find("relative_energy_error"))[16], 0.0);
    EXPECT_LT(std::abs((*table.find("relative_energy_error"))[16]), 1e-2);
}

TEST(Run, WritesOnlyStartAndEndWithoutIntervals) {
    const TemporaryFolder folder;
    auto simulation_case = small_case();
    simulation_case.output = {.pictures = false};
    run_case(simulation_case, {.out = folder / "out"});
    EXPECT_EQ(read_csv(folder / "out" / "diagnostics.csv").rows(), 2);
    EXPECT_TRUE(fs::exists(folder / "out" / "snapshot_0001.h5"));
    EXPECT_FALSE(fs::exists(folder / "out" / "snapshot_0002.h5"));
    EXPECT_FALSE(fs::exists(folder / "out" / "snapshot_0000.png"));
    EXPECT_TRUE(fs::exists(folder / "out" / "checkpoint.h5"));
    EXPECT_FALSE(fs::exists(folder / "out" / "checkpoint.previous.h5"));
}

TEST(Run, OfNoLengthLeavesTheStart) {
    const TemporaryFolder folder;
    auto simulation_case = small_case();
    simulation_case.time.end = 0.0;
    EXPECT_TRUE(run_case(simulation_case, {.out = folder / "out"}).finished);
    EXPECT_EQ(read_csv(folder / "out" / "diagnostics.csv").rows(), 1);
    EXPECT_TRUE(fs::exists(folder / "out" / "checkpoint.h5"));
    EXPECT_FALSE(fs::exists(folder / "out" / "snapshot_0001.h5"));
}

TEST(Run, ShortensTheLastStepAndSaysSo) {
    const TemporaryFolder folder;
    auto simulation_case = small_case();
    simulation_case.time.step = 0.3;
    Messages messages;
    const auto result = run_case(simulation_case, {.out = folder / "out"}, messages.hooks());
    EXPECT_EQ(result.steps, 2U);
    EXPECT_EQ(result.time, 0.5);
    expect_contains(messages.text, {"time.end = 0.5", "time.step = 0.3", "shortened to 0.2"});
}

TEST(Run, SaysThatHermiteComputesInDouble) {
    const TemporaryFolder folder;
    auto simulation_case = small_case(Integrator::hermite4);
    simulation_case.force.precision = Precision::float32;
    Messages messages;
    run_case(simulation_case, {.out = folder / "float"}, messages.hooks());
    expect_contains(messages.text, {"hermite4", "in double", "precision = float"});
    simulation_case.force.precision = Precision::float64;
    run_case(simulation_case, {.out = folder / "double"});
    expect_same_results(folder / "float", folder / "double");
}

TEST(Run, RefusesAUsedFolder) {
    const TemporaryFolder folder;
    run_case(small_case(), {.out = folder / "out"});
    const auto before = results_in(folder / "out");
    const auto text = error_of<InvalidArgument>([&] { run_case(small_case(), {.out = folder / "out"}); });
    expect_contains(text, {(folder / "out").string(), "earlier run", "restart"});
    EXPECT_TRUE(results_in(folder / "out") == before);
}

TEST(Run, RefusesAFolderItCannotWrite) {
    const TemporaryFolder folder;
    write_bytes(folder / "file", "x");
    expect_contains(error_of<IoError>([&] { run_case(small_case(), {.out = folder / "file"}); }),
                    {(folder / "file").string(), "choose a folder"});
    expect_contains(error_of<IoError>([&] { run_case(small_case(), {.out = "/proc/farfield"}); }),
                    {"/proc/farfield", "choose a folder"});
    expect_contains(error_of<InvalidArgument>([&] { run_case(small_case(), {.out = ""}); }), {"empty name"});
}

TEST(Run, LeavesNoFilesOfACaseThatIsNotAllowed) {
    const TemporaryFolder folder;
    auto simulation_case = small_case();
    simulation_case.time.step = 0.0;
    expect_contains(error_of<InvalidArgument>([&] { run_case(simulation_case, {.out = folder / "out"}); }),
                    {"time.step is 0"});
    EXPECT_TRUE(fs::is_empty(folder / "out"));
}

TEST(Run, ReportsProgressOfEveryStep) {
    const TemporaryFolder folder;
    std::vector<RunProgress> all;
    RunHooks hooks;
    hooks.progress = [&](const RunProgress& progress) { all.push_back(progress); };
    run_case(small_case(), {.out = folder / "out"}, hooks);
    ASSERT_EQ(all.size(), 65U);
    EXPECT_EQ(all.front().step, 0U);
    EXPECT_EQ(all.back().step, 64U);
    EXPECT_EQ(all.back().time, 0.5);
    EXPECT_EQ(all.back().seconds_left, 0.0);
    EXPECT_GT(all.back().pairs_per_second, 0.0);
    for (const auto& progress : all) EXPECT_EQ(progress.steps_total, 64U);
}

TEST(CaseText, ReadsBackAsTheSameCase) {
    const TemporaryFolder folder;
    auto simulation_case = small_case(Integrator::hermite4);
    simulation_case.name = "two \"clusters\" \\";
    simulation_case.initial.kind = InitialKind::two_clusters;
    simulation_case.initial.model = InitialKind::king;
    simulation_case.initial.w0 = 7.0;
    simulation_case.initial.separation = 1e-300;
    simulation_case.time.adaptive = true;
    simulation_case.time.eta = 0.1 + 0.2;
    write_bytes(folder / "case.toml", case_toml(simulation_case));
    const auto read = read_case(folder / "case.toml");
    EXPECT_EQ(case_toml(read), case_toml(simulation_case));
    EXPECT_EQ(deciding_text(read), deciding_text(simulation_case));
    EXPECT_EQ(read.time.eta, 0.1 + 0.2);
    EXPECT_EQ(read.initial.w0, 7.0);
}

// A key that is added to case files must also tell one case from another, or be left out on purpose.
TEST(CaseText, HasEveryKeyThatTheCaseUses) {
    for (const auto kernel : {Kernel::gravity, Kernel::vortex2d})
        for (auto name : names_of<InitialKind>()) {
            Case simulation_case;
            simulation_case.force.kernel = kernel;
            simulation_case.force.sigma = kernel == Kernel::vortex2d ? 0.1 : 0.0;
            simulation_case.name = std::string("x");
            simulation_case.initial.kind = *from_name<InitialKind>(name);
            simulation_case.initial.length_unit = "kpc";
            simulation_case.initial.mass_unit = "1e10 Msun";
            simulation_case.initial.velocity_unit = "km/s";
            simulation_case.time.integrator = Integrator::hermite4;
            simulation_case.time.adaptive = true;
            simulation_case.force.tolerance = 1e-6; // none is not written, as are no angles and no boxes
            simulation_case.force.theta = 0.5;
            simulation_case.initial.box = {1.0, 2.0, 3.0};
            if (kernel == Kernel::gravity) simulation_case.force.period = {4.0, 4.0, 4.0};
            const auto entries = case_entries(simulation_case);
            for (const auto& key : case_file::keys()) {
                const auto same = [&](const CaseEntry& e) {
                    return e.section == key.section && e.key == key.name;
                };
                EXPECT_EQ(std::any_of(entries.begin(), entries.end(), same),
                          case_file::used_by(key, simulation_case.initial) &&
                              case_file::used_by(key, simulation_case.force.kernel))
                    << case_file::full_name(key) << " with " << name;
            }
        }
}

// Steps of 0.1 never add up to 0.3 or 0.7 exactly in binary; the outputs are still on the step that is meant.
TEST(OutputTimes, AreMetByTheStepThatIsMeant) {
    const OutputTimes times{.start = 0.0, .every = 0.3, .step = 0.1};
    std::uint64_t next = 1;
    std::vector<int> met;
    for (int n = 1; n <= 30; ++n) {
        const double t = n * 0.1;
        if (!times.due(t, next)) continue;
        met.push_back(n);
        next = times.next_after(t);
    }
    EXPECT_EQ(met, (std::vector<int>{3, 6, 9, 12, 15, 18, 21, 24, 27, 30}));
    const OutputTimes dense{.start = 5.0, .every = 0.01, .step = 0.1};
    EXPECT_TRUE(dense.due(5.1, 1));
    EXPECT_EQ(dense.next_after(5.1), 11U);
    // Far shorter than a step, or than the spacing of times: due at every step, and found without counting.
    for (const double every : {1e-18, 1e-300}) {
        const OutputTimes all{.start = 0.0, .every = every, .step = 0.1};
        EXPECT_TRUE(all.due(0.1, 1));
        EXPECT_TRUE(all.due(0.2, all.next_after(0.1)));
    }
    EXPECT_FALSE((OutputTimes{.start = 0.0, .every = 0.0, .step = 0.1}.due(100.0, 1)));
}

} // namespace
} // namespace farfield
