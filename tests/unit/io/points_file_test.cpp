#include "io/points_file.h"

#include "io/csv.h"
#include "io/hdf5.h"
#include "io/npy.h"
#include "io/snapshot.h"
#include "unit/io/io_test.h"

#include <cmath>
#include <limits>

using namespace farfield;
using namespace farfield::test;

namespace {

class PointsFile : public IoTest {};

using Values = std::vector<double>;
constexpr PointLayout with_masses{.strength = "m"};
constexpr PointLayout charges{.strength = "q"};
const Values points{1, 2, 3, 5, 6, 7};
const Values strengths{4, 8};
constexpr double inf = std::numeric_limits<double>::infinity();

void expect_points(const Sources& sources, const Values& expected_strengths) {
    EXPECT_EQ(sources.points, points);
    EXPECT_EQ(sources.strengths, expected_strengths);
}

Bodies charged_bodies() {
    Bodies bodies;
    bodies.position = points;
    bodies.velocity = Values(6);
    bodies.mass = {10, 20};
    bodies.charge = strengths;
    bodies.id = {1, 2};
    return bodies;
}

} // namespace

TEST_F(PointsFile, ReadsSourcesOfEveryFormat) {
    write_npy(file("s.npy"), Values{1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
    expect_points(read_sources(file("s.npy")), strengths);
    expect_points(read_sources(written("s.csv", "q,z,y,x\n4,3,2,1\n8,7,6,5\n")), strengths);
    expect_points(read_sources(written("m.csv", "x,y,z,m\n1,2,3,4\n5,6,7,8\n"), charges), strengths);
    const auto h5 = hdf5::File::create();
    auto root = h5.root();
    root.write("points", std::span<const double>(points), {2, 3});
    root.write("strengths", strengths);
    h5.save(file("s.h5"));
    expect_points(read_sources(file("s.h5")), strengths);
    EXPECT_EQ(read_targets(file("s.h5")), points);
}

// Points in one file, several vectors of strengths in another.
TEST_F(PointsFile, ReadsStrengthsOfTheirOwn) {
    constexpr PointLayout alone{.strength = "q", .strengths = StrengthsIn::another_file};
    const Values two{4, 40, 8, 80};
    write_npy(file("p.npy"), points, {2, 3});
    expect_points(read_sources(file("p.npy"), alone), {});
    expect_points(read_sources(written("p.csv", "z,y,x\n3,2,1\n7,6,5\n"), alone), {});
    write_npy(file("q.npy"), two, {2, 2});
    const auto h5 = hdf5::File::create();
    auto root = h5.root();
    root.write("points", std::span<const double>(points), {2, 3});
    h5.save(file("p.h5"));
    expect_points(read_sources(file("p.h5"), alone), {});
    root.write("strengths", std::span<const double>(two), {2, 2});
    h5.save(file("q.h5"));
    for (const auto& path : {file("q.npy"), file("q.h5"), written("q.csv", "a,b\n4,40\n8,80\n")}) {
        const auto read = read_strengths(path, 1);
        EXPECT_EQ(read.values, two) << path;
        EXPECT_EQ(read.rows, 2);
        EXPECT_EQ(read.width, 2);
        EXPECT_FALSE(read.one_dimensional);
    }
    write_npy(file("n.npy"), strengths, {2});
    EXPECT_TRUE(read_strengths(file("n.npy"), 1).one_dimensional);
    expect_error<InvalidArgument>([&] { (void)read_strengths(file("n.npy"), 2); }, "n.npy", "even number");
    expect_error<InvalidArgument>([&] { (void)read_sources(file("q.h5"), alone); }, "q.h5", "'strengths'");
}

TEST_F(PointsFile, TheKernelChoosesBetweenMassAndCharge) {
    const auto both = written("b.csv", "x,y,z,m,q\n1,2,3,10,4\n5,6,7,20,8\n");
    expect_points(read_sources(both, with_masses), {10, 20});
    expect_points(read_sources(both, charges), strengths);
    auto bodies = charged_bodies();
    write_snapshot(file("b.h5"), bodies, {});
    expect_points(read_sources(file("b.h5"), with_masses), {10, 20});
    expect_points(read_sources(file("b.h5"), charges), strengths);
    EXPECT_EQ(read_targets(file("b.h5")), points);
    bodies.charge.clear();
    write_snapshot(file("b.h5"), bodies, {});
    expect_error<InvalidArgument>([&] { (void)read_sources(file("b.h5"), charges); }, "b.h5", "Charge");
}

TEST_F(PointsFile, ReadsTargets) {
    write_npy(file("t.npy"), points, {2, 3});
    EXPECT_EQ(read_targets(file("t.npy")), points);
    EXPECT_EQ(read_targets(written("t.csv", "x,y,z\n1,2,3\n5,6,7\n")), points);
}

TEST_F(PointsFile, RefusesBadPoints) {
    write_npy(file("s.npy"), Values(6), {2, 3});
    expect_error<InvalidArgument>([&] { (void)read_sources(file("s.npy")); }, "s.npy", "(2, 3)", "(N, 4)",
                                  "mass or charge");
    write_npy(file("t.npy"), Values(8), {2, 4});
    expect_error<InvalidArgument>([&] { (void)read_targets(file("t.npy")); }, "t.npy", "(2, 4)", "(N, 3)");
    write_npy(file("t.npy"), {}, {0, 3});
    expect_error<InvalidArgument>([&] { (void)read_targets(file("t.npy")); }, "(0, 3)", "N at least 1");
    write_npy(file("t.npy"), Values{0, 0, 0, 0, -inf, 0}, {2, 3});
    expect_error<InvalidArgument>([&] { (void)read_targets(file("t.npy")); }, "row 1, column 1", "-inf");
    expect_error<InvalidArgument>([&] { (void)read_sources(written("s.csv", "x,y,z\n1,2,3\n")); },
                                  "no column 'q'");
    EXPECT_EQ(read_targets(written("t.csv", "Z;w;X;Y\n3;red;1;2\n")), (Values{1, 2, 3}));
    EXPECT_EQ(read_sources(written("s.csv", "X,Y,Z,Q,name\n1,2,3,4,a\n")).strengths, Values{4});
    expect_error<InvalidArgument>([&] { (void)read_sources(file("s.dat")); }, "s.dat",
                                  ".npy, .csv, .h5 or .hdf5");
}

TEST_F(PointsFile, RefusesBadHdf5Points) {
    const auto save = [&](const hdf5::Shape& shape, const Values& values, const Values& strengths_of_them) {
        const auto h5 = hdf5::File::create();
        auto root = h5.root();
        root.write("points", std::span<const double>(values), shape);
        root.write("strengths", strengths_of_them);
        h5.save(file("s.h5"));
    };
    const auto refused = [&](auto... parts) {
        expect_error<InvalidArgument>([&] { (void)read_sources(file("s.h5")); }, "s.h5", parts...);
    };
    save({3, 2}, points, strengths);
    refused("/points", "(3, 2)", "(N, 3)");
    save({0, 3}, {}, {});
    refused("/points", "(0, 3)");
    save({2, 3}, points, {1, 2, 3});
    refused("/strengths", "(3)", "one value a point");
    save({2, 3}, {0, 0, 0, 0, 0, inf}, strengths);
    refused("/points", "row 1", "inf");
    hdf5::File::create().save(file("s.h5"));
    refused("Header");
}

TEST_F(PointsFile, ReadsOtherDimensionsAndComplexStrengths) {
    const PointLayout plane{
        .least_dimension = 2, .most_dimension = 2, .strength = "q", .second = "q_imaginary"};
    write_npy(file("p.npy"), Values{1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
    for (const auto& path : {file("p.npy"), written("p.csv", "q_imaginary,q,y,x\n4,3,2,1\n8,7,6,5\n")}) {
        const auto sources = read_sources(path, plane);
        EXPECT_EQ(sources.dimension, 2);
        EXPECT_EQ(sources.points, (Values{1, 2, 5, 6}));
        EXPECT_EQ(sources.strengths, (Values{3, 4, 7, 8}));
    }
    const PointLayout any{.least_dimension = 1, .most_dimension = 6, .strength = "q"};
    EXPECT_EQ(read_sources(file("p.npy"), any).dimension, 3);
    EXPECT_EQ(read_sources(written("a.csv", "x1,x2,x3,x4,q\n1,2,3,4,5\n"), any).dimension, 4);
    EXPECT_EQ(read_sources(written("a.csv", "y,x,q\n1,2,5\n"), any).points, (Values{2, 1}));
    EXPECT_EQ(read_targets(written("t.csv", "x1,x2,x3,x4\n1,2,3,4\n"), 4), (Values{1, 2, 3, 4}));
    write_npy(file("r.npy"), Values{2, 1, 5}, {1, 3});
    for (const auto& path : {file("a.csv"), file("r.npy")}) { // imaginary parts may be left out
        EXPECT_EQ(read_sources(path, plane).points, (Values{2, 1}));
        EXPECT_EQ(read_sources(path, plane).strengths, (Values{5, 0}));
    }
    {
        const auto h5 = hdf5::File::create();
        auto root = h5.root();
        root.write("points", std::span<const double>(Values{2, 1}), hdf5::Shape{1, 2});
        root.write("strengths", Values{5});
        h5.save(file("r.h5"));
    }
    EXPECT_EQ(read_sources(file("r.h5"), plane).strengths, (Values{5, 0}));
    expect_error<InvalidArgument>(
        [&] { (void)read_sources(written("c.csv", "x,y,q_imaginary\n1,2,5\n"), plane); }, "no column 'q'");
    expect_error<InvalidArgument>(
        [&] { (void)read_sources(written("i.csv", "x,y,q,q_im\n1,2,3,5\n"), plane); }, "column 'q_im'",
        "'q_imaginary'");
    expect_error<InvalidArgument>([&] { (void)read_sources(written("z.csv", "x,y,Z,q\n1,2,3,5\n"), plane); },
                                  "column 'Z'", "plane");
    write_npy(file("w.npy"), Values(8), {1, 8});
    expect_error<InvalidArgument>([&] { (void)read_sources(file("w.npy"), any); }, "(N, 7)", "x1 x2");
    write_snapshot(file("b.h5"), charged_bodies(), {});
    expect_error<InvalidArgument>([&] { (void)read_sources(file("b.h5"), plane); }, "b.h5", "in space");
}

TEST_F(PointsFile, WritesOutputsOfEveryFormat) {
    const Values potential{-1, -2};
    const Values field{1, 2, 3, 4, 5, 6};
    const OutputArray first{"potential", {"potential"}, potential};
    const OutputArray second{"field", {"field_x", "field_y", "field_z"}, field};
    const std::vector<OutputArray> both{first, second};
    write_sum_outputs(file("o.npy"), 2, both);
    EXPECT_EQ(read_npy(file("o.npy")).shape, (std::vector<std::int64_t>{2, 4}));
    EXPECT_EQ(read_npy(file("o.npy")).values, (Values{-1, 1, 2, 3, -2, 4, 5, 6}));
    write_sum_outputs(file("o.npy"), 2, {&first, 1});
    EXPECT_EQ(read_npy(file("o.npy")).shape, std::vector<std::int64_t>{2});
    write_sum_outputs(file("o.npy"), 2, {&second, 1});
    EXPECT_EQ(read_npy(file("o.npy")).shape, (std::vector<std::int64_t>{2, 3}));
    write_sum_outputs(file("o.csv"), 2, both);
    EXPECT_EQ(content_of(file("o.csv")), "potential,field_x,field_y,field_z\n-1,1,2,3\n-2,4,5,6\n");
    write_sum_outputs(file("o.h5"), 2, both);
    const auto h5 = hdf5::File::open(file("o.h5"));
    EXPECT_EQ(h5.root().dataset("potential").read<double>(), potential);
    EXPECT_EQ(h5.root().dataset("field").shape(), (hdf5::Shape{2, 3}));
    EXPECT_EQ(h5.root().dataset("field").read<double>(), field);
}

TEST_F(PointsFile, RefusesOutputsThatDoNotFit) {
    const Values value{1};
    const OutputArray one{"potential", {"potential"}, value};
    expect_error<InvalidArgument>(
        [&] {
            write_sum_outputs(file("o.txt"), 1, {&one, 1});
        },
        "o.txt", ".npy, .csv");
    expect_error<InvalidArgument>([&] { check_sum_output_name(file("o.txt")); }, "o.txt", ".npy, .csv");
    EXPECT_NO_THROW(check_sum_output_name(file("o.HDF5")));
    expect_error<InvalidArgument>(
        [&] {
            write_sum_outputs(file("o.npy"), 2, {&one, 1});
        },
        "1 numbers of output 'potential'", "2 targets");
    expect_error<InvalidArgument>([&] { write_sum_outputs(file("o.npy"), 2, {}); }, "no output");
    expect_error<IoError>(
        [&] {
            write_sum_outputs(file("none/o.csv"), 1, {&one, 1});
        },
        "none/o.csv", "No such file");
}
