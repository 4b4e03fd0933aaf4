// Boxes that are periodic along one, two or three axes by `direct` and the fast multipole method, against
// Madelung constants, sums of Bessel functions in long double (open_lattice_oracle.h), Ewald's method, and
// each other.
#include "lattice_cases.h"
#include "open_lattice_oracle.h"

#include "effort.h"
#include "expect_error.h"

#include <farfield/error.h>

#include <numbers>
#include <random>

namespace farfield {
namespace {

using namespace test;
using Box = std::array<double, 3>;

SumOptions options_of(Method method, const Box& period, double tolerance) {
    return {.kernel = Kernel::coulomb, .method = method, .period = period, .tolerance = tolerance};
}

SumOptions direct(const Box& period, double tolerance) {
    return options_of(Method::direct, period, tolerance);
}

/// The extent of the points along open axes.
Box filled(Box period, double open) {
    for (auto& length : period)
        if (length == 0.0) length = open;
    return period;
}

/// Random and neutral, no pair closer than `apart` periods along two axes: there series of Bessel functions
/// are short.
Charges spaced_charges(std::size_t n, const Box& period, unsigned seed, double open = 0.7) {
    constexpr double apart = 0.06;
    const auto box = filled(period, open * *std::max_element(period.begin(), period.end()));
    double shortest = HUGE_VAL;
    for (const double length : period)
        if (length > 0.0) shortest = std::min(shortest, length);
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    Charges out;
    double total = 0.0;
    while (out.size() < n) {
        std::array<double, 3> x{};
        for (std::size_t k = 0; k < 3; ++k) x[k] = box[k] * uniform(engine);
        bool fits = true;
        for (std::size_t j = 0; j < out.size(); ++j) {
            std::array<double, 3> d{};
            for (std::size_t k = 0; k < 3; ++k) {
                d[k] = x[k] - out.points[3 * j + k];
                if (period[k] > 0.0) d[k] -= period[k] * std::round(d[k] / period[k]);
            }
            for (std::size_t k = 0; k < 3; ++k)
                fits = fits && std::hypot(d[k], d[(k + 1) % 3]) > apart * shortest;
        }
        if (!fits) continue;
        out.points.insert(out.points.end(), x.begin(), x.end());
        out.strengths.push_back(out.size() + 1 < n ? uniform(engine) - 0.5 : -total);
        total += out.strengths.back();
    }
    return out;
}

std::vector<Values> values_of(const SumResult& result) {
    std::vector<Values> out(result.potential.size());
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].potential = result.potential[i];
        for (std::size_t k = 0; k < 3; ++k) out[i].field[k] = result.field[3 * i + k];
    }
    return out;
}

// Σ_{n=−N}^{N} less (2/L) ln 2NL, whose error falls as N⁻²; and circles of images.
TEST(OpenLatticeOracle, SumsLinesAndSlabs) {
    const Real length = 1.3L;
    const Vector d{0.21L, 0.3L, -0.1L};
    const auto line_to = [&](int last) {
        Real sum = -2 / length * std::log(2 * (last + 0.5L) * length);
        for (int n = -last; n <= last; ++n)
            sum += 1 / std::sqrt((d[0] + n * length) * (d[0] + n * length) + d[1] * d[1] + d[2] * d[2]);
        return sum;
    };
    const Real richardson = (4 * line_to(4000) - line_to(2000)) / 3;
    EXPECT_NEAR(static_cast<double>(open_lattice_oracle::line(d, 0, length).potential),
                static_cast<double>(richardson), 1e-9);
    // the same slab from lines along its other axis
    const auto a = open_lattice_oracle::slab({0.31L, 0.3L, 0.2L}, 2, {1.0L, 1.1L, 0.0L});
    const auto b = open_lattice_oracle::slab({0.31L, 0.3L - 1.1L, 0.2L}, 2, {1.0L, 1.1L, 0.0L});
    const auto c = open_lattice_oracle::slab({0.3L, 0.31L, 0.2L}, 2, {1.1L, 1.0L, 0.0L});
    EXPECT_NEAR(static_cast<double>(a.potential), static_cast<double>(b.potential), 1e-16);
    EXPECT_NEAR(static_cast<double>(a.potential), static_cast<double>(c.potential), 1e-16);
    EXPECT_NEAR(static_cast<double>(a.field[0]), static_cast<double>(c.field[1]), 1e-16);
    // a square lattice of charges of alternating signs, Σ (−1)^(i+j)/√(i²+j²) = 4 (√2 − 1) ζ(½) β(½)
    const Vector box{2.0L, 2.0L, 0.0L};
    const Real own = open_lattice_oracle::own_images(box);
    const Real sum = own - 2 * open_lattice_oracle::slab({1.0L, 0.0L, 0.0L}, 2, box).potential +
                     open_lattice_oracle::slab({1.0L, 1.0L, 0.0L}, 2, box).potential;
    EXPECT_NEAR(static_cast<double>(sum), -1.6155426267128247, 1e-14);
}

