// run_case on a GPU: the files of a run that was killed, stopped or left alone are the same, and those of the
// CPU to the precision.
#include "break_gpu.h"
#include "support.h"
#include "unit/dynamics/kill_support.h"
#include "unit/dynamics/run_support.h"

#include "dynamics/run/checkpoint.h"
#include "gpu/sizes.h"
#include "io/csv.h"

#include <chrono>
#include <sys/wait.h>

namespace farfield {
namespace {

using namespace test;

Case gpu_case(int n = gpu_test::sized(1500, 150), Integrator integrator = Integrator::leapfrog) {
    auto out = small_case(integrator);
    out.initial.n = n;
    out.force.precision = Precision::mixed;
    out.force.device = {.kind = DeviceKind::cuda};
    out.time.step = gpu_test::sized(1.0 / 512, 1.0 / 32);
    out.time.end = 2.0;
    return out;
}

TEST(GpuRun, LeavesTheFilesOfTheCpuToThePrecision) {
    NEEDS_GPU();
    const TemporaryFolder folder;
    auto simulation_case = gpu_case(300);
    simulation_case.force.precision = Precision::float64;
    simulation_case.time.end = 0.25;
    run_case(simulation_case, {.out = folder / "gpu"});
    simulation_case.force.device = {.kind = DeviceKind::cpu};
    run_case(simulation_case, {.out = folder / "cpu"});
    const auto gpu = read_csv(folder / "gpu" / "diagnostics.csv"),
               cpu = read_csv(folder / "cpu" / "diagnostics.csv");
    ASSERT_EQ(gpu.rows(), cpu.rows());
    for (const char* column : {"time", "kinetic", "potential", "total", "r50"})
        for (std::size_t row = 0; row < static_cast<std::size_t>(cpu.rows()); ++row)
            EXPECT_NEAR((*gpu.find(column))[row], (*cpu.find(column))[row], 1e-12) << column << row;
    expect_contains(bytes_of(folder / "gpu" / "summary.json"), {"\"device\": \"cuda\""});
    EXPECT_EQ(results_in(folder / "gpu").size(), results_in(folder / "cpu").size());
}

TEST(GpuRun, StopsAndGoesOn) {
    NEEDS_GPU();
    for (const std::size_t n :
         gpu_test::sizes_up_to(1500, {1500, 8500})) { // the persistent kernel and graphs
        const TemporaryFolder folder;
        auto simulation_case = gpu_case(static_cast<int>(n), Integrator::yoshida4);
        simulation_case.time.end = 0.5;
        run_case(simulation_case, {.out = folder / "whole"});
        simulation_case.output.checkpoint_every = 0.0; // interruptions alone make checkpoints
        int stops = 0;
        for (bool finished = false; !finished;) {
            int polls = 0;
            RunHooks hooks;
            hooks.stop_requested = [&] { return ++polls == 3; };
            finished =
                run_case(simulation_case, {.out = folder / "stopped", .restart = stops > 0}, hooks).finished;
            stops += finished ? 0 : 1;
        }
        EXPECT_GE(stops, 2);
        expect_same_results(folder / "whole", folder / "stopped");
    }
}

constexpr const char* child_folder = "FARFIELD_TEST_CHILD_FOLDER";
constexpr const char* child_breaks = "FARFIELD_TEST_CHILD_BREAKS";

// Not a test by itself: a process of its own, because CUDA does not survive a fork.
TEST(GpuRunChild, Runs) {
    const char* folder = std::getenv(child_folder);
    if (folder == nullptr) GTEST_SKIP() << "runs as a child of another test";
    RunHooks hooks;
    if (std::getenv(child_breaks) != nullptr)
        hooks.progress = [](const RunProgress& progress) {
            if (progress.time > 1.0) break_gpu();
        };
    if (hooks.progress)
        expect_contains(
            error_of<DeviceError>([&] { run_case(gpu_case(), {.out = folder, .restart = true}, hooks); }),
            {"CUDA failed while"});
    else
        run_case(gpu_case(), {.out = folder, .restart = true});
}

pid_t start_child(const fs::path& out, bool breaks = false) {
    const auto pid = fork();
    if (pid != 0) return pid;
    for (const char* part : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX"})
        unsetenv(part); // the child has one test
    setenv(child_folder, out.c_str(), 1);
    if (breaks) setenv(child_breaks, "1", 1);
    execl("/proc/self/exe", "gpu_tests", "--gtest_filter=GpuRunChild.Runs", "--gtest_brief=1", nullptr);
    _exit(127);
}

int status_of(pid_t pid) {
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return status;
}

TEST(GpuRun, GoesOnAfterALostGpu) {
    NEEDS_GPU();
    const TemporaryFolder folder;
    ASSERT_EQ(status_of(start_child(folder / "whole")), 0);
    ASSERT_EQ(status_of(start_child(folder / "broken", true)), 0);
    EXPECT_TRUE(fs::exists(folder / "broken" / "checkpoint.h5"));
    EXPECT_FALSE(fs::exists(folder / "broken" / "summary.json"));
    ASSERT_EQ(status_of(start_child(folder / "broken")), 0);
    expect_same_results(folder / "whole", folder / "broken");
}

TEST(GpuRun, KeepsItsCheckpointWhereMemoryIsFull) {
    NEEDS_GPU();
    const TemporaryFolder folder;
    const auto simulation_case = gpu_case(200000); // some 100 MB
    auto short_case = simulation_case;
    short_case.time.end = short_case.time.step;
    run_case(short_case, {.out = folder / "out"});
    const auto before = bytes_of(folder / "out" / "checkpoint.h5");
    auto longer = short_case;
    longer.time.end = 2 * short_case.time.step;
    const auto taken = fill_memory();
    const auto text =
        error_of<DeviceError>([&] { run_case(longer, {.out = folder / "out", .restart = true}); });
    give_back(taken);
    // Which call meets it first depends on the driver.
    expect_contains(text, {"out of memory", "memory is full"});
    EXPECT_EQ(bytes_of(folder / "out" / "checkpoint.h5"), before);
    EXPECT_TRUE(run_case(longer, {.out = folder / "out", .restart = true}).finished);
}

TEST(GpuRun, SurvivesBeingKilledAtAnyMoment) {
    NEEDS_GPU();
    auto random = seeded_generator();
    const TemporaryFolder folder;
    const auto start = std::chrono::steady_clock::now();
    ASSERT_EQ(status_of(start_child(folder / "whole")), 0);
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
    kill_until_finished(random, {.seconds = whole.count(), .first = 0.8, .least = 0.3},
                        [&] { return start_child(folder / "killed"); });
    if (HasFatalFailure()) return;
    expect_same_results(folder / "whole", folder / "killed");
}

TEST(GpuRun, RefusesTheCheckpointOfAnotherDevice) {
    NEEDS_GPU();
    const TemporaryFolder folder;
    auto simulation_case = gpu_case(200);
    simulation_case.time.end = 0.1;
    run_case(simulation_case, {.out = folder / "gpu"});
    EXPECT_EQ(read_checkpoint(folder / "gpu" / "checkpoint.h5").backend.device, DeviceKind::cuda);
    simulation_case.time.end = 0.2;
    simulation_case.force.device = {.kind = DeviceKind::cpu};
    expect_contains(error_of<InvalidArgument>(
                        [&] { run_case(simulation_case, {.out = folder / "gpu", .restart = true}); }),
                    {"device = cuda, not cpu", "new run"});
    simulation_case.force.device = {}; // stays where it began
    EXPECT_TRUE(run_case(simulation_case, {.out = folder / "gpu", .restart = true}).finished);
    EXPECT_EQ(read_checkpoint(folder / "gpu" / "checkpoint.h5").backend.device, DeviceKind::cuda);
}

} // namespace
} // namespace farfield
