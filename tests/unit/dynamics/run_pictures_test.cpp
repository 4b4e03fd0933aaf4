// The pictures that a run makes of few bodies: names and trails, also after a restart.
#include "run_support.h"

#include "io/snapshot.h"

namespace farfield {
namespace {

using namespace test;

Case planets() {
    Case out;
    out.name = "planets";
    out.initial.kind = InitialKind::solar_system;
    out.force.G = natural_G(out.initial);
    out.time = {.integrator = Integrator::hermite4, .step = 2.0, .end = 80.0};
    out.output = {.snapshot_every = 40.0, .diagnostics_every = 8.0, .animation = true, .picture_width = 4.0};
    return out;
}

TEST(RunPictures, HaveTrailsAndNamesAfterARestart) {
    const TemporaryFolder folder;
    run_case(planets(), {.out = folder / "whole"});
    int steps = 0;
    RunHooks hooks;
    hooks.stop_requested = [&] { return ++steps == 30; }; // between rows; trails are finer than snapshots
    const auto stopped = run_case(planets(), {.out = folder / "parts"}, hooks);
    ASSERT_FALSE(stopped.finished);
    EXPECT_FALSE(fs::exists(folder / "parts/animation.png"));
    const auto result = run_case(planets(), {.out = folder / "parts", .restart = true});
    ASSERT_TRUE(result.finished);
    expect_same_results(folder / "whole", folder / "parts");
    EXPECT_TRUE(bytes_of(folder / "whole/animation.png") == bytes_of(folder / "parts/animation.png"));
    EXPECT_NE(std::find(result.files.begin(), result.files.end(), folder / "parts/animation.png"),
              result.files.end());
    for (const char* name : {"parts/snapshot_0000.h5", "parts/snapshot_0002.h5"}) {
        const auto names = read_snapshot(folder / name).info.body_names;
        ASSERT_EQ(names.size(), 10U);
        EXPECT_EQ(names[0], "Sun");
        EXPECT_EQ(names[9], "Neptune");
    }
}

TEST(RunPictures, NamesAreKeptByARunFromASnapshot) {
    const TemporaryFolder folder;
    auto first = planets();
    first.output.pictures = first.output.animation = false;
    run_case(first, {.out = folder / "first"});
    auto second = first;
    second.initial = {};
    second.initial.kind = InitialKind::file;
    second.initial.path = folder / "first/snapshot_0002.h5";
    second.time.end = 84.0;
    run_case(second, {.out = folder / "second"});
    EXPECT_EQ(read_snapshot(folder / "second/snapshot_0001.h5").info.body_names.at(3), "Earth");
}

} // namespace
} // namespace farfield
