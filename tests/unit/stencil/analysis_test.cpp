// What the analysis finds: boxes in which reads exist, conditions as sets, files as values of cells.
#include "stencil/analysis/analysis.h"
#include "stencil/front_end/front_end.h"
#include "stencil/reads/accesses.h"

#include "io/npy.h"

#include <gtest/gtest.h>
#include <png.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>

using namespace farfield;
using namespace farfield::stencil;

namespace {

namespace fs = std::filesystem;

// A program and what was found; fails the test where it has a mistake.
struct Analysed {
    explicit Analysed(const std::string& text, const fs::path& folder = {}) : program("test.ff", text) {
        AnalysisOptions options;
        options.folder = folder;
        if (program.good()) domains = analyse(program.model(), options, program.diagnostics());
        EXPECT_FALSE(program.diagnostics().has_errors()) << to_text(program.diagnostics());
    }
    const ir::CellSet& subdomain(const std::string& name) const {
        const auto& list = program.model().subdomains;
        for (std::size_t i = 0; i < list.size(); ++i)
            if (list[i].name == name) return *domains.subdomains[i];
        throw std::out_of_range(name);
    }
    FrontEnd program;
    Domains domains;
};

using Holds = std::function<bool(std::int64_t, std::int64_t, std::int64_t)>;

void expect_cells(const ir::CellSet& set, const Holds& holds) {
    std::int64_t count = 0;
    for (std::int64_t z = 0; z < set.shape()[2]; ++z)
        for (std::int64_t y = 0; y < set.shape()[1]; ++y)
            for (std::int64_t x = 0; x < set.shape()[0]; ++x) {
                count += holds(x, y, z) ? 1 : 0;
                ASSERT_EQ(set.contains({x, y, z}), holds(x, y, z)) << x << ' ' << y << ' ' << z;
            }
    EXPECT_EQ(set.count(), count);
}

TEST(AccessBox, IsWhereEveryReadExists) {
    const Analysed a("grid g[x: 10, y: 8]\nfield u on g\nfield v on g\nboundary v: periodic in x\n"
                     "update a on interior: u = v[x-3] + v[y+2] + v[x+1, y-1]\n"
                     "update b on interior: v = u[x-2] + u[x+3] + u\n"
                     "step: a, b\n");
    const auto& model = a.program.model();
    EXPECT_EQ(access_box(model, model.updates[0]), (ir::CellBox{{0, 1, 0}, {10, 6, 1}}));
    EXPECT_EQ(access_box(model, model.updates[1]), (ir::CellBox{{2, 0, 0}, {7, 8, 1}}));
    EXPECT_EQ(*a.domains.updates[1], ir::CellSet({10, 8, 1}, {{2, 0, 0}, {7, 8, 1}}));
}

TEST(AccessBox, OfAStencilWiderThanTheGridIsEmpty) {
    const FrontEnd program("a.ff",
                           "grid g[x: 4]\nfield u, v on g = 1\nupdate a: u = v[x-4] + v[x+4]\nstep: a\n");
    ASSERT_TRUE(program.good());
    EXPECT_TRUE(access_box(program.model(), program.model().updates[0]).empty());
}

// Of 19 MB the field takes 8; an interval is 16 bytes, and three times that while it is found.
TEST(Limits, SetsOfManyPiecesMustFitIntoMemory) {
    const auto refusal = [](const std::string& subdomains) {
        FrontEnd program("test.ff", "grid g[x: 1000, y: 1000]\nfield u on g : double\n" + subdomains +
                                        "update go: u = 1\nstep: go\n");
        EXPECT_TRUE(program.good()) << to_text(program.diagnostics());
        AnalysisOptions options;
        options.memory = 19'000'000;
        if (program.good()) find_domains(program.model(), options, program.diagnostics());
        return program.diagnostics().has_errors() ? to_text(program.diagnostics()) : "";
    };
    EXPECT_EQ(refusal("subdomain s(x, y) = x % 16 == 0\n"), "");
    EXPECT_EQ(refusal("subdomain s(x, y) = y % 2 == 0\n"), "");
    EXPECT_EQ(refusal("subdomain s(x, y) = (x + y) % 2 == 0\n"), "") << "rows that are alike are kept once";
    for (const std::string condition :
         {"(x + y) % 2 == 0 and x != y", "(x + y) % 2 == 0 and 2*x != y and x != y"}) {
        const auto text = refusal("subdomain s(x, y) = " + condition + "\n");
        EXPECT_NE(text.find("test.ff:3:21: error: the cells of '" + condition + "' lie in so many pieces"),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find("[too-large]"), std::string::npos) << text;
    }
    const std::string parts = "subdomain a(x, y) = x % 8 == 0 or x == y\n"
                              "subdomain b(x, y) = x % 8 == 4 or x == y + 1\n"
                              "subdomain c = a or b\n";
    EXPECT_EQ(refusal(parts), "");
    EXPECT_NE(refusal(parts + "subdomain d = not c\n").find("the cells of 'not c'"), std::string::npos);
}

// Sizes around the 256 cells that are computed at once; the conditions are written again in C++.
TEST(Domains, AreTheCellsWhereConditionsHold) {
    for (const int n : {1, 255, 256, 257, 600}) {
        const Analysed a("param n = " + std::to_string(n) +
                         "\ngrid g[x: n, y: 37, z: 3]\nfield u on g\n"
                         "subdomain ball(x, y, z) = (x - 20)^2 + (y - 18)^2 + 9*(z - 1)^2 < 200\n"
                         "subdomain stripes(x) = x % 7 < 3\nsubdomain low(y) = y <= 11\n"
                         "subdomain top(z) = z == 2\nsubdomain always(x) = 1 < 2\n"
                         "subdomain mix = ball and (stripes or not low)\n"
                         "subdomain tilted(x, y) = not mix and 2*y > x\n"
                         "subdomain chosen(x) = if ball then x < 20 else x > 40\n"
                         "update a on mix or top: u = 1\nupdate b on interior and stripes: u = 2\n"
                         "source s at (0, 2 to 5, z): u = 3\nstep: a, b, s\n");
        const auto ball = [](auto x, auto y, auto z) {
            return (x - 20) * (x - 20) + (y - 18) * (y - 18) + 9 * (z - 1) * (z - 1) < 200;
        };
        const auto mix = [&](auto x, auto y, auto z) { return ball(x, y, z) && (x % 7 < 3 || y > 11); };
        expect_cells(a.subdomain("ball"), ball);
        expect_cells(a.subdomain("stripes"), [](auto x, auto, auto) { return x % 7 < 3; });
        expect_cells(a.subdomain("low"), [](auto, auto y, auto) { return y <= 11; });
        expect_cells(a.subdomain("top"), [](auto, auto, auto z) { return z == 2; });
        expect_cells(a.subdomain("always"), [](auto, auto, auto) { return true; });
        expect_cells(a.subdomain("mix"), mix);
        expect_cells(a.subdomain("tilted"),
                     [&](auto x, auto y, auto z) { return !mix(x, y, z) && 2 * y > x; });
        expect_cells(a.subdomain("chosen"),
                     [&](auto x, auto y, auto z) { return ball(x, y, z) ? x < 20 : x > 40; });
        expect_cells(*a.domains.updates[0], [&](auto x, auto y, auto z) { return mix(x, y, z) || z == 2; });
        expect_cells(*a.domains.sources[0], [](auto x, auto y, auto) { return x == 0 && y >= 2 && y <= 5; });
    }
}

TEST(Domains, OfOneLongRowAreCutIntoPieces) {
    const Analysed a("grid g[x: 100000]\nfield u on g\nsubdomain s(x) = (x + 40) % 1000 < 900\n"
                     "update a on s: u = 1\nstep: a\n");
    expect_cells(a.subdomain("s"), [](auto x, auto, auto) { return (x + 40) % 1000 < 900; });
}

TEST(Domains, CasesOfACoefficientLeaveTheRestToElsewhere) {
    const Analysed a("grid g[x: 20, y: 9]\nfield u on g\nsubdomain disk(x, y) = (x - 9)^2 + (y - 4)^2 < 9\n"
                     "coefficient eps on g:\n    disk: 2\n    x > 15: 3\n    elsewhere: 1\n"
                     "update a: u = eps\nstep: a\n");
    const auto disk = [](auto x, auto y, auto) { return (x - 9) * (x - 9) + (y - 4) * (y - 4) < 9; };
    const auto& sets = a.domains.coefficients[0];
    ASSERT_EQ(sets.size(), 3U);
    expect_cells(*sets[0], disk);
    expect_cells(*sets[2], [&](auto x, auto y, auto z) { return !disk(x, y, z) && x <= 15; });
}

// What grows as the square of the text is bounded: sets of cases, and values made of all above them.
TEST(Limits, KeepLongProgramsShort) {
    const auto first_kind = [](const std::string& text) {
        const FrontEnd program("long.ff", text);
        const auto found = program.diagnostics().sorted();
        for (const auto& one : found)
            if (one.kind->severity == lang::Severity::error) return std::string(one.kind->name);
        return std::string();
    };
    const auto program = [](int fields, int cases) {
        std::string text = "grid g[x: 9]\nfield f0 on g : double, read-only = 1\n";
        for (int i = 1; i < fields; ++i)
            text += "field f" + std::to_string(i) + " on g : double, read-only = f" + std::to_string(i - 1) +
                    "\n";
        text += "coefficient c on g:\n";
        for (int i = 0; i < cases; ++i) text += "    x == " + std::to_string(i) + ": 2\n";
        return text + "field u on g\nupdate a: u = c\nstep: a\n";
    };
    EXPECT_EQ(first_kind(program(999, 1000)), "");
    EXPECT_EQ(first_kind(program(1001, 2)), "too-long");
    EXPECT_EQ(first_kind(program(5, 1001)), "too-long");
}

class Files : public testing::Test {
protected:
    void SetUp() override {
        folder_ = fs::temp_directory_path() / ("farfield-analysis-" + std::to_string(::getpid()));
        fs::create_directories(folder_);
    }
    void TearDown() override { fs::remove_all(folder_); }
    fs::path folder_;
};

// The picture, as a person sees it:  # .     with # black: the lower row is y = 0
//                                    . .
//                                    # #
TEST_F(Files, PicturesAreSeenWithYUpwards) {
    const std::array<std::uint8_t, 6> pixels{0, 255, 255, 255, 0, 0};
    png_image image{};
    image.version = PNG_IMAGE_VERSION;
    image.width = 2;
    image.height = 3;
    image.format = PNG_FORMAT_GRAY;
    ASSERT_NE(png_image_write_to_file(&image, (folder_ / "a.png").c_str(), 0, pixels.data(), 0, nullptr), 0);
    const auto black = [](auto x, auto y) { return y == 0 || (y == 2 && x == 0); };
    const Analysed a("grid g[x: 2, y: 3]\nfield u on g\nsubdomain s = image(\"a.png\") < 0.5\n"
                     "update a on s: u = 1\nstep: a\n",
                     folder_);
    expect_cells(a.subdomain("s"), [&](auto x, auto y, auto) { return black(x, y); });
    // each pixel for 3 × 2 cells, in two layers, on the axes x and z
    const Analysed b("grid g[x: 6, y: 6, z: 2]\nfield u on g\nsubdomain s = not (image(\"a.png\") > 0.5)\n"
                     "update a on s: u = 1\nstep: a\n",
                     folder_);
    expect_cells(b.subdomain("s"), [&](auto x, auto y, auto) { return black(x / 3, y / 2); });
}

TEST_F(Files, ArraysAreIndexedWithXFastest) {
    std::vector<double> values(24);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
    write_npy(folder_ / "a.npy", values, {2, 3, 4});
    const Analysed a("grid g[x: 4, y: 3, z: 2]\nfield u on g\nsubdomain s = data(\"a.npy\") >= 13\n"
                     "field material on g : float, read-only = data(\"a.npy\")\n"
                     "subdomain r = material < 5\nupdate a on s or r: u = material\nstep: a\n",
                     folder_);
    expect_cells(a.subdomain("s"), [](auto x, auto y, auto z) { return x + 4 * y + 12 * z >= 13; });
    expect_cells(a.subdomain("r"), [](auto x, auto y, auto z) { return x + 4 * y + 12 * z < 5; });
    EXPECT_EQ(a.domains.files.buffers.size(), 1U); // read once
}

TEST_F(Files, AnArrayAlongAnAxisHasAValueForEachIndex) {
    write_npy(folder_ / "a.npy", std::vector<double>{1, 2, 3}, {3});
    const Analysed a("grid g[x: 4, y: 3]\nfield u on g\narray s[y] on g = data(\"a.npy\")\n"
                     "update a: u = s\nstep: a\n",
                     folder_);
    ASSERT_EQ(a.domains.files.find("a.npy", 0, 1), 0);
    EXPECT_EQ(a.domains.files.buffers[0].values, (std::vector<double>{1, 2, 3}));
}

// 50 MB are refused where rows differ; a chessboard of 18 million pieces has two rows.
TEST(Conditions, OfManyPiecesTakeTheMemoryOfRowsThatDiffer) {
    const auto errors = [](const std::string& condition, std::vector<double>& told) {
        FrontEnd program("test.ff", "grid g[x: 6000, y: 6000]\nfield u on g : float\nsubdomain s(x, y) = " +
                                        condition + "\nupdate a on s: u += 1\nstep: a\n");
        EXPECT_TRUE(program.good()) << to_text(program.diagnostics());
        AnalysisOptions options;
        options.memory = 200'000'000; // 144 MB are the field's
        options.progress = [&](double share) { told.push_back(share); };
        analyse(program.model(), options, program.diagnostics());
        return to_text(program.diagnostics());
    };
    std::vector<double> told;
    EXPECT_EQ(errors("(x + y) % 2 == 0", told), "");
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    ASSERT_GE(told.size(), 10U);
    EXPECT_EQ(told.back(), 1);
    EXPECT_NE(errors("(x*x + y*y) % 7001 < 3000", told).find("[too-large]"), std::string::npos);
}

// A case for each of many stripes: 4000 rows that are alike are looked at as one.
TEST(Coefficients, OfManyCasesAreChecked) {
    std::string text = "grid g[x: 4000, y: 4000]\nfield u on g\n", cases;
    for (int i = 0; i < 900; ++i) {
        text += "subdomain s" + std::to_string(i) + "(x) = " + std::to_string(4 * i) + " <= x < " +
                std::to_string(4 * i + 2) + "\n";
        cases += "    s" + std::to_string(i) + ": 2\n";
    }
    const Analysed a(text + "coefficient c on g:\n" + cases +
                     "    elsewhere: 1\nupdate a: u += c\nstep: a\n");
    ASSERT_EQ(a.domains.coefficients[0].size(), 901U);
    EXPECT_EQ(a.domains.coefficients[0].back()->count(), 4000 * (4000 - 1800));
    EXPECT_EQ(a.domains.coefficients[0].back()->intervals(), 900);
}

// Whether `update a on CONDITION: u = SUM` of a field with one buffer is taken.
bool taken_in_place(const std::string& grid, const std::string& boundary, const std::string& condition,
                    const std::string& sum) {
    FrontEnd program("test.ff", "grid g[" + grid + "]\nfield u on g = x\nboundary u: " + boundary +
                                    "\nupdate a on " + condition + ": u = " + sum + "\nstep: a\n");
    EXPECT_TRUE(program.good()) << to_text(program.diagnostics());
    analyse(program.model(), {}, program.diagnostics());
    const auto text = to_text(program.diagnostics());
    EXPECT_EQ(program.diagnostics().has_errors(), text.find("[reads-updated-neighbour]") != text.npos)
        << text;
    return !program.diagnostics().has_errors();
}

TEST(UpdatesInPlace, ReadNoCellThatTheyWrite) {
    const std::string chess = "(x + y) % 2 == 0", star = "u[x-1] + u[x+1] + u[y-1] + u[y+1]";
    EXPECT_TRUE(taken_in_place("x: 9, y: 7", "zero", chess, star));
    EXPECT_TRUE(taken_in_place("x: 9, y: 7", "zero", "(x + y) % 2 == 1", star));
    EXPECT_FALSE(taken_in_place("x: 9, y: 7", "zero", chess, star + " + u[x+1, y-1]"));
    EXPECT_FALSE(taken_in_place("x: 9, y: 7", "zero", chess + " or (x == 8 and y == 5)", star));
    EXPECT_FALSE(taken_in_place("x: 9, y: 7", "zero", "x >= 0", "u[x-1]"));
    EXPECT_FALSE(taken_in_place("x: 9, y: 7", "zero", "x >= 0", "u[y+1]"));
    // Around a torus with an odd side, neighbours have one colour.
    EXPECT_TRUE(taken_in_place("x: 8, y: 6", "periodic", chess, star));
    EXPECT_FALSE(taken_in_place("x: 9, y: 6", "periodic", chess, star));
    EXPECT_FALSE(taken_in_place("x: 8, y: 7", "periodic", chess, star));
    // A reflected neighbour is the cell itself, the third one a cell two away.
    EXPECT_TRUE(taken_in_place("x: 9, y: 6", "mirror", chess, star));
    EXPECT_TRUE(taken_in_place("x: 9, y: 6", "zero", chess, "u[x-3] + u[y+3]"));
    EXPECT_FALSE(taken_in_place("x: 9, y: 6", "mirror in x, zero in y", chess, "u[x-3]"));
    EXPECT_FALSE(taken_in_place("x: 9, y: 6", "zero in x, mirror in y", chess, "u[y+3]"));
    EXPECT_FALSE(taken_in_place("x: 9, y: 6", "clamp in x, zero in y", chess, "u[x-3]"));
    EXPECT_TRUE(taken_in_place("x: 9, y: 6", "clamp in x, zero in y", "x == 0", "u[x-3]"));
    // Pieces that shift by their own distance.
    EXPECT_TRUE(taken_in_place("x: 40", "zero", "x % 10 < 3", "u[x+3] + u[x-7]"));
    EXPECT_FALSE(taken_in_place("x: 40", "zero", "x % 10 < 3", "u[x+8]"));
    EXPECT_TRUE(taken_in_place("x: 40", "periodic", "x % 10 < 3", "u[x+5]"));
    EXPECT_TRUE(taken_in_place("x: 38", "zero", "x % 10 == 0", "u[x+8]"));
    EXPECT_FALSE(taken_in_place("x: 38", "periodic", "x % 10 == 0", "u[x+8]"));
    EXPECT_TRUE(taken_in_place("x: 6, y: 6, z: 6", "zero", "z < 3", "u[x-1, z+3] + u[y-2, z-3]"));
    EXPECT_FALSE(taken_in_place("x: 6, y: 6, z: 6", "zero", "z < 3", "u[x-1, z+2]"));
}

// Against each cell and its neighbour, looked at one by one.
TEST(UpdatesInPlace, AgreeWithEachPairOfCells) {
    int taken = 0, refused = 0;
    for (const int n : {5, 6, 8})
        for (const int m : {2, 3, 4})
            for (const int k : {1, 2})
                for (const int o : {-3, -2, -1, 1, 2, 3})
                    for (const int p : {-1, 0, 2})
                        for (const std::string rule : {"zero", "periodic", "mirror", "clamp"}) {
                            const auto holds = [&](int x, int y) { return (x + 2 * y) % m < k; };
                            const auto fold = [&](int i, int cells) {
                                if (i >= 0 && i < cells) return i;
                                if (rule == "periodic") return (i + cells) % cells;
                                if (rule == "mirror") return i < 0 ? -1 - i : 2 * cells - 1 - i;
                                return rule == "clamp" ? (i < 0 ? 0 : cells - 1) : -1;
                            };
                            bool meets = false;
                            for (int y = 0; y < 4; ++y)
                                for (int x = 0; x < n; ++x) {
                                    const int i = fold(x + o, n), j = fold(y + p, 4);
                                    if (!holds(x, y) || i < 0 || j < 0 || (i == x && j == y)) continue;
                                    meets = meets || holds(i, j);
                                }
                            const auto read = "u[x" + std::string(o < 0 ? "" : "+") + std::to_string(o) +
                                              (p == 0  ? ""
                                               : p < 0 ? ", y" + std::to_string(p)
                                                       : ", y+" + std::to_string(p)) +
                                              "]";
                            const auto condition =
                                "(x + 2*y) % " + std::to_string(m) + " < " + std::to_string(k);
                            ASSERT_EQ(
                                taken_in_place("x: " + std::to_string(n) + ", y: 4", rule, condition, read),
                                !meets)
                                << n << ' ' << rule << ' ' << condition << ' ' << read;
                            ++(meets ? refused : taken);
                        }
    EXPECT_GT(taken, 100);
    EXPECT_GT(refused, 100);
}

} // namespace