TEST(Images, GiveMadelungConstants) {
    struct PeriodicCrystal {
        const char* name;
        Charges cell;
        double constant, units, distance;
    };
    const double h = 0.5, f = 0.25, t = 0.75;
    const std::vector<PeriodicCrystal> crystals{
        {"NaCl",
         charges_of({{0, 0, 0, 1},
                     {0, h, h, 1},
                     {h, 0, h, 1},
                     {h, h, 0, 1},
                     {h, 0, 0, -1},
                     {0, h, 0, -1},
                     {0, 0, h, -1},
                     {h, h, h, -1}}),
         1.747564594633182, 4.0, 0.5},
        {"CsCl", charges_of({{0, 0, 0, 1}, {h, h, h, -1}}), 1.762674773070988, 1.0, std::sqrt(0.75)},
        {"ZnS",
         charges_of({{0, 0, 0, 1},
                     {0, h, h, 1},
                     {h, 0, h, 1},
                     {h, h, 0, 1},
                     {f, f, f, -1},
                     {f, t, t, -1},
                     {t, f, t, -1},
                     {t, t, f, -1}}),
         1.638055053388790, 4.0, std::sqrt(3.0) / 4.0}};
    for (const auto& crystal : crystals)
        for (const double tolerance : {0.0, 1e-12}) {
            SCOPED_TRACE(crystal.name);
            const auto result =
                periodic_sum(crystal.cell, direct({1.0, 1.0, 1.0}, tolerance), Output::potential);
            EXPECT_NEAR(-*result.report.energy / crystal.units * crystal.distance, crystal.constant, 1e-12);
        }
    // a square lattice, and a line: 2 ln 2
    const auto square = charges_of({{0, 0, 0, 1}, {1, 0, 0, -1}, {0, 1, 0, -1}, {1, 1, 0, 1}});
    EXPECT_NEAR(periodic_sum(square, direct({2.0, 2.0, 0.0}, 1e-12), Output::potential).potential[0],
                -1.6155426267128247, 1e-12);
    const auto line = charges_of({{0, 0, 0, 1}, {1, 0, 0, -1}});
    EXPECT_NEAR(periodic_sum(line, direct({2.0, 0.0, 0.0}, 1e-12), Output::potential).potential[0],
                -2.0 * std::numbers::ln2, 1e-12);
}

TEST(Images, KeepTolerancesInBoxesOfAnyShape) {
    for (const auto& period :
         {Box{1.0, 1.0, 1.0}, Box{3.0, 1.0, 1.7}, Box{2e9, 5e9, 3e9}, Box{1.0, 1.0, 0.0}, Box{0.0, 1.3, 0.6},
          Box{2.0, 0.0, 0.9}, Box{1.0, 0.0, 0.0}, Box{0.0, 0.7, 0.0}, Box{0.0, 0.0, 3e-7}}) {
        SCOPED_TRACE(testing::Message() << period[0] << ' ' << period[1] << ' ' << period[2]);
        const auto charges = spaced_charges(16, period, 7);
        const auto exact = open_lattice_oracle::sums(charges, box_of(period));
        for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12})
            for (const auto method : {Method::direct, Method::fmm}) {
                const auto result = periodic_sum(charges, options_of(method, period, tolerance));
                const auto errors = errors_against(result, exact);
                EXPECT_LT(errors.potential, tolerance) << name_of(method);
                EXPECT_LT(errors.field, tolerance) << name_of(method);
                ASSERT_EQ(result.report.errors.size(), 2U);
                // what it says of itself is what it is
                EXPECT_NEAR(result.report.errors[0].relative, errors.potential,
                            0.01 * errors.potential + 2e-13);
                EXPECT_NEAR(result.report.errors[1].relative, errors.field, 0.01 * errors.field + 2e-13);
            }
    }
}

