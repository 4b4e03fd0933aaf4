// What run_stencil leaves in its folder, read back; the command line's tests cover stopping and continuing.
#include "io/hdf5.h"

#include <farfield/stencil_run.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace farfield;
namespace fs = std::filesystem;

// x from 1 in cells of 1/4, z from −1; u lies half a cell off in x. Steps of 1/2.
constexpr const char* program = R"(program placed
grid g[x: 1 to 3, z: -1 to 0.5] sampling 4
field u at (x+1/2, z) = X
field w : float = Z
update add: u += 1
update keep: w *= 1
step: add, keep
output u, w every 2
time dt = 0.5, steps = 4
)";

class StencilRunFiles : public ::testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("farfield-stencil-" + std::to_string(::getpid()));
        fs::remove_all(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }

    StencilRunSettings settings(const fs::path& out) const {
        StencilRunSettings settings;
        settings.out = folder_ / out;
        settings.options.target = "interpreter";
        settings.checkpoint_seconds = 0;
        return settings;
    }
    StencilRunResult run(const std::string& text) const {
        return run_stencil(StencilProgram::from_text(text), settings(""));
    }
    static std::string bytes(const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }
    /// What the refusal of these settings says.
    static std::string refusal(const StencilRunSettings& settings) {
        try {
            run_stencil(StencilProgram::from_text(program), settings);
        } catch (const InvalidArgument& error) {
            return error.what();
        }
        return "not refused";
    }

    fs::path folder_;
};

TEST_F(StencilRunFiles, FieldsLieWhereTheProgramSays) {
    const auto result = run(program);
    EXPECT_TRUE(result.finished);
    EXPECT_EQ(result.time, 2.0);
    const auto file = hdf5::File::open(folder_ / "u_00000004.vtkhdf");
    const auto group = file.root().group("VTKHDF");
    EXPECT_EQ(group.attribute_array<double>("Origin"), (std::vector<double>{1.125, 0, -1}));
    EXPECT_EQ(group.attribute_array<double>("Spacing"), (std::vector<double>{0.25, 1, 0.25}));
    EXPECT_EQ(group.attribute_array<double>("Stagger"), (std::vector<double>{0.5, 0, 0}));
    EXPECT_EQ(group.attribute_array<std::int64_t>("WholeExtent"),
              (std::vector<std::int64_t>{0, 7, 0, 0, 0, 5}));
    EXPECT_EQ(group.attribute<double>("Time"), 2.0);
    const auto u = group.group("PointData").dataset("u");
    EXPECT_EQ(u.shape(), (hdf5::Shape{6, 8}));            // z, x
    EXPECT_EQ(u.read<double>()[2], 1.125 + 2 * 0.25 + 4); // X of the third value, and a 1 for each step
    const auto other = hdf5::File::open(folder_ / "w_00000002.vtkhdf");
    const auto w = other.root().group("VTKHDF");
    EXPECT_EQ(w.attribute_array<double>("Origin"), (std::vector<double>{1, 0, -1}));
    EXPECT_EQ(w.group("PointData").dataset("w").read<double>()[8], -0.75); // the second row
    EXPECT_FALSE(fs::exists(folder_ / "u_00000000.vtkhdf"));
    EXPECT_FALSE(fs::exists(folder_ / "series.csv")); // nothing is recorded
}

TEST_F(StencilRunFiles, TheFirstStepThatIsNotFiniteIsFound) {
    // 2^(2^n) leaves the doubles when n = 10: in the tenth squaring, which is step 9
    const std::string squares =
        "grid g[x: 4]\nfield u on g = 1\nfield v on g = 2\nupdate a on x == 1: v = v*v\n"
        "step: a\ntime steps = 1000\n";
    try {
        run(squares);
        FAIL() << "an infinite value was not found";
    } catch (const Error& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("'v' became inf in the cell (x = 1) in step 9"), std::string::npos) << text;
    }
}

