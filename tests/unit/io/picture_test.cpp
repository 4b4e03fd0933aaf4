// Pictures are looked at by people; these tests hold what can be stated: mass is kept, colours grow evenly in
// lightness, ticks are round, the same input gives the same bytes, and bad input is refused.
#include "io/picture.h"

#include "io/picture/axes.h"
#include "io/picture/canvas.h"
#include "io/picture/colour_map.h"
#include "io/picture/density_map.h"
#include "io/picture/glyphs.h"
#include "io/picture/plot_field.h"
#include "io/picture/text.h"
#include "unit/io/picture_support.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

using namespace farfield;
using namespace farfield::picture;
using namespace farfield::test;

namespace {

class Picture : public IoTest {};

Table diagnostics_table() {
    Table table;
    table.names = {"time", "relative_energy_error", "r10", "r50", "r90"};
    table.columns.resize(5);
    for (int i = 0; i < 50; ++i) {
        const double time = 0.1 * i;
        const std::array row{time, i == 0 ? 0.0 : 1e-7 * (1 + i), 0.25, 0.75, 2.0 + 0.01 * i};
        for (std::size_t c = 0; c < row.size(); ++c) table.columns[c].push_back(row[c]);
    }
    return table;
}

} // namespace

TEST_F(Picture, ColoursGrowEvenlyInLightness) {
    for (int i = 0; i <= 100; ++i) {
        const double t = i / 100.0;
        // Bytes round lightness by up to about 0.006 at the dark end.
        EXPECT_NEAR(lightness(density_colour(t)), 0.12 + 0.85 * t, 0.012) << t;
    }
    EXPECT_EQ(density_colour(-5), density_colour(0));
    EXPECT_EQ(density_colour(5), density_colour(1));
}

TEST_F(Picture, DensityKeepsMass) {
    std::vector<PlacedBody> bodies;
    std::mt19937_64 random(11);
    double mass = 0.0;
    // Well inside of the picture, so that no body is spread beyond its border.
    for (int i = 0; i < 5000; ++i) {
        const auto coordinate = [&] {
            return 150.0 + 100.0 * static_cast<double>(random() >> 11U) * 0x1p-53;
        };
        bodies.push_back({coordinate(), coordinate(), 1.0 + i % 3});
        mass += bodies.back().mass;
    }
    const auto map = density_map(bodies, 400, 2);
    EXPECT_NEAR(std::accumulate(map.begin(), map.end(), 0.0), mass, 1e-9 * mass);
    // Uniform in its square: away from the edges the estimate is the true density within its noise of
    // about 1/sqrt(40 neighbours).
    double inner = 0.0;
    for (std::size_t y = 175; y < 225; ++y)
        for (std::size_t x = 175; x < 225; ++x) inner += map[y * 400 + x];
    EXPECT_NEAR(inner, mass / 4, 0.08 * mass / 4); // 2500 of 1250 ± 35 bodies, 3 % a sigma
    EXPECT_EQ(map[10 * 400 + 10], 0.0);
}

// Wide discs, too, that reach beyond rows of a task and beyond the picture.
TEST_F(Picture, DensityHasTheSameBitsForAnyNumberOfThreads) {
    std::vector<PlacedBody> bodies;
    std::mt19937_64 random(12);
    for (int i = 0; i < 40000; ++i) {
        const auto offset = [&] {
            return 30.0 * std::tan(3.0 * (static_cast<double>(random() >> 11U) * 0x1p-53 - 0.5));
        };
        bodies.push_back({200.0 + offset(), 200.0 + offset(), 1.0 + i % 3});
    }
    const auto of_one = density_map(bodies, 400, 1);
    EXPECT_GT(*std::min_element(of_one.begin(), of_one.end()), 0.0); // discs reach everywhere
    for (const int threads : {2, 5}) EXPECT_EQ(density_map(bodies, 400, threads), of_one);
}

