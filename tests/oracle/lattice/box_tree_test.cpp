// Cubes by the fast multipole method, whose tree has neighbours across the faces, against Ewald's method and
// sums in long double.
#include "box_device.h"
#include "lattice_cases.h"

#include "effort.h"
#include "expect_error.h"

#include <farfield/error.h>

#include <algorithm>
#include <set>

namespace farfield {
namespace {

using namespace test;

constexpr double side = 1.75; // of which multiples have few digits
constexpr std::array sides_of_cube{side, side, side};

constexpr bool is_on_gpu = device_kind == DeviceKind::cuda;

SumOptions in_cube(Method method, double tolerance = 0.0) {
    SumOptions out{
        .kernel = Kernel::coulomb, .method = method, .period = sides_of_cube, .tolerance = tolerance};
    if (method == Method::fmm) out.device.kind = device_kind;
    return out;
}

std::vector<Values> by_ewald(const Charges& charges, SumOptions like) {
    SumOptions options = in_cube(Method::ewald, 1e-12);
    options.boundary = like.boundary;
    options.background = like.background;
    options.coincident = like.coincident;
    options.softening = like.softening;
    const auto result = periodic_sum(charges, options);
    std::vector<Values> out(result.potential.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].potential = result.potential[i];
        for (std::size_t k = 0; k < 3; ++k) out[i].field[k] = result.field[3 * i + k];
    }
    return out;
}

/// Half of the charges lie ever closer to a corner, an edge or a face, on all sides of it or inside the box:
/// cells of many sizes meet across faces.
Charges around_a_corner(std::size_t n, unsigned seed, int axes, bool inside = false) {
    auto out = random_charges(n, sides_of_cube, seed);
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (std::size_t i = 0; i < n / 2; ++i) {
        const double reach = side * std::exp2(-12.0 * (uniform(engine) + 1.0) / 2.0 - 1.0);
        for (std::size_t k = 0; k < static_cast<std::size_t>(axes); ++k) {
            const double x = reach * (inside ? std::abs(uniform(engine)) : uniform(engine));
            out.points[3 * i + k] = x < 0.0 ? x + side : x;
        }
    }
    return out;
}

void expect_near(const Charges& charges, const SumOptions& options, double tolerance) {
    const auto result = periodic_sum(charges, options);
    const auto errors = errors_against(result, by_ewald(charges, options));
    EXPECT_LT(errors.potential, tolerance);
    EXPECT_LT(errors.field, tolerance);
}

TEST(BoxTree, KeepsTolerancesOnAnyGrid) {
    NEEDS_DEVICE();
    const auto charges = random_charges(sized<std::size_t>(20000, 4000), sides_of_cube, 3);
    const auto exact = by_ewald(charges, in_cube(Method::fmm));
    std::set<int> coarse;
    for (const int leaf : {4, 12, 40, 150, 500})
        for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
            auto options = in_cube(Method::fmm, tolerance);
            options.leaf = leaf;
            const auto result = periodic_sum(charges, options);
            const auto errors = errors_against(result, exact);
            // which is kept at a sample of the targets
            EXPECT_LT(errors.potential, 1.1 * tolerance) << leaf;
            EXPECT_LT(errors.field, 1.1 * tolerance) << leaf;
            EXPECT_EQ(result.report.lattice.near_pairs > 0, !is_on_gpu); // there leaves meet images as others
            EXPECT_EQ(result.report.lattice.rim_images > 0, !is_on_gpu);
            EXPECT_LT(result.report.lattice.rim_images, 26 * std::ssize(charges.strengths));
            coarse.insert(result.report.fmm.coarse);
        }
    EXPECT_EQ(coarse, (std::set{1, 3}));
}

TEST(BoxTree, KeepsTolerancesOfUnevenPoints) {
    NEEDS_DEVICE();
    for (const int axes : {1, 2, 3})
        for (const int separation : {1, 2}) {
            SCOPED_TRACE(testing::Message() << axes << " axes, separation " << separation);
            const auto charges = around_a_corner(sized<std::size_t>(6000, 2000), 5, axes);
            for (const int leaf : {3, 20, 100}) {
                auto options = in_cube(Method::fmm, 1e-7);
                options.leaf = leaf;
                options.separation = separation;
                expect_near(charges, options, 1e-7);
            }
        }
}