TEST(Images, LongBoxesAndFarPoints) {
    // cells of a long box; points many periods apart along open axes
    for (const auto& [period, open] : {std::pair{Box{9.0, 1.0, 1.0}, 0.0}, std::pair{Box{1.0, 0.0, 1.2}, 8.0},
                                       std::pair{Box{0.0, 1.0, 0.0}, 5.0}}) {
        const auto charges = spaced_charges(24, period, 3, open);
        const auto exact = open_lattice_oracle::sums(charges, box_of(period));
        const auto errors = errors_against(periodic_sum(charges, direct(period, 1e-10)), exact);
        EXPECT_LT(errors.potential, 1e-10) << period[0];
        EXPECT_LT(errors.field, 1e-10) << period[0];
    }
    auto charges = spaced_charges(4, {1.0, 0.0, 0.0}, 1);
    charges.points[1] = 1e9;
    expect_contains(error_of<InvalidArgument>([&] {
                        (void)periodic_sum(charges, direct({1.0, 0.0, 0.0}, 1e-6));
                    }),
                    {"period", "long and thin"});
}

TEST(Images, AllMethodsAgree) {
    for (unsigned seed = 1; seed <= sized(20U, 2U); ++seed) {
        const Box period{1.0, 0.8 + 0.02 * seed, 1.3};
        const auto charges = random_charges(300, period, seed);
        for (const double tolerance : {1e-4, 1e-8}) {
            const auto exact = values_of(periodic_sum(charges, options_of(Method::ewald, period, 1e-12)));
            for (const auto method : {Method::direct, Method::fmm}) {
                const auto errors =
                    errors_against(periodic_sum(charges, options_of(method, period, tolerance)), exact);
                EXPECT_LT(errors.potential, tolerance) << "seed " << seed;
                EXPECT_LT(errors.field, tolerance) << "seed " << seed;
            }
        }
    }
}

// With a tree of several levels.
TEST(Images, FastMultipolesAgreeWithPairs) {
    for (const auto& period : {Box{1.0, 1.0, 1.0}, Box{1.0, 2.0, 0.0}, Box{0.0, 0.0, 1.5}}) {
        const auto charges = random_charges(sized<std::size_t>(6000, 1500), filled(period, 1.0), 11);
        const auto exact = values_of(periodic_sum(charges, direct(period, 1e-12)));
        for (const double tolerance : {1e-3, 1e-6, 1e-9}) {
            auto options = options_of(Method::fmm, period, tolerance);
            options.depth = 2;
            const auto result = periodic_sum(charges, options);
            EXPECT_EQ(result.report.fmm.levels, 3);
            const auto errors = errors_against(result, exact);
            EXPECT_LT(errors.potential, tolerance) << period[0];
            EXPECT_LT(errors.field, tolerance) << period[0];
        }
    }
}

TEST(Images, DoNotMindShifts) {
    for (const auto& period : {Box{1.0, 1.5, 0.7}, Box{1.0, 0.0, 0.7}, Box{0.0, 0.9, 0.0}}) {
        auto charges = random_charges(100, filled(period, 0.8), 5);
        const auto before = values_of(periodic_sum(charges, direct(period, 1e-11)));
        for (std::size_t i = 0; i < charges.size(); ++i)
            for (std::size_t k = 0; k < 3; ++k)
                charges.points[3 * i + k] += 0.37 + (i % 5 == 0 ? 3.0 * period[k] : 0.0);
        const auto errors = errors_against(periodic_sum(charges, direct(period, 1e-11)), before);
        EXPECT_LT(errors.potential, 2e-11);
        EXPECT_LT(errors.field, 2e-11);
    }
}

// Sheets of opposite charge: a dipole moment across a slab stays, φ = ∓2πσd on either side.
TEST(Images, SlabsKeepTheirDipole) {
    const auto charges = charges_of({{0.2, 0.3, 0.0, 1.0}, {0.7, 0.4, 0.25, -1.0}});
    const std::vector<double> targets{0.1, 0.1, 6.0, 0.1, 0.1, -6.0};
    const auto result = sum(matrix_view(std::span<const double>(charges.points), 3),
                            matrix_view(std::span<const double>(targets), 3),
                            ConstArrayView(std::span<const double>(charges.strengths)),
                            direct({1.0, 1.0, 0.0}, 0.0)); // of a field of 0 there is no relative error
    EXPECT_NEAR(result.potential[0], -0.5 * std::numbers::pi, 1e-9);
    EXPECT_NEAR(result.potential[1], 0.5 * std::numbers::pi, 1e-9);
    for (const double component : result.field) EXPECT_NEAR(component, 0.0, 1e-9);
}