TEST_F(Picture, ALoneBodyIsSpreadEvenly) {
    const std::vector<PlacedBody> one{{100.0, 60.0, 2.0}};
    const auto map = density_map(one, 200, 1);
    const auto at = [&](std::size_t x, std::size_t y) { return map[y * 200 + x]; };
    EXPECT_GT(at(100, 60), 0.0);
    // Mirror images about the body, which sits on a corner of four pixels.
    for (std::size_t d = 1; d < 40; ++d) {
        EXPECT_NEAR(at(99 + d, 60), at(100 - d, 60), 1e-12);
        EXPECT_NEAR(at(100, 59 + d), at(100, 60 - d), 1e-12);
        EXPECT_GE(at(99 + d, 60) + 1e-15, at(100 + d, 60));
    }
}

TEST_F(Picture, TicksAreRound) {
    const auto texts = [](const Axis& axis, int wanted) {
        std::vector<std::string> out;
        for (const auto& tick : ticks_of(axis, wanted))
            if (!tick.text.empty()) out.push_back(tick.text);
        return out;
    };
    using Texts = std::vector<std::string>;
    EXPECT_EQ(texts({-3, 3, false, ""}, 6), (Texts{"−3", "−2", "−1", "0", "1", "2", "3"}));
    EXPECT_EQ(texts({0, 0.05, false, ""}, 5), (Texts{"0.00", "0.01", "0.02", "0.03", "0.04", "0.05"}));
    EXPECT_EQ(texts({1e6, 3e6, false, ""}, 2), (Texts{"1", "2", "3"}));
    EXPECT_EQ(common_exponent({1e6, 3e6, false, ""}, 2), 6);
    EXPECT_EQ(exponent_text(-6), "×10^{−6}");
    EXPECT_EQ(texts({-2e-7, 2e-7, false, ""}, 4), (Texts{"−2", "−1", "0", "1", "2"}));
    EXPECT_EQ(texts({0, 1.2e-290, false, ""}, 3), (Texts{"0.0", "0.5", "1.0"}));
    EXPECT_EQ(common_exponent({-3, 3, false, ""}, 6), 0);
    EXPECT_EQ(common_exponent({-300, 300, true, ""}, 6), 0); // its texts have their own
    EXPECT_EQ(texts({-6.2, -3.9, true, ""}, 6),
              (Texts{"10^{−6}", "2×10^{−6}", "5×10^{−6}", "10^{−5}", "2×10^{−5}", "5×10^{−5}", "10^{−4}"}));
    EXPECT_EQ(texts({-12, 0, true, ""}, 4), (Texts{"10^{−12}", "10^{−9}", "10^{−6}", "0.001", "1"}));
}

TEST_F(Picture, NumbersOfAnAxisDiffer) {
    const auto constant = range_of(std::vector<float>(10, 3.0F));
    EXPECT_LT(constant.low, 3 - 0.1);
    EXPECT_GT(constant.high, 3 + 0.1);
    for (const auto& axis :
         {Axis{constant.low, constant.high, false, ""}, Axis{1.00002e8, 1.00003e8, false, ""}}) {
        std::set<std::string> texts;
        std::size_t count = 0;
        for (const auto& tick : ticks_of(axis, 6)) {
            if (tick.text.empty()) continue;
            texts.insert(tick.text);
            ++count;
        }
        EXPECT_GE(count, 4U);
        EXPECT_EQ(texts.size(), count);
    }
}

TEST_F(Picture, AThinPlaneKeepsItsRows) {
    const std::int64_t columns = 4000, rows = 8;
    std::vector<double> values(static_cast<std::size_t>(columns * rows));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i / columns);
    Plane plane;
    plane.columns = columns;
    plane.rows = rows;
    const auto reduced = reduce(plane, values, 1800);
    EXPECT_EQ(reduced.plane.rows, rows);
    EXPECT_LE(reduced.plane.columns, 1800);
    for (std::int64_t row = 0; row < rows; ++row)
        EXPECT_EQ(reduced.values[static_cast<std::size_t>(row * reduced.plane.columns)],
                  static_cast<float>(row));
}

