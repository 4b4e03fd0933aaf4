// A run that is killed at random moments and restarted leaves the same bytes as one that was left alone; so
// do runs with other numbers of threads, and runs that were asked to stop.
#include "kill_support.h"
#include "run_support.h"

#include "dynamics/run/checkpoint.h"
#include "io/csv.h"

#include <chrono>
#include <csignal>
#include <random>
#include <sys/resource.h>
#include <sys/wait.h>

namespace farfield {
namespace {

using namespace test;

std::vector<Case> cases() {
    auto adaptive = small_case(Integrator::hermite4);
    adaptive.name = "adaptive";
    adaptive.time.adaptive = true;
    adaptive.time.step = 1.0 / 64;
    auto mixed = small_case(Integrator::yoshida4);
    mixed.name = "mixed";
    mixed.force.precision = Precision::mixed;
    auto odd_end = small_case();
    odd_end.name = "odd_end";
    odd_end.time.step = 0.0071;
    odd_end.force.variant = Variant::soa; // is continued by the same rung
    auto with_pictures = small_case();
    with_pictures.output.pictures = true;
    with_pictures.output.snapshot_every = 0.25;
    auto expansions = small_case();
    expansions.name = "expansions";
    expansions.force.method = Method::fmm;
    expansions.force.softening = 0.0;
    expansions.force.order = 5;
    expansions.force.leaf = 4; // so that a tree is worth its name
    auto softened = expansions;
    softened.name = "softened_expansions";
    softened.force.softening = 0.05;
    auto tree = small_case();
    tree.name = "tree_code";
    tree.force.method = Method::treecode;
    tree.force.tolerance = 1e-4;
    tree.force.leaf = 4;
    static const TemporaryFolder folder;
    auto raised = lattice_case(folder / "lattice.csv"); // a test below makes sure that its order is raised
    raised.name = "raised";
    auto automatic = small_case();
    automatic.name = "automatic";
    automatic.force.method = Method::automatic;
    automatic.force.tolerance = 1e-6;
    auto points = small_case(Integrator::rk4);
    points.name = "vortex_pairs";
    points.initial.kind = InitialKind::leapfrogging_pairs;
    points.force = {.kernel = Kernel::vortex2d};
    auto spreading = points;
    spreading.name = "vortex_sheet";
    spreading.initial.kind = InitialKind::vortex_sheet;
    spreading.force.sigma = 0.05;
    spreading.force.viscosity = 0.01;
    auto fast = spreading;
    fast.name = "vortices_by_expansions";
    fast.force.method = Method::fmm;
    fast.force.tolerance = 1e-5;
    fast.force.sigma = 1e-3;
    fast.force.viscosity = 1e-5;
    fast.force.leaf = 4;
    auto anew = spreading; // in other numbers, three times
    anew.name = "vortices_placed_anew";
    anew.initial.kind = InitialKind::vortex_patch;
    anew.initial.n = 36;
    anew.initial.radius = 0.1;
    anew.force.sigma = 0.2;
    anew.force.viscosity = 0.12;
    anew.force.reinitialise = Reinitialise::rbf;
    anew.force.overlap = 1.0;
    anew.force.vorticity_threshold = 1e-4;
    anew.force.residual_tolerance = 0.01;
    auto box = small_case(); // bodies cross its borders
    box.name = "periodic_plasma";
    box.initial.kind = InitialKind::plasma;
    box.initial.box = {1.0, 1.25, 1.5};
    box.initial.particle_charge = 0.05;
    box.force.kernel = Kernel::coulomb;
    box.force.method = Method::automatic;
    box.force.period = box.initial.box;
    box.force.tolerance = 1e-4;
    box.output.pictures = true;
    box.output.snapshot_every = 0.25;
    auto masses = box;
    masses.name = "periodic_masses";
    masses.force.kernel = Kernel::gravity;
    masses.force.background = Background::uniform;
    masses.force.tolerance = 0.0;
    masses.force.G = 0.01;
    masses.time.integrator = Integrator::yoshida4;
    masses.output.pictures = false;
    return {anew,     points,  spreading,  fast,     with_pictures, mixed,  small_case(Integrator::hermite4),
            adaptive, odd_end, expansions, softened, tree,          raised, automatic,
            box,      masses};
}

class EachCase : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(All, EachCase, testing::ValuesIn(cases()), [](const auto& test) {
    return test.param.name + "_" + std::string(name_of(test.param.time.integrator));
});

// In a child process: run (or go on with) the case; exit status 0 when it finished. Nothing of the parent's
// OpenMP threads survives a fork, so the child uses one thread.
pid_t start_child(Case simulation_case, const fs::path& out) {
    const auto pid = fork();
    if (pid != 0) return pid;
    simulation_case.force.threads = 1;
    try {
        run_case(simulation_case, {.out = out, .restart = true});
    } catch (const std::exception& error) {
        fprintf(stderr, "child: %s\n", error.what());
        _exit(1);
    }
    _exit(0);
}

TEST_P(EachCase, SurvivesBeingKilledAtAnyMoment) {
    auto random = seeded_generator();
    const TemporaryFolder folder;
    auto undisturbed = GetParam();
    undisturbed.force.threads = 1;
    const auto start = std::chrono::steady_clock::now();
    run_case(undisturbed, {.out = folder / "whole"});
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;

    for (int round = 0; round < 2; ++round) {
        const auto out = folder / "killed";
        fs::remove_all(out);
        // Mostly short lives, so that many of them fall into the same run.
        kill_until_finished(random, {.seconds = whole.count(), .first = 0.3},
                            [&] { return start_child(GetParam(), out); });
        if (HasFatalFailure()) return;
        expect_same_results(folder / "whole", out);
    }
}

TEST_P(EachCase, HasTheSameBitsForAnyNumberOfThreads) {
    const TemporaryFolder folder;
    auto simulation_case = GetParam();
    simulation_case.force.threads = 1;
    run_case(simulation_case, {.out = folder / "1"});
    for (int threads : {2, 7}) {
        simulation_case.force.threads = threads;
        const auto out = folder / (threads == 2 ? "2" : "7");
        run_case(simulation_case, {.out = out});
        expect_same_results(folder / "1", out);
    }
}

TEST_P(EachCase, StopsAndGoesOn) {
    const TemporaryFolder folder;
    auto simulation_case = GetParam();
    run_case(simulation_case, {.out = folder / "whole"});
    simulation_case.output.checkpoint_every = 0.0; // interruptions alone make checkpoints
    int stops = 0;
    bool finished = false;
    while (!finished) {
        int steps = 0;
        RunHooks hooks;
        hooks.stop_requested = [&] { return ++steps == 9; };
        const auto result =
            run_case(simulation_case, {.out = folder / "stopped", .restart = stops > 0}, hooks);
        finished = result.finished;
        stops += finished ? 0 : 1;
        if (!finished) {
            EXPECT_EQ(result.steps, 9U * static_cast<unsigned>(stops));
        }
    }
    EXPECT_GE(stops, 3);
    expect_same_results(folder / "whole", folder / "stopped");
}

TEST(Restart, TheCaseWhoseOrderIsRaisedRaisesIt) {
    for (const auto& simulation_case : cases()) {
        if (simulation_case.name != "raised") continue;
        const TemporaryFolder folder;
        Messages messages;
        run_case(simulation_case, {.out = folder / "out"}, messages.hooks());
        expect_contains(messages.text, {"the last step was taken again"});
    }
}

TEST(Restart, KeepsACheckpointByTheClock) {
    const TemporaryFolder folder;
    run_case(small_case(), {.out = folder / "whole"});
    auto simulation_case = small_case();
    simulation_case.output.checkpoint_every = 0.0;
    for (const double seconds : {0.0, 1e-9}) {
        const auto out = folder / (seconds > 0.0 ? "with" : "without");
        const auto copy = folder / (seconds > 0.0 ? "with_copy" : "without_copy");
        simulation_case.output.checkpoint_clock = seconds;
        RunHooks hooks;
        hooks.progress = [&](const RunProgress& now) {
            if (now.step == 20) fs::copy(out, copy); // what a power cut would leave
        };
        run_case(simulation_case, {.out = out}, hooks);
        EXPECT_EQ(fs::exists(copy / "checkpoint.h5"), seconds > 0.0);
        EXPECT_EQ(fs::exists(copy / "checkpoint.previous.h5"), seconds > 0.0);
        Messages messages;
        run_case(simulation_case, {.out = copy, .restart = true}, messages.hooks());
        EXPECT_NE(messages.text.find(seconds > 0.0 ? "continuing from step 20" : "no checkpoint"),
                  std::string::npos)
            << messages.text;
        expect_same_results(folder / "whole", copy);
    }
}

// Stops a small case in the middle, with two checkpoints written.
void run_half(const fs::path& out) {
    int steps = 0;
    RunHooks hooks;
    hooks.stop_requested = [&] { return ++steps == 30; };
    EXPECT_FALSE(run_case(small_case(), {.out = out}, hooks).finished);
    ASSERT_TRUE(fs::exists(out / "checkpoint.h5"));
    ASSERT_TRUE(fs::exists(out / "checkpoint.previous.h5"));
}

TEST(Restart, FallsBackToTheCheckpointBeforeADamagedOne) {
    const TemporaryFolder folder;
    run_case(small_case(), {.out = folder / "whole"});
    const auto damages = std::vector<std::pair<const char*, void (*)(std::string&)>>{
        {"truncated", [](std::string& bytes) { bytes.resize(bytes.size() / 2); }},
        {"empty", [](std::string& bytes) { bytes.clear(); }},
        {"one bit",
         [](std::string& bytes) {
             bytes[bytes.size() - 100] = static_cast<char>(bytes[bytes.size() - 100] ^ 1);
         }},
    };
    for (const auto& [name, damage] : damages) {
        const auto out = folder / name;
        run_half(out);
        auto bytes = bytes_of(out / "checkpoint.h5");
        damage(bytes);
        write_bytes(out / "checkpoint.h5", bytes);
        Messages messages;
        EXPECT_TRUE(run_case(small_case(), {.out = out, .restart = true}, messages.hooks()).finished);
        expect_contains(messages.text,
                        {"checkpoint.h5", "checkpoint.previous.h5", "continuing from step 24"});
        expect_same_results(folder / "whole", out);
    }
}

// As a kill between the two renames of a checkpoint leaves it.
TEST(Restart, ContinuesFromThePreviousCheckpointAlone) {
    const TemporaryFolder folder;
    run_case(small_case(), {.out = folder / "whole"});
    run_half(folder / "out");
    fs::remove(folder / "out" / "checkpoint.h5");
    Messages messages;
    EXPECT_TRUE(run_case(small_case(), {.out = folder / "out", .restart = true}, messages.hooks()).finished);
    expect_contains(messages.text, {"checkpoint.h5 is missing", "continuing from step 24"});
    expect_same_results(folder / "whole", folder / "out");
}

// A limit on the size of files stands for a disk that fills: writes stop in the middle of a row.
TEST(Restart, GoesOnAfterTheDiskWasFull) {
    const TemporaryFolder folder;
    auto simulation_case = small_case();
    simulation_case.force.threads = 1;
    simulation_case.output.snapshot_every = 0.25; // at steps 32 and 64; rows alone are written in between
    simulation_case.output.checkpoint_every = 0.25;
    run_case(simulation_case, {.out = folder / "whole"});
    const auto row_limit = bytes_of(folder / "whole" / "diagnostics.csv").size() * 2 / 3;
    const auto out = folder / "out";
    const auto pid = fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
        signal(SIGXFSZ, SIG_IGN);
        RunHooks hooks;
        hooks.progress = [&](const RunProgress& progress) {
            if (progress.step != 33) return;
            const rlimit limit{row_limit, row_limit};
            setrlimit(RLIMIT_FSIZE, &limit);
        };
        try {
            run_case(simulation_case, {.out = out}, hooks);
        } catch (const IoError& error) {
            _exit(std::string(error.what()).find("diagnostics.csv") != std::string::npos ? 0 : 3);
        } catch (...) {
            _exit(2);
        }
        _exit(1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    for (const auto& entry : fs::directory_iterator(out)) EXPECT_NE(entry.path().extension(), ".part");
    const auto rows = bytes_of(out / "diagnostics.csv");
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows.back(), '\n') << "part of a row was left";
    EXPECT_TRUE(run_case(simulation_case, {.out = out, .restart = true}).finished);
    expect_same_results(folder / "whole", out);
}

TEST(Restart, RefusesWhereEveryCheckpointIsDamaged) {
    const TemporaryFolder folder;
    run_half(folder / "out");
    for (const char* name : {"checkpoint.h5", "checkpoint.previous.h5"})
        write_bytes(folder / "out" / name, "rubbish");
    const auto text =
        error_of<IoError>([&] { run_case(small_case(), {.out = folder / "out", .restart = true}); });
    expect_contains(text, {"checkpoint.h5", "checkpoint.previous.h5", "remove"});
}

TEST(Restart, FindsEveryFlippedByteOfACheckpoint) {
    const TemporaryFolder folder;
    run_half(folder / "out");
    const auto path = folder / "out" / "checkpoint.h5";
    const auto bytes = bytes_of(path);
    EXPECT_NO_THROW(read_checkpoint(path));
    std::mt19937 random(3);
    for (int i = 0; i < 200; ++i) {
        auto damaged = bytes;
        const auto place = random() % damaged.size();
        damaged[place] = static_cast<char>(damaged[place] ^ (1 << random() % 8));
        write_bytes(path, damaged);
        EXPECT_THROW(read_checkpoint(path), Error) << "byte " << place;
    }
}

TEST(Restart, RefusesTheCheckpointOfAnotherCase) {
    const TemporaryFolder folder;
    run_half(folder / "out");
    const auto before = bytes_of(folder / "out" / "checkpoint.h5");
    const auto refused = [&](auto&& change, std::initializer_list<std::string> parts) {
        auto other = small_case();
        change(other);
        const auto text =
            error_of<InvalidArgument>([&] { run_case(other, {.out = folder / "out", .restart = true}); });
        expect_contains(text, parts);
    };
    refused([](Case& c) { c.force.softening = 0.02; },
            {"force.softening was 0.05 and is 0.02 now", "case.toml"});
    refused([](Case& c) { c.initial.seed = 8; }, {"initial.seed was 7 and is 8 now"});
    refused([](Case& c) { c.name = "other"; }, {"another case: name was"});
    refused([](Case& c) { c.time.integrator = Integrator::yoshida4; }, {"time.integrator"});
    refused([](Case& c) { c.output.snapshot_every = 0.25; }, {"output.snapshot_every"});
    refused([](Case& c) { c.time.end = 0.1; }, {"time.end = 0.1", "t = 0.234375"});
    refused([](Case& c) { c.force.isa = Isa::sse42; }, {"isa"});
    EXPECT_EQ(bytes_of(folder / "out" / "checkpoint.h5"), before);
}

TEST(Restart, RefusesACaseThatDiffersEvenWithoutACheckpoint) {
    const TemporaryFolder folder;
    run_half(folder / "out");
    fs::remove(folder / "out" / "checkpoint.h5");
    fs::remove(folder / "out" / "checkpoint.previous.h5");
    auto other = small_case();
    other.initial.n = 50;
    const auto text =
        error_of<InvalidArgument>([&] { run_case(other, {.out = folder / "out", .restart = true}); });
    expect_contains(text, {"initial.n was 48 and is 50 now"});
}

TEST(Restart, StartsFromTheBeginningWithoutACheckpointAndSaysSo) {
    const TemporaryFolder folder;
    run_case(small_case(), {.out = folder / "whole"});
    run_half(folder / "out");
    fs::remove(folder / "out" / "checkpoint.h5");
    fs::remove(folder / "out" / "checkpoint.previous.h5");
    Messages messages;
    EXPECT_TRUE(run_case(small_case(), {.out = folder / "out", .restart = true}, messages.hooks()).finished);
    expect_contains(messages.text, {"no checkpoint", "from the beginning"});
    expect_same_results(folder / "whole", folder / "out");
}

TEST(Restart, RefusesLostRowsOfDiagnostics) {
    const TemporaryFolder folder;
    run_half(folder / "out");
    write_bytes(folder / "out" / "diagnostics.csv", "time\n");
    const auto text =
        error_of<IoError>([&] { run_case(small_case(), {.out = folder / "out", .restart = true}); });
    expect_contains(text, {"diagnostics.csv", "5 bytes", "rows have been lost"});
}

TEST(Restart, OfAFinishedRunChangesNothing) {
    const TemporaryFolder folder;
    run_case(small_case(), {.out = folder / "out"});
    const auto results = results_in(folder / "out");
    const auto summary = bytes_of(folder / "out" / "summary.json");
    Messages messages;
    const auto result = run_case(small_case(), {.out = folder / "out", .restart = true}, messages.hooks());
    EXPECT_TRUE(result.finished);
    expect_contains(messages.text, {"already reached time.end = 0.5"});
    EXPECT_TRUE(results_in(folder / "out") == results);
    EXPECT_EQ(bytes_of(folder / "out" / "summary.json"), summary);
}

// The end is on the output grid here, so a run in two parts is like one in one.
TEST(Restart, ContinuesAFinishedRunToALaterEnd) {
    const TemporaryFolder folder;
    auto longer = small_case();
    longer.time.end = 1.0;
    run_case(longer, {.out = folder / "whole"});
    run_case(small_case(), {.out = folder / "out"});
    EXPECT_EQ(run_case(longer, {.out = folder / "out", .restart = true}).time, 1.0);
    expect_same_results(folder / "whole", folder / "out");
}

// The shortened last step leaves the grid; what follows counts from there.
TEST(Restart, ContinuesAfterAShortenedLastStep) {
    const TemporaryFolder folder;
    auto simulation_case = small_case();
    simulation_case.time.step = 0.3;
    EXPECT_EQ(run_case(simulation_case, {.out = folder / "out"}).steps, 2U);
    simulation_case.time.end = 1.0;
    EXPECT_EQ(run_case(simulation_case, {.out = folder / "out", .restart = true}).steps,
              4U); // 0.3, 0.5, 0.8, 1.0
    const auto times = *read_csv(folder / "out" / "diagnostics.csv").find("time");
    EXPECT_EQ(times, (std::vector<double>{0.0, 0.3, 0.5, 0.8, 1.0}));
}

TEST(Restart, RefusesAFolderThatAnotherRunWrites) {
    const TemporaryFolder folder;
    std::string text;
    RunHooks hooks;
    hooks.stop_requested = [&] {
        text = error_of<InvalidArgument>(
            [&] { run_case(small_case(), {.out = folder / "out", .restart = true}); });
        return true;
    };
    run_case(small_case(), {.out = folder / "out"}, hooks);
    expect_contains(text, {"diagnostics.csv", "another run"});
}

} // namespace
} // namespace farfield