TEST(Images, SumAtSeparateTargets) {
    for (const auto& period : {Box{1.0, 1.1, 1.2}, Box{1.0, 1.1, 0.0}, Box{0.0, 0.0, 1.2}}) {
        const auto all = spaced_charges(30, period, 9);
        Charges charges, targets;
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto& to = i < 8 ? targets : charges;
            to.points.insert(to.points.end(), all.points.begin() + static_cast<std::ptrdiff_t>(3 * i),
                             all.points.begin() + static_cast<std::ptrdiff_t>(3 * i + 3));
            to.strengths.push_back(all.strengths[i]);
        }
        for (std::size_t i = 0; i < 8; ++i) charges.strengths.back() += targets.strengths[i]; // neutral
        std::vector<Values> exact(8);
        for (std::size_t i = 0; i < 8; ++i)
            for (std::size_t j = 0; j < charges.size(); ++j) {
                const auto pair = open_lattice_oracle::unit_charge(
                    lattice_oracle::difference(targets.at(i), charges.at(j)), box_of(period));
                exact[i].potential += charges.strengths[j] * pair.potential;
                for (std::size_t k = 0; k < 3; ++k) exact[i].field[k] += charges.strengths[j] * pair.field[k];
            }
        for (const auto method : {Method::direct, Method::fmm}) {
            const auto result = sum(matrix_view(std::span<const double>(charges.points), 3),
                                    matrix_view(std::span<const double>(targets.points), 3),
                                    ConstArrayView(std::span<const double>(charges.strengths)),
                                    options_of(method, period, 1e-10));
            EXPECT_LT(errors_against(result, exact).potential, 1e-10);
            EXPECT_LT(errors_against(result, exact).field, 1e-10);
        }
    }
}

// In 3D all options of Ewald's method, with its constants.
TEST(Images, HaveEwaldsBoundariesAndBackground) {
    const Box period{1.0, 1.2, 0.9};
    const auto charges = random_charges(60, period, 6);
    auto masses = charges;
    for (auto& m : masses.strengths) m = std::abs(m);
    const auto compare = [&](const Charges& points, SumOptions options) {
        options.method = Method::ewald;
        const auto exact = periodic_sum(points, options);
        for (const auto method : {Method::direct, Method::fmm}) {
            options.method = method;
            const auto result = periodic_sum(points, options);
            EXPECT_LT(errors_against(result, values_of(exact)).potential, 2e-10);
            EXPECT_LT(errors_against(result, values_of(exact)).field, 2e-10);
            EXPECT_NEAR(*result.report.energy, *exact.report.energy, 1e-9 * std::abs(*exact.report.energy));
            EXPECT_NEAR(result.report.lattice.excess_strength, exact.report.lattice.excess_strength, 1e-12);
        }
    };
    auto options = direct(period, 1e-10);
    compare(charges, options);
    options.boundary = Boundary::vacuum;
    compare(charges, options);
    options.boundary = Boundary::tin_foil;
    options.background = Background::uniform;
    compare(masses, options);
    options.kernel = Kernel::gravity;
    compare(masses, options);
}

// Softenings that fields of far images would not show shift the mean of the potential.
TEST(Images, SoftenABackground) {
    const Box period{1.0, 1.2, 0.9};
    auto masses = random_charges(sized<std::size_t>(1000, 300), period, 6);
    for (auto& m : masses.strengths) m = std::abs(m);
    for (const double softening : {1e-5, 4e-4, 0.2}) {
        auto options = options_of(Method::ewald, period, 1e-8);
        options.kernel = Kernel::gravity;
        options.background = Background::uniform;
        options.softening = softening;
        const auto exact = values_of(periodic_sum(masses, options));
        for (const auto method : {Method::direct, Method::fmm}) {
            options.method = method;
            options.tolerance = 1e-4;
            const auto errors = errors_against(periodic_sum(masses, options), exact);
            EXPECT_LT(errors.potential, 1e-4) << name_of(method) << ' ' << softening;
            EXPECT_LT(errors.field, 1e-4) << name_of(method) << ' ' << softening;
        }
    }
}

TEST(Images, OtherPrecisions) {
    const Box period{1.0, 1.0, 1.0};
    const auto charges = random_charges(200, period, 8);
    const auto exact = values_of(periodic_sum(charges, options_of(Method::ewald, period, 1e-12)));
    for (const auto method : {Method::direct, Method::fmm}) {
        auto options = options_of(method, period, 0.0);
        options.order = method == Method::fmm ? 16 : 0;
        options.precision = Precision::mixed;
        // near pairs to 1e-6, beside potentials of charges of both signs
        EXPECT_LT(errors_against(periodic_sum(charges, options), exact).potential, 1e-5);
        EXPECT_LT(errors_against(periodic_sum(charges, options), exact).field, 2e-6);
        options.precision = Precision::float32;
        EXPECT_LT(errors_against(periodic_sum(charges, options), exact).potential, 1e-4);
        EXPECT_LT(errors_against(periodic_sum(charges, options), exact).field, 1e-4);
    }
}

