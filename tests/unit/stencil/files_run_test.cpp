// Programs that read files: values reach fields, arrays, coefficients, conditions and updates where they
// belong.
#include "compiled.h"

#include "io/npy.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <unistd.h>

namespace {

using namespace farfield::stencil;
using farfield::testing::Compiled;
using farfield::testing::values_of;

class Files : public ::testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    void write(const char* name, const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
        farfield::write_npy(folder_ / name, values, shape);
    }
    std::filesystem::path folder_ =
        std::filesystem::path(::testing::TempDir()) / fmt::format("stencil_files_{}", getpid());
};

TEST_F(Files, GiveValuesToAllThatIsFixedBeforeTheRun) {
    const std::size_t nx = 5, ny = 3;
    std::vector<double> map;
    for (std::size_t i = 0; i < nx * ny; ++i) map.push_back(0.1 * static_cast<double>(i));
    const std::vector<double> along{0.3, -2, 7};
    write("map.npy", {3, 5}, map);
    write("along.npy", {3}, along);
    CompileOptions options;
    options.folder = folder_;
    const Compiled program(R"(
        grid g[x: 5, y: 3]
        array a[y] on g : float = 2*data("along.npy")
        field f on g : double, read-only = data("map.npy") + a
        subdomain high = data("map.npy") > 0.55
        coefficient c on g:
            high: data("map.npy")
            elsewhere: -1
        field u, v on g = 1
        update one on high: u = f*c
        update two: v += (if high then a else c)
        step: one, two
    )",
                           options);
    std::vector<double> u, v;
    for (std::size_t y = 0; y < ny; ++y)
        for (std::size_t x = 0; x < nx; ++x) {
            const double m = map[x + nx * y];
            const auto a = static_cast<double>(static_cast<float>(2 * along[y]));
            const double c = m > 0.55 ? m : -1;
            u.push_back(m > 0.55 ? (m + a) * c : 1);
            v.push_back(1 + (m > 0.55 ? a : c));
        }
    for (const char* target : {"interpreter", "cpu"}) {
        const auto executor = program.start(target);
        executor->advance(1);
        EXPECT_EQ(values_of(*executor, "u"), u) << target;
        EXPECT_EQ(values_of(*executor, "v"), v) << target;
    }
}

// 1·1 − 1 is +0, and its negative −0: GCC would make an fma of −1, 1 and +1 of it, which is +0 again.
TEST(Zero, KeepsTheSignOfNegatedSums) {
    const Compiled program(
        "grid g[x: 40]\nfield a, b, u, v on g = 1\nfield c on g = -1\nfield w on g : float = 0\n"
        "update one: u = -(a*b + c); v = 0 - (a*b + c); w = -(a*b + c)\nstep: one\n");
    for (const char* target : {"interpreter", "cpu"}) {
        const auto executor = program.start(target);
        executor->advance(1);
        for (const char* field : {"u", "w"})
            for (const double value : values_of(*executor, field))
                EXPECT_TRUE(value == 0 && std::signbit(value)) << target;
        for (const double value : values_of(*executor, "v"))
            EXPECT_TRUE(value == 0 && !std::signbit(value)) << target;
    }
}

} // namespace
