// A StencilRun that is saved and loaded goes on as if nothing had happened.
#include <farfield/stencil_run.h>

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using namespace farfield;
namespace fs = std::filesystem;

class SavedStencilRun : public ::testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("farfield-saved-" + std::to_string(::getpid()));
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        file_ = folder_ / "run.h5";
    }
    void TearDown() override { fs::remove_all(folder_); }
    static std::string load_refusal(const fs::path& path) {
        try {
            (void)load_stencil_run(path);
        } catch (const Error& error) {
            return error.what();
        }
        return "not refused";
    }
    fs::path folder_, file_;
};

// A wave with a coefficient field, a float field, a source and records at different steps.
constexpr const char* wave = R"(program wave
param n = 12, speed = 0.25
grid g[x: n, y: 9]
field u on g = if x == 4 then 1.0 else 0.0
field v : float on g = 0.0
field c on g = speed
update a on x > 0 and x < n - 1: v += c*(u[x-1] - 2*u + u[x+1])
update b: u += v
step: a, b
record all = sum of u*u every 3
record one = u at (4, 4)
time dt = 0.5, steps = 40
)";

TEST_F(SavedStencilRun, GoesOnToTheSameBitsWithAnyTarget) {
    const auto given = StencilProgram::from_text(wave, {{"n", 15}, {"speed", 0.2}});
    for (const char* target : {"interpreter", "cpu"})
        for (const std::int64_t before : {0, 1, 17}) {
            StencilOptions options;
            options.target = target;
            StencilRun whole(given, options);
            const std::vector<double> coefficient(15 * 9, 0.1);
            whole.set_field("c", coefficient); // not what the program says, and written by no update
            whole.advance(before);
            save_stencil_run(whole, file_);
            options.target = "interpreter";
            auto loaded = load_stencil_run(file_, options);
            EXPECT_EQ(loaded.step(), before);
            EXPECT_EQ(loaded.time(), 0.5 * static_cast<double>(before));
            loaded.run(); // the end that the program names
            whole.run();
            EXPECT_EQ(loaded.step(), 40);
            for (const char* name : {"u", "v", "c"})
                EXPECT_EQ(loaded.field(name).values, whole.field(name).values) << target << name;
            for (const char* name : {"all", "one"}) {
                EXPECT_EQ(loaded.series(name).values, whole.series(name).values) << target << name;
                EXPECT_EQ(loaded.series(name).times, whole.series(name).times) << name;
            }
            EXPECT_EQ(loaded.program().text(), whole.program().text());
            EXPECT_EQ(loaded.program().given_parameters().size(), 2U);
        }
}

TEST_F(SavedStencilRun, KeepsTheKindsOfParameters) {
    const auto kinds = StencilProgram::from_text(
        "param real = 1.0, whole = 1, yes = true\ngrid g[x: 4]\nfield u on g = if yes then real else 0.0\n"
        "update a: u += whole\nstep: a\n",
        {{"real", 2.0}, {"whole", 3}, {"yes", false}});
    StencilOptions options;
    options.target = "interpreter";
    StencilRun run(kinds, options);
    save_stencil_run(run, file_);
    const auto loaded = load_stencil_run(file_, options).program().given_parameters();
    ASSERT_EQ(loaded.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(loaded[i].value, kinds.given_parameters()[i].value) << i;
}

TEST_F(SavedStencilRun, RefusesOtherFilesAndRunsThatWentWrong) {
    StencilRunSettings settings;
    settings.out = folder_ / "files";
    settings.steps = 2;
    settings.options.target = "interpreter";
    run_stencil(StencilProgram::from_text(wave), settings);
    EXPECT_NE(load_refusal(folder_ / "files/checkpoint.h5").find("checkpoint of a run with files"),
              std::string::npos);
    EXPECT_NE(load_refusal(folder_ / "absent.h5").find("absent.h5"), std::string::npos);
    StencilOptions options;
    options.target = "interpreter";
    StencilRun run(StencilProgram::from_text("grid g[x: 4]\nfield v on g = 2\nupdate a: v = v*v\nstep: a\n"),
                   options);
    run.advance(2);
    save_stencil_run(run, file_);
    std::ifstream in(file_, std::ios::binary);
    std::string damaged{std::istreambuf_iterator<char>(in), {}};
    damaged[damaged.size() / 2] ^= 1;
    std::ofstream(folder_ / "damaged.h5", std::ios::binary) << damaged;
    EXPECT_NE(load_refusal(folder_ / "damaged.h5").find("damaged.h5"), std::string::npos);
    EXPECT_THROW(run.advance(100), Error);
    EXPECT_THROW(save_stencil_run(run, file_), InvalidArgument);
    EXPECT_EQ(load_stencil_run(file_, options).step(), 2); // the file of before is still there
}

TEST_F(SavedStencilRun, ReadsTheFilesOfItsProgramFromItsFolder) {
    fs::create_directories(folder_ / "deep");
    const auto write_values = [&](double first) {
        // A .npy file of four doubles, written from its specification (version 1.0).
        std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4,), }";
        header += std::string(128 - 10 - 1 - header.size(), ' ') + '\n';
        const std::array values{first, 2.0, 3.0, 4.0};
        std::ofstream file(folder_ / "deep/start.npy", std::ios::binary);
        file << std::string("\x93NUMPY\x01\x00", 8) << static_cast<char>(118) << '\0' << header;
        file.write(reinterpret_cast<const char*>(values.data()), sizeof values);
    };
    write_values(1.0);
    std::ofstream(folder_ / "deep/p.ff")
        << "grid g[x: 4]\nfield u on g = data(\"start.npy\")\nupdate a: u += 1\nstep: a\n";
    StencilOptions options;
    options.target = "interpreter";
    StencilRun run(StencilProgram::from_file(folder_ / "deep/p.ff"), options);
    run.advance(3);
    save_stencil_run(run, file_);
    EXPECT_EQ(load_stencil_run(file_, options).field("u").values, (std::vector<double>{4, 5, 6, 7}));
    write_values(9.0);
    EXPECT_NE(load_refusal(file_).find("'start.npy', which the program reads, has changed"),
              std::string::npos)
        << load_refusal(file_);
}

} // namespace