TEST(Images, HaveTheSameBitsForAnyNumberOfThreads) {
    for (const auto& period : {Box{1.0, 1.0, 2.0}, Box{1.0, 0.0, 0.0}})
        for (const auto method : {Method::direct, Method::fmm}) {
            const auto charges = random_charges(sized<std::size_t>(3000, 300), filled(period, 1.0), 2);
            auto options = options_of(method, period, 1e-5);
            options.threads = 1;
            const auto one = periodic_sum(charges, options);
            for (const int threads : {2, 3, 7}) {
                options.threads = threads;
                const auto more = periodic_sum(charges, options);
                EXPECT_EQ(one.potential, more.potential);
                EXPECT_EQ(one.field, more.field);
            }
        }
}

TEST(Images, PlansTakeNewPoints) {
    const Box period{1.0, 0.0, 1.2};
    const auto first = random_charges(40, filled(period, 0.5), 1),
               second = random_charges(40, filled(period, 2.0), 2);
    const auto options = direct(period, 1e-9);
    SumPlan plan(matrix_view(std::span<const double>(first.points), 3), options);
    std::vector<double> potential(40);
    const auto run = [&](const Charges& charges) {
        plan.execute(ConstArrayView(std::span<const double>(charges.strengths)),
                     {.potential = ArrayView(std::span<double>(potential))});
    };
    run(first);
    plan.update(matrix_view(std::span<const double>(second.points), 3));
    run(second);
    EXPECT_EQ(potential, periodic_sum(second, options, Output::potential).potential);
}

TEST(Images, CoincidentPointsAreRefusedOrLeftOut) {
    // rows 0 and 2 are at one place, a period apart
    auto charges = charges_of({{0.125, 0.2, 0.3, 1.0}, {0.625, 0.7, 0.4, -2.0}, {1.125, 0.2, 0.3, 1.0}});
    for (const auto method : {Method::direct, Method::fmm}) {
        auto options = options_of(method, {1.0, 0.0, 0.0}, 1e-10);
        const auto message = error_of<InvalidArgument>([&] { (void)periodic_sum(charges, options); });
        expect_contains(message, {"rows 0 and 2", "softening"});
        options.coincident = Coincident::skip;
        const auto result = periodic_sum(charges, options);
        EXPECT_EQ(result.report.direct.coincident_pairs_skipped, 2);
        // the pair itself does not count; the images of both do
        const auto near = open_lattice_oracle::line({0.5L, 0.5L, 0.1L}, 0, 1.0L);
        const Real own = open_lattice_oracle::own_images({1.0L, 0.0L, 0.0L});
        EXPECT_NEAR(result.potential[0], static_cast<double>(2 * own - 2 * near.potential), 1e-9);
    }
}

// Along three axes softened fields vanish as e^(−2πε/L), and near images cancel.
TEST(Images, SoftenAsFarAsTheyCan) {
    const Box cube{1.0, 1.0, 1.0};
    const auto charges = random_charges(50, cube, 4);
    for (const auto method : {Method::direct, Method::fmm}) {
        auto options = options_of(method, cube, 1e-6);
        options.softening = 10.0;
        expect_contains(error_of<InvalidArgument>([&] { (void)periodic_sum(charges, options); }),
                        {"softening", "10", "ewald"});
    }
}

TEST(Images, RefuseWhatTheyCannotSum) {
    const auto refused = [](const SumOptions& options, const Charges& charges, OutputSet outputs = {}) {
        return error_of<InvalidArgument>([&] { (void)periodic_sum(charges, options, outputs); });
    };
    const auto neutral = random_charges(4, {1.0, 1.0, 1.0}, 1);
    const auto positive = charges_of({{0.1, 0.2, 0.3, 1.0}, {0.5, 0.5, 0.5, 1.0}});
    for (const auto method : {Method::direct, Method::fmm}) {
        auto options = options_of(method, {1.0, 1.0, 0.0}, 1e-6);
        expect_contains(refused(options, positive), {"sum to 2"});
        expect_contains(refused(options, neutral, Output::hessian), {"hessian"});
        options.background = Background::uniform;
        expect_contains(refused(options, positive), {"background", "three"});
        options.background = Background::none;
        options.boundary = Boundary::vacuum;
        expect_contains(refused(options, neutral), {"boundary", "three"});
        options.boundary = Boundary::tin_foil;
        options.tolerance = 1e-13;
        expect_contains(refused(options, neutral), {"tolerance", "1e-12"});
        options.tolerance = 1e-6;
        options.guaranteed = true;
        expect_contains(refused(options, neutral), {"guaranteed"});
    }
}

} // namespace
} // namespace farfield