TEST(BoxTree, TranslatesInAnyWay) {
    NEEDS_DEVICE();
    const auto uneven = around_a_corner(3000, 8, 3), even = random_charges(3000, sides_of_cube, 8);
    for (const auto m2l : {M2L::mirrored, M2L::rotation, M2L::matrix})
        for (const auto precision : {Precision::float32, Precision::mixed, Precision::float64}) {
            if (is_on_gpu && m2l == M2L::rotation) continue; // which are not there
            auto options = in_cube(Method::fmm);
            options.m2l = m2l;
            options.precision = precision;
            options.order = 12;
            options.leaf = 12;
            SCOPED_TRACE(testing::Message() << name_of(m2l) << ' ' << name_of(precision));
            if (precision == Precision::float32) // which knows no small distances near a face
                expect_near(even, options, 1e-4);
            else
                expect_near(uneven, options, 2e-5);
        }
}

TEST(BoxTree, TakesFewPoints) {
    NEEDS_DEVICE();
    for (const std::size_t n : {2, 3, 5, 9, 30})
        for (unsigned seed = 1; seed <= sized(6U, 1U); ++seed) {
            const auto charges = random_charges(n, sides_of_cube, seed);
            const auto exact = lattice_oracle::sums(charges, box_of(sides_of_cube));
            const auto errors = errors_against(periodic_sum(charges, in_cube(Method::fmm, 1e-6)), exact);
            EXPECT_LT(errors.potential, 1e-6) << n << " seed " << seed;
            EXPECT_LT(errors.field, 1e-6) << n << " seed " << seed;
        }
}

// At an order that no check raises: cells that meet across a face are no nearer than others.
TEST(BoxTree, MeetsUnevenCellsAtTheirDistance) {
    NEEDS_DEVICE();
    for (const int leaf : {80, 150}) {
        auto options = in_cube(Method::fmm);
        options.precision = Precision::float64;
        options.order = 14;
        options.leaf = leaf;
        SCOPED_TRACE(leaf);
        for (const int axes : {1, 2, 3}) expect_near(around_a_corner(8000, 8, axes, true), options, 2e-6);
    }
}

// As deep as asked for, but so deep that no cell is twice another's neighbour.
TEST(BoxTree, TakesAnyDepth) {
    NEEDS_DEVICE();
    const auto charges = random_charges(1500, sides_of_cube, 2);
    for (const int separation : {1, 2})
        for (const int depth : {0, 1, 2, 3, 4}) {
            auto options = in_cube(Method::fmm, 1e-6);
            options.depth = depth;
            options.separation = separation;
            const auto result = periodic_sum(charges, options);
            EXPECT_EQ(result.report.fmm.levels, std::max(depth, separation + 1) + 1);
            expect_near(charges, options, 1e-6);
        }
}

/// Rock salt, whose ions would lie at corners of cells, were these those of the box.
Charges crystal() {
    Charges out;
    for (int i = 0; i < 512; ++i) {
        const int x = i % 8, y = i / 8 % 8, z = i / 64;
        for (const int k : {x, y, z}) out.points.push_back(side / 8.0 * k);
        out.strengths.push_back((x + y + z) % 2 == 0 ? 1.0 : -1.0);
    }
    return out;
}

TEST(BoxTree, TakesCrystals) {
    NEEDS_DEVICE();
    const auto charges = crystal();
    auto options = in_cube(Method::fmm, 1e-8);
    options.leaf = 8; // 4³ leaves
    const auto madelung = periodic_sum(charges, options, Output::potential);
    EXPECT_LE(madelung.report.fmm.order, 22);
    for (std::size_t i = 0; i < charges.size(); ++i)
        EXPECT_NEAR(madelung.potential[i] * side / 8.0, -1.747564594633182 * charges.strengths[i], 1e-7);
}

// Points on the faces, in the corners and just inside, and images of points given elsewhere.
TEST(BoxTree, TakesPointsOnFaces) {
    NEEDS_DEVICE();
    auto charges = random_charges(800, sides_of_cube, 4);
    const double inside = std::nextafter(side, 0.0);
    for (std::size_t i = 0; i < 200; ++i) {
        charges.points[3 * i + i % 3] = i % 2 == 0 ? 0.0 : inside;
        charges.points[3 * (i + 400) + i % 3] += side * (static_cast<double>(i % 7) - 3.0);
    }
    for (std::size_t k = 0; k < 3; ++k) charges.points[k] = 0.0, charges.points[3 + k] = 0.5 * side;
    auto options = in_cube(Method::fmm, 1e-8);
    options.leaf = 8;
    expect_near(charges, options, 1e-8);
}

