// Pictures of bodies beyond their density: trails, names, charges of both signs, animations of snapshots.
#include "io/picture.h"
#include "io/picture/canvas.h"
#include "io/picture/film.h"
#include "io/picture/plot_file.h"
#include "io/picture/trails.h"
#include "unit/io/picture_support.h"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace farfield;
using namespace farfield::picture;
using namespace farfield::test;

namespace {

class BodiesPicture : public IoTest {};

constexpr double degree = std::numbers::pi / 180.0;

// Two bodies on the unit circle with the angular speed 1, opposite to each other.
Bodies circling(double angle) {
    Bodies bodies;
    for (const double a : {angle, angle + std::numbers::pi}) {
        bodies.position.insert(bodies.position.end(), {std::cos(a), std::sin(a), 0.0});
        bodies.velocity.insert(bodies.velocity.end(), {-std::sin(a), std::cos(a), 0.0});
        bodies.mass.push_back(1.0);
    }
    bodies.id = {1, 2};
    return bodies;
}

SnapshotInfo info_at(double time) {
    SnapshotInfo info;
    info.time = time;
    return info;
}

int count_of(const std::string& text, const std::string& part) {
    int count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

} // namespace

// Between moments an arc of a circle: a cubic curve with handles of (4/3) tan(θ/4) leaves it by 2.7e-4 of the
// radius for 90 degrees, and that grows with the sixth power of the angle.
TEST_F(BodiesPicture, TrailsFollowCircles) {
    for (const double step : {20.0, 90.0, 140.0}) {
        Trails trails;
        for (int i = 0; i < 6; ++i) trails.add(i * step * degree, circling(i * step * degree));
        const auto trail = trails.of(1, 100.0);
        ASSERT_EQ(trail.lines.size(), 1U) << step;
        EXPECT_EQ(trail.gaps, 0U);
        const double bound = 1.1 * 2.73e-4 * std::pow(step / 90.0, 6);
        for (const auto& point : trail.lines[0])
            EXPECT_NEAR(std::hypot(point[0], point[1]), 1.0, std::max(bound, 1e-9)) << step;
    }
}

TEST_F(BodiesPicture, TrailsHaveGapsWhereThePathIsUnknown) {
    for (const double step : {200.0, 360.0, 400.0, 750.0}) {
        Trails trails;
        trails.add(0.0, circling(0.0));
        trails.add(step * degree, circling(step * degree));
        trails.add((step + 10) * degree, circling((step + 10) * degree));
        const auto trail = trails.of(2, 100.0);
        EXPECT_EQ(trail.gaps, 1U) << step;
        ASSERT_EQ(trail.lines.size(), 1U) << step;
        EXPECT_NEAR(trail.lines[0].front()[0], -std::cos(step * degree), 1e-12);
    }
}

TEST_F(BodiesPicture, TrailsGoByIdsAndTimes) {
    Trails trails;
    auto turned = circling(0.4); // the same bodies in another order of rows
    std::rotate(turned.position.begin(), turned.position.begin() + 3, turned.position.end());
    std::rotate(turned.velocity.begin(), turned.velocity.begin() + 3, turned.velocity.end());
    turned.id = {2, 1};
    trails.add(0.4, turned);
    trails.add(0.0, circling(0.0)); // later in the list, earlier in time
    trails.add(0.8, circling(0.8));
    trails.add(0.4, circling(0.4)); // there already
    EXPECT_EQ(trails.moments().times, (std::vector<double>{0.0, 0.4, 0.8}));
    const auto until = trails.of(1, 0.5);
    ASSERT_EQ(until.lines.size(), 1U);
    EXPECT_EQ(until.lines[0].front()[1], 0.0);
    EXPECT_NEAR(until.lines[0].back()[1], std::sin(0.4), 1e-12);
    EXPECT_TRUE(trails.of(3, 1.0).lines.empty());
    auto others = circling(1.2);
    others.id = {1, 3};
    expect_error<InvalidArgument>([&] { trails.add(1.2, others); }, "t = 1.2", "ids differ");
}

TEST_F(BodiesPicture, LongRunsKeepEverySecondMoment) {
    Trails trails;
    for (int i = 0; i < 10000; ++i) trails.add(i * 0.01, circling(i * 0.01));
    const auto& times = trails.moments().times;
    EXPECT_LE(times.size(), 4096U);
    EXPECT_GE(times.size(), 2048U);
    EXPECT_EQ(times.front(), 0.0);
    const auto trail = trails.of(1, 1000.0);
    EXPECT_EQ(trail.gaps, 0U);
    for (const auto& point : trail.lines.at(0)) ASSERT_NEAR(std::hypot(point[0], point[1]), 1.0, 1e-6);
    // And goes on from what a file held of it.
    Trails again(trails.moments());
    again.add(200.0, circling(200.0));
    trails.add(200.0, circling(200.0));
    EXPECT_EQ(again.moments().positions, trails.moments().positions);
    EXPECT_TRUE(Trails({{1, 2}, {0.0}, {1.0}, {1.0}}).moments().times.empty()); // lengths that do not fit
}

TEST_F(BodiesPicture, DrawsTrailsUpToItsTime) {
    Trails trails;
    for (int i = 0; i <= 4; ++i) trails.add(0.5 * i, circling(0.5 * i));
    DensityPlotOptions options;
    options.frame = {{0, 0, 0}, 4.0, 0, 0};
    // Of the first body: where it was at t = 0.75 and is to be at 1.25.
    const auto place = [](double angle) {
        return std::array{120 + 450 + static_cast<int>(225 * std::cos(angle)),
                          70 + 450 - static_cast<int>(225 * std::sin(angle))};
    };
    const auto lightest_near = [&](const Canvas& canvas, double angle) {
        const auto [x, y] = place(angle);
        double most = 0.0;
        for (int dy = -2; dy <= 2; ++dy)
            for (int dx = -2; dx <= 2; ++dx) most = std::max(most, lightness(canvas.at(x + dx, y + dy)));
        return most;
    };
    const auto without = draw_bodies(circling(1.0), info_at(1.0), options);
    options.trails = &trails;
    const auto with = draw_bodies(circling(1.0), info_at(1.0), options);
    EXPECT_LT(lightest_near(without, 0.75), 0.3);
    EXPECT_GT(lightest_near(with, 0.75), 0.5);
    EXPECT_LT(lightest_near(with, 1.25), 0.3);
}

// Names of bodies that nearly touch stand beside each other: both have the ink they have alone.
TEST_F(BodiesPicture, NamesDoNotOverlap) {
    Bodies bodies = circling(0.0);
    bodies.position = {0, 0, 0, 0.02, 0, 0};
    DensityPlotOptions options;
    options.frame = {{0, 0, 0}, 4.0, 0, 0};
    const auto ink = [&](const std::vector<std::string>& names) {
        SnapshotInfo info;
        info.body_names = names;
        const auto canvas = draw_bodies(bodies, info, options);
        int count = 0;
        for (int y = 100; y < 940; ++y)
            for (int x = 150; x < 990; ++x) {
                const auto colour = canvas.at(x, y);
                count += colour.red > 180 && colour.blue > 180 ? 1 : 0; // discs are amber
            }
        return count;
    };
    const int neither = ink({"", ""});
    const int first = ink({"Pluto", ""}) - neither;
    const int second = ink({"", "Charon"}) - neither;
    EXPECT_GT(first, 50);
    EXPECT_GT(second, 50);
    EXPECT_NEAR(ink({"Pluto", "Charon"}) - neither, first + second, 0.1 * (first + second));
}

TEST_F(BodiesPicture, NamesSurviveAFile) {
    SnapshotInfo info;
    info.body_names = {"Pluto", ""};
    write_snapshot(file("s.h5"), circling(0.0), info);
    EXPECT_EQ(read_snapshot(file("s.h5")).info.body_names, info.body_names);
    info.body_names = {"Pluto"};
    expect_error<InvalidArgument>([&] { write_snapshot(file("s.h5"), circling(0.0), info); }, "2 values",
                                  "name");
}

TEST_F(BodiesPicture, ChargesOfBothSignsHaveTheirColours) {
    auto bodies = cloud(2000, 1.0);
    for (std::size_t i = 0; i < 2000; ++i) bodies.charge.push_back(bodies.position[3 * i] > 0 ? 1e-3 : -1e-3);
    DensityPlotOptions options;
    options.frame = picture_frame(bodies, "xy");
    EXPECT_EQ(options.frame.low, -options.frame.high);
    EXPECT_GT(options.frame.high, 0.0);
    const auto charges = draw_bodies(bodies, {}, options);
    const double pixels = 900 / options.frame.width;
    const auto at = [&](const Canvas& canvas, double x, double y) {
        return canvas.at(static_cast<int>(120 + 450 + pixels * (x - options.frame.centre[0])),
                         static_cast<int>(70 + 450 - pixels * (y - options.frame.centre[1])));
    };
    EXPECT_GT(at(charges, 0.4, 0).red, at(charges, 0.4, 0).blue + 50);
    EXPECT_GT(at(charges, -0.4, 0).blue, at(charges, -0.4, 0).red + 50);
    EXPECT_GT(lightness(charges.at(125, 75)), 0.95); // where there is nothing
    // The mass can be asked for; charges of one sign show it anyway.
    options.frame = {};
    options.show = ShownDensity::mass;
    const auto mass = draw_bodies(bodies, {}, options).png();
    auto like = bodies;
    like.charge.assign(2000, 1e-3);
    EXPECT_TRUE(draw_bodies(like, {}, {}).png() == mass);
    like.charge.clear();
    EXPECT_TRUE(draw_bodies(like, {}, {}).png() == mass);
    options.show = ShownDensity::charge;
    expect_error<InvalidArgument>([&] { (void)draw_bodies(like, {}, options); }, "none");
}

TEST_F(BodiesPicture, AnAnimationHasAFrameASnapshot) {
    std::vector<std::filesystem::path> paths;
    for (int i = 0; i < 5; ++i) {
        paths.push_back(file("snapshot_" + std::to_string(998 + i) + ".h5"));
        write_snapshot(paths.back(), circling(0.5 * i), info_at(0.5 * i));
    }
    (void)written("snapshot_0999.txt", "no snapshot");
    EXPECT_EQ(snapshots_in(file("")), paths); // 1000 follows 999
    const auto film_of = [&](const std::vector<std::filesystem::path>& files) {
        (void)plot_files({.inputs = files, .out = file("film.png"), .animate = true});
        return content_of(file("film.png"));
    };
    const auto film = film_of({file("")});
    EXPECT_EQ(count_of(film, "fcTL"), 5);
    EXPECT_EQ(count_of(film, "acTL"), 1);
    std::reverse(paths.begin(), paths.end());
    EXPECT_TRUE(film_of(paths) == film); // in the order of times
    // One picture has all trails, and the frame holds them.
    const auto text = plot_files({.inputs = paths, .out = file("p.png")});
    EXPECT_NE(text.find("trails through 5 snapshots"), std::string::npos) << text;
    const auto narrow = film_frame(paths, {}).frame;
    EXPECT_GE(narrow.width, 2.0);
    write_snapshot(paths[2], cloud(3, 1.0), info_at(1.0));
    expect_error<InvalidArgument>([&] { (void)film_of(paths); }, paths[2].filename().string(), "3 bodies");
}

TEST_F(BodiesPicture, TellsOfTrailsWithGaps) {
    std::vector<std::filesystem::path> paths;
    for (int i = 0; i < 3; ++i) {
        auto info = info_at(7.0 * i);
        info.body_names = {"Pluto", "Charon"};
        paths.push_back(file(std::to_string(i) + ".h5"));
        write_snapshot(paths.back(), circling(7.0 * i), info);
    }
    const auto text = plot_files({.inputs = paths, .out = file("p.png")});
    EXPECT_NE(text.find("too far apart for whole trails of Pluto, Charon;"), std::string::npos) << text;
    std::filesystem::create_directory(file("none"));
    expect_error<InvalidArgument>([&] { (void)plot_files({.inputs = {file("none")}, .out = file("p.png")}); },
                                  "no snapshots");
}