TEST_F(Picture, NumbersForPeople) {
    EXPECT_EQ(number_text(0.0), "0");
    EXPECT_EQ(number_text(4.0), "4");
    EXPECT_EQ(number_text(-0.25), "−0.25");
    EXPECT_EQ(number_text(1234567.0, 9), "1.234567×10^{6}");
    EXPECT_EQ(number_text(262144.0, 9), "262,144");
    EXPECT_EQ(number_text(3.2e-7), "3.2×10^{−7}");
    EXPECT_EQ(number_text(6.32591398, 6), "6.32591");
    EXPECT_EQ(round_up(2.3), 2.5);
    EXPECT_EQ(round_up(0.01), 0.01);
    EXPECT_EQ(round_up(81.0), 100.0);
}

TEST_F(Picture, EveryPrintableCharacterHasAGlyph) {
    const auto& box = glyph_of(U'\1');
    for (char32_t c = U' '; c <= U'~'; ++c) EXPECT_NE(&glyph_of(c), &box) << static_cast<char>(c);
    for (const char32_t c : {U'Δ', U'×', U'−', U'Σ'}) EXPECT_NE(&glyph_of(c), &box);
    EXPECT_EQ(text_width("", 14), 0.0);
    EXPECT_LT(text_width("i", 14), text_width("m", 14));
    EXPECT_NO_THROW((void)text_width("\xFF\xE2\x88", 14)); // broken UTF-8, as a file's name may hold
}

TEST_F(Picture, StrokesStayInTheirClip) {
    Canvas canvas(40, 40, {0, 0, 0});
    canvas.clip({10, 10, 30, 30});
    const Polyline line{{-1e9, 20}, {1e9, 20}};
    canvas.stroke(std::span(&line, 1), 4, {255, 255, 255});
    EXPECT_EQ(canvas.at(20, 20), (Colour{255, 255, 255}));
    EXPECT_EQ(canvas.at(9, 20), (Colour{0, 0, 0}));
    EXPECT_EQ(canvas.at(30, 20), (Colour{0, 0, 0}));
    EXPECT_EQ(canvas.at(20, 25), (Colour{0, 0, 0}));
}

TEST_F(Picture, DensityIsBrightWhereBodiesAre) {
    SnapshotInfo info;
    info.name = "a name that is much too long to fit over a picture and has to be cut somewhere, so it is";
    plot_density(file("p.png"), cloud(2000, 1.0), info);
    const auto picture = decode(file("p.png"));
    const int x = 120 + 450;
    const int y = 70 + 450;
    EXPECT_GT(lightness(picture.at(x, y)), 0.75);
    EXPECT_LT(lightness(picture.at(130, 80)), 0.3);
    EXPECT_EQ(picture.at(2, 2), (Colour{255, 255, 255}));
}

TEST_F(Picture, SameInputSameBytes) {
    for (const std::size_t n : {3U, 1000U}) {
        plot_density(file("a.png"), cloud(n, 1.0), {});
        plot_density(file("b.png"), cloud(n, 1.0), {});
        EXPECT_EQ(content_of(file("a.png")), content_of(file("b.png")));
    }
}

TEST_F(Picture, FewBodiesAreDiscsAtTheirPlaces) {
    Bodies bodies = cloud(2, 1.0);
    bodies.position = {-1, 0, 5, 1, 0.5, -5};
    bodies.charge = {1, -1};
    DensityPlotOptions options;
    options.frame = {{0, 0, 0}, 4.0, 0, 0};
    plot_density(file("p.png"), bodies, {}, options);
    const auto picture = decode(file("p.png"));
    const Colour positive = picture.at(120 + 225, 70 + 450);
    const Colour negative = picture.at(120 + 675, 70 + 450 - 112);
    EXPECT_GT(positive.red, positive.blue);
    EXPECT_GT(negative.blue, negative.red);
    EXPECT_LT(lightness(picture.at(120 + 450, 70 + 450)), 0.2);
    options.plane = "yz"; // the second one at y = 0.5, z = −5 is outside, the first too
    plot_density(file("p.png"), bodies, {}, options);
    EXPECT_LT(lightness(decode(file("p.png")).at(120 + 225, 70 + 450)), 0.2);
}