TEST(BoxTree, HasSurroundingsAndBackgrounds) {
    NEEDS_DEVICE();
    auto charges = random_charges(2000, sides_of_cube, 6);
    auto options = in_cube(Method::fmm);
    options.order = 26;
    options.precision = Precision::float64;
    options.boundary = Boundary::vacuum;
    expect_near(charges, options, 1e-8);
    options.boundary = Boundary::tin_foil;
    options.background = Background::uniform;
    for (auto& q : charges.strengths) q += 0.1;
    for (const int leaf : {30, 70}) { // both coarsest grids
        options.leaf = leaf;
        expect_near(charges, options, 1e-8);
    }
}

// Beyond neighbours as 1/r, with what is missing of it, and by the softened kernel alone; and beside a
// background that shows at any size.
TEST(BoxTree, SoftensImages) {
    NEEDS_DEVICE();
    for (const double softening : {0.004, 0.05, 0.2, 0.8})
        for (const auto background : {Background::none, Background::uniform}) {
            SCOPED_TRACE(testing::Message() << softening << ' ' << name_of(background));
            const auto uneven = around_a_corner(4000, 15, 3);
            auto options = in_cube(Method::fmm, 1e-3);
            options.background = background;
            options.softening = softening;
            options.leaf = 10;
            expect_near(uneven, options, 1e-3);
            options.leaf = 100;
            expect_near(random_charges(4000, sides_of_cube, 16), options, 1.1e-3);
        }
}

// To as many digits as the order brings, so that no wrong far image hides.
TEST(BoxTree, SoftensImagesToManyDigits) {
    NEEDS_DEVICE();
    const auto charges = random_charges(500, sides_of_cube, 22);
    for (const double softening : {0.01, 0.1})
        for (const auto boundary : {Boundary::tin_foil, Boundary::vacuum}) {
            SCOPED_TRACE(testing::Message() << softening << ' ' << name_of(boundary));
            auto options = in_cube(Method::fmm, 1e-7);
            options.precision = Precision::float64;
            options.boundary = boundary;
            options.softening = softening;
            expect_near(charges, options, 1e-7);
        }
}

// Between cells polynomials carry the kernel whole, where the order asks for more than they have, and far
// images do not show the softening.
TEST(BoxTree, KeepsFarImagesOfAnyOrder) {
    NEEDS_DEVICE();
    auto options = in_cube(Method::fmm, 0.1);
    options.precision = Precision::float64;
    options.softening = 0.0144 * side;
    options.order = 30;
    expect_near(random_charges(1500, sides_of_cube, 17), options, 1e-3);
}

// Of images polynomials of the lowest degree are left, where blocks have no lower one.
TEST(BoxTree, TakesAnyTolerance) {
    NEEDS_DEVICE();
    auto options = in_cube(Method::fmm, 1e4);
    options.background = Background::uniform;
    options.softening = 0.1;
    options.order = 10;
    EXPECT_LT(periodic_sum(random_charges(5000, sides_of_cube, 18), options).report.errors[0].relative, 1.0);
}

TEST(BoxTree, SumsAtSeparateTargets) {
    NEEDS_DEVICE();
    const auto charges = around_a_corner(2500, 9, 2);
    const auto others = around_a_corner(1800, 10, 3);
    const auto at_others = [&](const SumOptions& options) {
        return sum(matrix_view(std::span<const double>(charges.points), 3),
                   matrix_view(std::span<const double>(others.points), 3),
                   ConstArrayView(std::span<const double>(charges.strengths)), options);
    };
    const auto exact = at_others(in_cube(Method::ewald, 1e-12));
    for (const int leaf : {6, 60}) {
        auto options = in_cube(Method::fmm, 1e-7);
        options.leaf = leaf;
        const auto result = at_others(options);
        double off = 0.0, all = 0.0;
        for (std::size_t i = 0; i < exact.field.size(); ++i) {
            off += std::pow(result.field[i] - exact.field[i], 2);
            all += std::pow(exact.field[i], 2);
        }
        EXPECT_LT(std::sqrt(off / all), 1e-7);
    }
}