// It is noticed at another step in each of the runs, and one of them was stopped on the way.
TEST_F(StencilRunFiles, ARunThatWentWrongLeavesTheSameFilesWheneverThatIsNoticed) {
    // 1.5^n leaves the doubles when n = 1751; inf − inf is NaN from the next step on
    const auto grows = StencilProgram::from_text(
        "grid g[x: 4]\nfield v on g = 1\nfield w on g = 0\nupdate a: v *= 1.5\nupdate b: w = v - v\nstep: a, "
        "b\n"
        "record total = max of v every 3\nrecord none = sum of w\ntime steps = 100000\n");
    const auto end_of = [&](const StencilRunSettings& settings,
                            const StencilRunHooks& hooks = {}) -> std::string {
        try {
            if (!run_stencil(grows, settings, hooks).finished) return "stopped";
        } catch (const Error& error) {
            return error.what();
        }
        return "nothing noticed";
    };
    const auto with = [&](const fs::path& out, std::int64_t checkpoints, std::int64_t every) {
        auto given = settings(out);
        given.checkpoint_steps = checkpoints;
        given.animations = {{"w", folder_ / (out.string() + ".png"), every}};
        return given;
    };
    fs::create_directories(folder_);
    const auto told = end_of(with("plain", 0, 50));
    EXPECT_NE(told.find("'v' became inf in the cell (x = 0) in step 1750"), std::string::npos) << told;
    EXPECT_EQ(end_of(with("often", 97, 50)), told);
    EXPECT_EQ(end_of(with("late", 5000, 50)), told);
    StencilRunHooks stop;
    stop.stop_requested = [] { return true; };
    auto parts = with("parts", 0, 50);
    EXPECT_EQ(end_of(parts, stop), "stopped");
    parts.restart = true;
    EXPECT_EQ(end_of(parts), told);
    EXPECT_EQ(end_of(parts), told); // and once more from the step before it
    const auto series = bytes(folder_ / "plain/series.csv");
    EXPECT_EQ(std::count(series.begin(), series.end(), '\n'), 1 + 1750);
    EXPECT_EQ(series.find("inf"), std::string::npos);
    EXPECT_EQ(series.find("-nan"), std::string::npos); // where `total` is not due
    for (const auto* folder : {"often", "late", "parts"}) {
        EXPECT_EQ(bytes(folder_ / folder / "series.csv"), series) << folder;
        EXPECT_EQ(bytes(folder_ / folder / "w.frames"), bytes(folder_ / "plain/w.frames")) << folder;
        EXPECT_EQ(bytes(folder_ / folder / "checkpoint.h5"), bytes(folder_ / "plain/checkpoint.h5"))
            << folder;
    }
}

TEST_F(StencilRunFiles, AStoppedRunGoesOnToTheSameBytes) {
    const auto placed = StencilProgram::from_text(program);
    run_stencil(placed, settings("whole"));
    auto parts = settings("parts");
    int told = 0;
    bool prepared = false;
    std::vector<std::string> messages;
    StencilRunHooks hooks;
    hooks.progress = [&](const StencilRunProgress& now) { told += now.steps_total == 4 ? 1 : 0; };
    hooks.stop_requested = [] { return true; }; // after the first steps
    hooks.message = [&](const std::string& text) { messages.push_back(text); };
    hooks.prepared = [&] { prepared = true; };
    const auto stopped = run_stencil(placed, parts, hooks);
    EXPECT_FALSE(stopped.finished);
    EXPECT_EQ(stopped.step, 1);
    EXPECT_TRUE(prepared);
    EXPECT_EQ(told, 2); // before the first step and after it
    EXPECT_NE(refusal(parts).find("holds an earlier run"), std::string::npos);
    parts.restart = true;
    hooks.stop_requested = {};
    const auto rest = run_stencil(placed, parts, hooks);
    EXPECT_TRUE(rest.finished);
    EXPECT_EQ(rest.steps_here, 3);
    ASSERT_FALSE(messages.empty());
    EXPECT_EQ(messages.back(), "continuing from step 1, t = 0.5");
    for (const auto* name : {"u_00000004.vtkhdf", "w_00000002.vtkhdf", "program.ff"}) {
        EXPECT_FALSE(bytes(folder_ / "whole" / name).empty()) << name;
        EXPECT_EQ(bytes(folder_ / "whole" / name), bytes(folder_ / "parts" / name)) << name;
    }
}

TEST_F(StencilRunFiles, APictureIsOfTheCellsThatTheRunWrites) {
    const auto picture = [&](const std::string& name, const std::string& more, double wall) {
        const auto text = "program plate\n" + more + "grid g[x: 16, y: 16]\n" +
                          "subdomain disk(x, y) at (x+1/2, y) = (x - 8)^2 + (y - 8)^2 < 16\n" +
                          (more.empty() ? "" : "subdomain other(x, y) at (x, y+1/2) = x < 5\n") +
                          "field u on g at (x+1/2, y) = if x == 0 then " + std::to_string(wall) +
                          " else 0.0\nupdate a on x > 0: u += x/16\nstep: a\ntime steps = 1\n";
        auto given = settings(name);
        given.plots = {{"u", folder_ / (name + ".png")}};
        run_stencil(StencilProgram::from_text(text), given);
        return bytes(folder_ / (name + ".png"));
    };
    const auto plain = picture("plain", "", 5);
    EXPECT_FALSE(plain.empty());
    EXPECT_EQ(picture("hot", "", 500), plain);                     // x = 0 is frozen, and beyond the colours
    EXPECT_NE(picture("within", "", 0.5), plain);                  // and drawn all the same
    EXPECT_EQ(picture("other", "# of another place\n", 5), plain); // u lies at (x+1/2, y), as the disk does
}