TEST_F(Picture, TheFrameHoldsNearlyAllBodies) {
    const auto bodies = cloud(2000, 2.0, 10.0);
    const auto frame = picture_frame(bodies, "xz");
    int inside = 0;
    for (std::size_t i = 0; i < bodies.mass.size(); ++i)
        inside += std::abs(bodies.position[3 * i] - frame.centre[0]) < frame.width / 2 &&
                  std::abs(bodies.position[3 * i + 2] - frame.centre[2]) < frame.width / 2;
    EXPECT_GE(inside, 1900);
    EXPECT_LT(frame.low, frame.high);
    EXPECT_EQ(picture_frame(bodies, "xz", 3.0).width, 3.0);
}

// Two bodies on a circle: wherever they are on it, the frame chosen at the start holds them.
TEST_F(Picture, TheFrameOfFewBodiesHoldsTheirOrbits) {
    for (const double angle : {0.0, 0.4, 0.785, 1.2}) {
        Bodies bodies;
        bodies.mass = {1.0, 1e-3};
        bodies.position = {0.0, 0.0, 0.0, 10.0 * std::cos(angle), 10.0 * std::sin(angle), 0.0};
        bodies.velocity.assign(6, 0.0);
        bodies.id = {1, 2};
        for (const char* plane : {"xy", "xz", "yz"})
            EXPECT_GE(picture_frame(bodies, plane).width, 2.0 * 10.0 * (1000.0 / 1001.0))
                << angle << ' ' << plane;
    }
}

// A body out of the picture is counted in its title.
TEST_F(Picture, TellsOfBodiesOutside) {
    const auto title_of = [&](double x) {
        Bodies bodies;
        bodies.mass = {1.0, 1.0};
        bodies.position = {0.0, 0.0, 0.0, x, 0.0, 0.0};
        bodies.velocity.assign(6, 0.0);
        bodies.id = {1, 2};
        DensityPlotOptions options;
        options.frame = {{0, 0, 0}, 4.0, 0, 0};
        plot_density(file("title.png"), bodies, {}, options);
        return decode(file("title.png"));
    };
    const auto ink = [](const Decoded& picture) {
        int dark = 0;
        for (int y = 0; y < 65; ++y)
            for (int x = 0; x < picture.width; ++x) dark += picture.at(x, y).red < 128 ? 1 : 0;
        return dark;
    };
    EXPECT_GT(ink(title_of(5.0)), 1.2 * ink(title_of(1.0)));
}

TEST_F(Picture, ExtremeBodiesGiveAPicture) {
    for (const double offset : {0.0, 1e20, -1e99, 1e-300}) {
        auto bodies = cloud(300, 0.0, offset); // all at one place
        EXPECT_NO_THROW(plot_density(file("p.png"), bodies, {})) << offset;
    }
    auto bodies = cloud(300, 1.0);
    bodies.position[0] = 1e100;
    EXPECT_NO_THROW(plot_density(file("p.png"), bodies, {}));
    bodies.mass.assign(300, 0.0);
    EXPECT_NO_THROW(plot_density(file("p.png"), bodies, {}));
    EXPECT_NO_THROW(plot_density(file("p.png"), cloud(1, 1.0), {}));
}

