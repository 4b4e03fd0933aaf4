// What run_stencil leaves in its folder, read back; the command line's tests cover stopping and continuing.
#include "io/hdf5.h"
#include "stencil/run/run.h"

#include <farfield/error.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
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

    StencilRunResult run(const std::string& text) const {
        StencilOptions options;
        options.target = "interpreter";
        const StencilRunTask task{
            StencilProgram::from_text(text), options, {}, {}, folder_, false, {}, {}, 0, 0};
        return run_stencil(task, {});
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

} // namespace