// u(x, y, z) = x + 10 y + 100 z in a field of 6×5×4 cells: each slice is a plane of its own.
TEST_F(StencilRunFiles, APictureIsOfTheSliceAskedFor) {
    const auto source = [](const std::string& axes, const std::string& value) {
        return "program box\ngrid g[" + axes + "]\nfield u on g = " + value +
               "\nupdate a: u = u\nstep: a\ntime steps = 1\n";
    };
    int number = 0;
    const auto picture = [&](const std::string& text, const StencilLook& look) {
        const auto name = "slice" + std::to_string(number++);
        auto given = settings(name);
        given.plots = {{"u", folder_ / (name + ".png"), look}};
        run_stencil(StencilProgram::from_text(text), given);
        return bytes(folder_ / (name + ".png"));
    };
    const auto box = source("x: 6, y: 5, z: 4", "x + 10.0*y + 100.0*z");
    const auto slice = [](char axis, std::int64_t cell) {
        return StencilLook{.range = std::array{0.0, 400.0}, .slice = StencilSlice{axis, cell}};
    };
    EXPECT_EQ(picture(box, {.range = std::array{0.0, 400.0}}), picture(box, slice('z', 2)));
    EXPECT_NE(picture(box, slice('z', 1)), picture(box, slice('z', 2)));
    // A slice shows the values of its cells: another field with these values there, and others elsewhere.
    const auto twin = [&](const std::string& where, const std::string& value) {
        return source("x: 6, y: 5, z: 4", "if " + where + " then x + 10.0*y + 100.0*z else " + value);
    };
    EXPECT_EQ(picture(box, slice('x', 3)), picture(twin("x == 3", "7.0"), slice('x', 3)));
    EXPECT_NE(picture(box, slice('x', 3)), picture(twin("x == 2", "7.0"), slice('x', 3)));
    EXPECT_EQ(picture(box, slice('y', 4)), picture(twin("y == 4", "7.0"), slice('y', 4)));
    EXPECT_NE(picture(box, slice('y', 4)), picture(twin("y == 3", "7.0"), slice('y', 4)));
    // Of two axes a line is left.
    const auto plate = source("x: 6, y: 5", "x + 10.0*y");
    EXPECT_NE(picture(plate, slice('y', 1)), picture(plate, slice('y', 2)));
    EXPECT_NE(picture(plate, slice('x', 1)), picture(plate, {}));
}

TEST_F(StencilRunFiles, RangesAndColoursOfAPictureAreThoseAskedFor) {
    int number = 0;
    const auto picture = [&](const std::string& value, const StencilLook& look) {
        const auto name = "look" + std::to_string(number++);
        auto given = settings(name);
        given.plots = {{"u", folder_ / (name + ".png"), look}};
        run_stencil(StencilProgram::from_text("program p\ngrid g[x: 8, y: 8]\nfield u on g = " + value +
                                              "\nupdate a: u = u\nstep: a\ntime steps = 1\n"),
                    given);
        return bytes(folder_ / (name + ".png"));
    };
    // Without a range a field and its double differ by the numbers of the bar only; with one in their
    // colours.
    const StencilLook fixed{.range = std::array{-10.0, 10.0}};
    EXPECT_NE(picture("x - 3.5", fixed), picture("2*(x - 3.5)", fixed));
    std::set<std::string> all;
    for (const auto name : stencil_colours())
        all.insert(picture("x - 3.5", {.range = std::array{-4.0, 4.0}, .colours = std::string(name)}));
    EXPECT_EQ(all.size(), stencil_colours().size() - 1); // auto is blue-red here
}