TEST_F(Picture, RefusesWhatCannotBeDrawn) {
    expect_error<InvalidArgument>([&] { plot_density(file("p.png"), {}, {}); }, "no bodies");
    expect_error<InvalidArgument>(
        [&] {
            plot_density(file("p.png"), cloud(3, 1), {}, {"yx", {}});
        },
        "'yx'", "xy, xz or yz");
    auto bodies = cloud(3, 1);
    bodies.position[4] = std::nan("");
    expect_error<InvalidArgument>([&] { plot_density(file("p.png"), bodies, {}); }, "row 1", "nan");
    expect_error<InvalidArgument>([&] { (void)picture_frame(bodies, "xy"); }, "row 1");
    expect_error<InvalidArgument>(
        [&] {
            plot_density(file("p.png"), cloud(3, 1), {}, {"xy", {{1e30, 0, 0}, 1.0, 0, 0}});
        },
        "width of a picture is 1");
    expect_error<IoError>([&] { plot_density(file("none/p.png"), cloud(3, 1), {}); }, "none/p.png",
                          "No such file");
    EXPECT_FALSE(std::filesystem::exists(file("p.png")));
}

TEST_F(Picture, DrawsDiagnostics) {
    plot_diagnostics(file("d.png"), diagnostics_table());
    EXPECT_EQ(decode(file("d.png")).width, 1200);
    auto zero = diagnostics_table(); // a free particle: no error, no radii
    for (std::size_t c = 1; c < 5; ++c) zero.columns[c].assign(50, 0.0);
    EXPECT_NO_THROW(plot_diagnostics(file("d.png"), zero));
    auto huge = diagnostics_table();
    huge.columns[4].assign(50, 1e99);
    EXPECT_NO_THROW(plot_diagnostics(file("d.png"), huge));
}

TEST_F(Picture, RefusesDiagnosticsThatCannotBeDrawn) {
    const auto refused = [&](const Table& table, auto... parts) {
        expect_error<InvalidArgument>([&] { plot_diagnostics(file("d.png"), table); }, parts...);
    };
    refused({}, "no column 'time'", "diagnostics.csv");
    auto table = diagnostics_table();
    for (auto& column : table.columns) column.resize(1);
    refused(table, "1 rows", "two or more");
    for (auto& column : table.columns) column.clear();
    refused(table, "0 rows");
    table = diagnostics_table();
    table.columns[3][7] = std::numeric_limits<double>::infinity();
    refused(table, "row 7", "r50 = inf");
    table = diagnostics_table();
    table.columns[0].assign(50, 3.0);
    refused(table, "near 3", "different times");
    table.names[4] = "r95";
    refused(table, "no column 'r90'");
}

TEST_F(Picture, EveryColourMapIsEven) {
    EXPECT_EQ(colour_maps().size(), 5U);
    for (const auto& map : colour_maps())
        for (int i = 0; i <= 100; ++i) {
            const double t = i / 100.0;
            const double expected = map.centred ? 0.975 - 0.615 * std::abs(2 * t - 1) : 0.12 + 0.85 * t;
            // Bytes round lightness by up to about 0.006; between anchors it is a chord in sRGB.
            EXPECT_NEAR(lightness(map.at(t)), expected, 0.015) << map.name << ' ' << t;
        }
    expect_error<InvalidArgument>([] { (void)colour_map("rainbow"); }, "'rainbow'", "heat, ocean, grey");
}

// Of three titles the longest that fits beside the moment is drawn: the same pixels as if it were the only
// one.
TEST_F(Picture, ATitleWithoutRoomGivesWayToAShorterOne) {
    Plane plane;
    plane.columns = plane.rows = 4;
    const std::vector<float> values(16, 1.0F);
    const auto drawn = [&](const std::string& title, const std::vector<std::string>& shorter) {
        FieldPicture picture;
        picture.title = title;
        picture.shorter_titles = shorter;
        picture.moment = "t = 500";
        picture.size = 300;
        return draw_field(plane, values, {0.0, 1.0, false}, picture).png();
    };
    const std::string longest(60, 'm');
    EXPECT_TRUE(drawn(longest, {longest + "n", "Hz, y = 100"}) == drawn("Hz, y = 100", {}));
    EXPECT_TRUE(drawn("Hz, y = 100", {"Hz"}) == drawn("Hz, y = 100", {}));
    EXPECT_FALSE(drawn("Hz, y = 100", {}) == drawn("Hz", {}));
}