// Where points meet, sums over open space find the pair, or leave it out.
TEST(BoxTree, FindsPointsThatMeet) {
    NEEDS_DEVICE();
    auto charges = random_charges(1000, sides_of_cube, 12);
    for (std::size_t k = 0; k < 3; ++k) // of an image
        charges.points[3 * 700 + k] = charges.points[3 * 40 + k] = 0.25 * side;
    charges.points[3 * 700] += side;
    auto options = in_cube(Method::fmm, 1e-6);
    expect_contains(error_of<InvalidArgument>([&] { (void)periodic_sum(charges, options); }), {"40", "700"});
    options.coincident = Coincident::skip;
    expect_near(charges, options, 1e-6);
    EXPECT_EQ(periodic_sum(charges, options).report.direct.coincident_pairs_skipped, 2);
}

// What the check of the first sum has raised stays raised, also once points have moved, met and parted:
// nothing is checked again.
TEST(BoxTree, KeepsItsOrderWherePointsMet) {
    NEEDS_DEVICE();
    const auto charges = crystal();
    auto together = charges;
    for (std::size_t k = 0; k < 3; ++k) together.points[3 * 5 + k] = together.points[3 * 9 + k];
    auto options = in_cube(Method::fmm, 1e-8);
    options.leaf = 19; // 3³ leaves
    options.coincident = Coincident::skip;
    SumPlan plan(matrix_view(std::span<const double>(charges.points), 3), options);
    const auto potential = [&] {
        std::vector<double> out(charges.size());
        plan.execute(std::span<const double>(charges.strengths), {.potential = std::span(out)});
        return out;
    };
    const auto first = potential();
    EXPECT_GT(plan.report().fmm.order, 21); // that random charges begin with
    plan.update(matrix_view(std::span<const double>(together.points), 3));
    const auto met = potential();
    const auto exact = by_ewald(together, options);
    for (std::size_t i = 0; i < met.size(); ++i)
        EXPECT_NEAR(met[i], static_cast<double>(exact[i].potential),
                    6e-6); // ten times as much at the first order
    plan.update(matrix_view(std::span<const double>(charges.points), 3));
    EXPECT_EQ(potential(), first);
}

// Two charges in corners of cells that expansions meet are summed by images, also once they have moved.
TEST(BoxTree, StaysWithImagesWhereItHadTo) {
    NEEDS_DEVICE();
    const double below = side * (3.0 / 16.0 - 1e-6),
                 above = side * (7.0 / 16.0 + 1e-6); // of 4³ leaves from −1/16 on
    const std::vector<double> points{below, below, below, above, above, above}, strengths{1.0, -1.0};
    SumPlan plan(matrix_view(std::span<const double>(points), 3), in_cube(Method::fmm, 1e-9));
    std::vector<double> first(2), again(2);
    plan.execute(std::span<const double>(strengths), {.potential = std::span(first)});
    EXPECT_EQ(plan.report().passes.back().name, "far images");
    plan.update(matrix_view(std::span<const double>(points), 3));
    plan.execute(std::span<const double>(strengths), {.potential = std::span(again)});
    EXPECT_EQ(again, first);
}

// In float two points are one, or one and an image of the other.
TEST(BoxTree, TakesPointsThatMeetInFloat) {
    NEEDS_DEVICE();
    auto charges = random_charges(500, sides_of_cube, 13);
    for (std::size_t k = 0; k < 3; ++k) charges.points[3 + k] = charges.points[k] * (1.0 + 1e-12);
    auto options = in_cube(Method::fmm);
    options.precision = Precision::float32;
    const auto expect_potential = [&] {
        const auto exact = static_cast<double>(by_ewald(charges, options)[0].potential);
        EXPECT_NEAR(periodic_sum(charges, options).potential[0] / exact, 1.0, 1e-3);
    };
    expect_potential();
    charges.points[0] = std::nextafter(side, 0.0);
    charges.points[3] = 1e-12;
    for (const std::size_t k : {1, 2}) charges.points[3 + k] = charges.points[k];
    expect_potential();
}

} // namespace
} // namespace farfield