TEST_F(StencilRunFiles, AnAnimationOfAnotherSliceBeginsAnew) {
    const auto adding = StencilProgram::from_text("program p\ngrid g[x: 8, y: 8]\nfield u on g = x + "
                                                  "0.0\nupdate a: u = u + y\nstep: a\ntime steps = 8\n");
    const auto film = [&](const std::string& out, std::int64_t steps, std::optional<StencilSlice> slice,
                          bool restart) {
        auto given = settings(out);
        given.steps = steps;
        given.restart = restart;
        given.animations = {{"u", folder_ / (out + ".png"), 1, {.slice = slice}}};
        std::string told;
        StencilRunHooks hooks;
        hooks.message = [&](const std::string& line) { told += line; };
        run_stencil(adding, given, hooks);
        return told;
    };
    const StencilSlice row{'y', 3};
    film("whole", 8, row, false);
    film("same", 4, row, false);
    EXPECT_EQ(film("same", 8, row, true).find("begins at step"), std::string::npos);
    EXPECT_TRUE(bytes(folder_ / "same.png") == bytes(folder_ / "whole.png"));
    film("other", 4, row, false);
    EXPECT_NE(film("other", 8, StencilSlice{'y', 2}, true).find("begins at step 4"), std::string::npos);
}

TEST_F(StencilRunFiles, TheEndMayBeAStepOrATime) {
    auto by_time = settings("time");
    by_time.end = 0.7; // steps of 1/2: the second one passes it
    EXPECT_EQ(run_stencil(StencilProgram::from_text(program), by_time).step, 2);
    auto by_steps = settings("steps");
    by_steps.steps = 3;
    by_steps.plots = {{"u", folder_ / "u.png"}};
    by_steps.animations = {{"w", folder_ / "w.png", 1}};
    const auto result = run_stencil(StencilProgram::from_text(program), by_steps);
    EXPECT_EQ(result.step, 3);
    EXPECT_TRUE(fs::exists(folder_ / "u.png"));
    EXPECT_TRUE(fs::exists(folder_ / "w.png"));
    EXPECT_EQ(result.files.back(), folder_ / "w.png");
}

TEST_F(StencilRunFiles, SettingsThatAreNotAllowedAreRefusedBeforeAFileIsWritten) {
    const auto expect_refusal = [&](const StencilRunSettings& settings, const std::string& words) {
        const auto text = refusal(settings);
        EXPECT_NE(text.find(words), std::string::npos) << text;
        EXPECT_FALSE(fs::exists(folder_));
    };
    auto both = settings("");
    both.steps = 1;
    both.end = 1.0;
    expect_refusal(both, "steps and end are both given");
    auto backwards = settings("");
    backwards.steps = -1;
    expect_refusal(backwards, "steps = -1 is not allowed");
    auto never = settings("");
    never.end = std::numeric_limits<double>::infinity();
    expect_refusal(never, "end = inf is not allowed");
    auto checkpoints = settings("");
    checkpoints.checkpoint_seconds = -1;
    expect_refusal(checkpoints, "checkpoint_seconds = -1 is not allowed");
    auto twice = settings("");
    twice.plots = {{"u", "a.png"}, {"w", "b/../a.png"}};
    expect_refusal(twice, "two pictures are to be written to");
    auto animated = settings("");
    animated.animations = {{"u", "a.png", 1}, {"u", "b.png", 2}};
    expect_refusal(animated, "the field 'u' has two animations");
    auto format = settings("");
    format.plots = {{"u", "a.jpg"}};
    expect_refusal(format, "a.jpg: pictures are PNG files");
    auto unknown = settings("");
    unknown.plots = {{"q", "a.png"}};
    expect_refusal(unknown, "'q'");
    const auto refused_look = [&](const StencilLook& look, const std::string& part) {
        auto given = settings("");
        given.plots = {{"u", "a.png", look}};
        expect_refusal(given, part);
        given.plots.clear();
        given.animations = {{"u", "a.png", 1, look}};
        expect_refusal(given, part);
    };
    refused_look({.range = std::array{1.0, 1.0}}, "the range 1 to 1");
    refused_look({.range = std::array{0.0, std::numeric_limits<double>::infinity()}}, "must be finite");
    refused_look({.colours = "rainbow"}, "'rainbow'");
    refused_look({.slice = StencilSlice{'y', 0}}, "the axes of the field are x, z");
    refused_look({.slice = StencilSlice{'z', 6}}, "the cells along z are numbered from 0 to 5");
    refused_look({.slice = StencilSlice{'z', -1}}, "numbered from 0 to 5");
    auto line = settings("");
    line.plots = {{"u", "a.png", {.slice = StencilSlice{'x', 0}}}};
    try {
        run_stencil(StencilProgram::from_text("grid g[x: 4]\nfield u on g = 1\nupdate a: u += 1\nstep: a\n"
                                              "time steps = 1\n"),
                    line);
        FAIL() << "a slice of a line was not refused";
    } catch (const InvalidArgument& error) {
        EXPECT_NE(std::string(error.what()).find("the field has one axis"), std::string::npos)
            << error.what();
    }
}

} // namespace
