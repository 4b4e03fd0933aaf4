// Sums by Ewald's method and on meshes against Madelung constants of the literature, and against sums over
// layers and Fourier series in long double that split nothing (lattice_oracle.h).
#include "box_device.h"
#include "lattice_cases.h"

#include "effort.h"
#include "expect_error.h"

#include <farfield/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

using namespace test;

/// By each method that splits 1/r.
class BoxSums : public testing::TestWithParam<Method> {
protected:
    void SetUp() override { NEEDS_DEVICE(); }
    static SumOptions split(const std::array<double, 3>& period, double tolerance, double softening = 0.0) {
        return {.kernel = Kernel::coulomb,
                .method = GetParam(),
                .softening = softening,
                .period = period,
                .tolerance = tolerance,
                .device = {.kind = device_kind}};
    }
};
INSTANTIATE_TEST_SUITE_P(Ewald, BoxSums, testing::Values(Method::ewald));
INSTANTIATE_TEST_SUITE_P(Pme, BoxSums, testing::Values(Method::pme));

struct Crystal {
    std::string name;
    Charges cell;
    double side;
    /// −½ Σ qφ of a formula unit times the distance of nearest neighbours: the Madelung constant (with
    /// charges as they are), from the literature; 0: the oracle alone.
    double madelung;
    double units, distance;
};

std::vector<Crystal> crystals() {
    const double h = 0.5, f = 0.25, t = 0.75;
    return {
        {"NaCl",
         charges_of({{0, 0, 0, 1},
                     {0, h, h, 1},
                     {h, 0, h, 1},
                     {h, h, 0, 1},
                     {h, 0, 0, -1},
                     {0, h, 0, -1},
                     {0, 0, h, -1},
                     {h, h, h, -1}}),
         1.0, 1.747564594633182, 4.0, 0.5},
        {"CsCl", charges_of({{0, 0, 0, 1}, {h, h, h, -1}}), 1.0, 1.762674773070988, 1.0, std::sqrt(0.75)},
        {"ZnS",
         charges_of({{0, 0, 0, 1},
                     {0, h, h, 1},
                     {h, 0, h, 1},
                     {h, h, 0, 1},
                     {f, f, f, -1},
                     {f, t, t, -1},
                     {t, f, t, -1},
                     {t, t, f, -1}}),
         1.0, 1.638055053388790, 4.0, std::sqrt(3.0) / 4.0},
        {"CaF2",
         charges_of({{0, 0, 0, 2},
                     {0, h, h, 2},
                     {h, 0, h, 2},
                     {h, h, 0, 2},
                     {f, f, f, -1},
                     {f, t, t, -1},
                     {t, f, t, -1},
                     {t, t, f, -1},
                     {t, t, t, -1},
                     {t, f, f, -1},
                     {f, t, f, -1},
                     {f, f, t, -1}}),
         1.0, 0.0, 4.0, std::sqrt(3.0) / 4.0},
        {"perovskite", charges_of({{0, 0, 0, 2}, {h, h, h, 4}, {h, h, 0, -2}, {h, 0, h, -2}, {0, h, h, -2}}),
         1.0, 0.0, 1.0, 0.5},
    };
}

TEST(EwaldOracle, AgreesWithItself) {
    // the axis of the layers does not matter
    const Vector box{1.0L, 1.3L, 0.9L};
    const auto a = lattice_oracle::unit_charge({0.31L, 0.3L, 0.2L}, box);
    const auto b = lattice_oracle::unit_charge({0.2L, 0.31L, 0.3L}, {0.9L, 1.0L, 1.3L});
    EXPECT_NEAR(static_cast<double>(a.potential), static_cast<double>(b.potential), 1e-16);
    // Σ over a lattice of half the spacing, eight charges for one
    EXPECT_NEAR(static_cast<double>(lattice_oracle::own_images({1.0L, 1.0L, 1.0L})), -2.837297479480620,
                1e-14);
}

TEST_P(BoxSums, GivesMadelungConstants) {
    for (const auto& crystal : crystals()) {
        SCOPED_TRACE(crystal.name);
        const auto result = periodic_sum(crystal.cell, split({1.0, 1.0, 1.0}, 1e-12), Output::potential);
        ASSERT_TRUE(result.report.energy.has_value());
        const double constant = -*result.report.energy / crystal.units * crystal.distance;
        if (crystal.madelung > 0.0) {
            EXPECT_NEAR(constant, crystal.madelung, 1e-12);
        }
        const auto exact = lattice_oracle::sums(crystal.cell, {1.0L, 1.0L, 1.0L});
        EXPECT_LT(errors_against(result, exact).potential, 1e-12);
    }
}

TEST_P(BoxSums, KeepsTolerancesInBoxesOfAnyShape) {
    for (const auto& length :
         {std::array{1.0, 1.0, 1.0}, std::array{3.0, 1.0, 1.7}, std::array{2e9, 5e9, 3e9}}) {
        const auto charges = random_charges(24, length, 7);
        const auto exact = lattice_oracle::sums(charges, box_of(length));
        for (const double tolerance : {1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
            const auto result = periodic_sum(charges, split(length, tolerance));
            const auto errors = errors_against(result, exact);
            EXPECT_LT(errors.potential, tolerance) << length[0];
            EXPECT_LT(errors.field, tolerance) << length[0];
            ASSERT_EQ(result.report.errors.size(), 2U);
            // what it says of itself is what it is
            EXPECT_NEAR(result.report.errors[0].relative, errors.potential, 0.01 * errors.potential + 2e-13);
            EXPECT_NEAR(result.report.errors[1].relative, errors.field, 0.01 * errors.field + 2e-13);
        }
    }
}

TEST_P(BoxSums, SoftensEveryImage) {
    const std::array length{1.0, 1.2, 0.8};
    const auto charges = random_charges(6, length, 3);
    for (const double softening : {0.15, 0.4, 2.0}) {
        std::vector<Vector> ds;
        for (std::size_t i = 0; i < charges.size(); ++i)
            for (std::size_t j = 0; j < charges.size(); ++j)
                ds.push_back(lattice_oracle::difference(charges.at(i), charges.at(j)));
        const auto pairs = lattice_oracle::soft_charges(ds, box_of(length), softening);
        std::vector<Values> exact(charges.size());
        for (std::size_t i = 0; i < charges.size(); ++i) {
            for (std::size_t j = 0; j < charges.size(); ++j) {
                const Real q = charges.strengths[j];
                const auto& pair = pairs[i * charges.size() + j];
                exact[i].potential += q * pair.potential;
                for (std::size_t k = 0; k < 3; ++k) exact[i].field[k] += q * pair.field[k];
            }
            exact[i].potential -= charges.strengths[i] / Real(softening); // not itself
        }
        for (const double tolerance : {1e-3, 1e-6, 1e-9, 1e-11}) {
            const auto errors =
                errors_against(periodic_sum(charges, split(length, tolerance, softening)), exact);
            EXPECT_LT(errors.potential, tolerance) << softening;
            EXPECT_LT(errors.field, tolerance) << softening;
        }
    }
}

// Less softening goes over into none.
TEST_P(BoxSums, SoftensABackgroundToo) {
    const Charges one = charges_of({{0.3, 0.2, 0.1, 1.0}});
    auto options = split({2.0, 2.0, 2.0}, 1e-11);
    options.background = Background::uniform;
    const double bare = periodic_sum(one, options, Output::potential).potential[0];
    EXPECT_NEAR(bare, -2.837297479480620 / 2.0, 1e-11);
    EXPECT_EQ(periodic_sum(one, options, Output::potential).report.lattice.excess_strength, 1.0);
    for (const double softening : {1e-9, 0.2, 0.5, 3.0}) {
        options.softening = softening;
        const double soft = periodic_sum(one, options, Output::potential).potential[0];
        if (softening < 1e-6) {
            EXPECT_NEAR(soft, bare, 1e-11);
        }
        if (softening < 0.1) continue;
        const auto exact = lattice_oracle::soft_charges({{0.0L, 0.0L, 0.0L}}, {2.0L, 2.0L, 2.0L}, softening)
                               .front()
                               .potential -
                           1 / Real(softening);
        EXPECT_NEAR(soft, static_cast<double>(exact), 1e-11) << softening;
    }
}

TEST_P(BoxSums, DoesNotMindShifts) {
    const std::array length{1.0, 1.5, 0.7};
    auto charges = random_charges(200, length, 5);
    const auto before = periodic_sum(charges, split(length, 1e-11));
    for (std::size_t i = 0; i < charges.size(); ++i)
        for (std::size_t k = 0; k < 3; ++k)
            charges.points[3 * i + k] +=
                0.37 + (i % 5 == 0 ? 3.0 * length[k] : 0.0) - (i % 7 == 0 ? length[k] : 0.0);
    const auto after = periodic_sum(charges, split(length, 1e-11));
    std::vector<Values> exact(charges.size());
    for (std::size_t i = 0; i < charges.size(); ++i) {
        exact[i].potential = before.potential[i];
        for (std::size_t k = 0; k < 3; ++k) exact[i].field[k] = before.field[3 * i + k];
    }
    EXPECT_LT(errors_against(after, exact).potential, 2e-11);
    EXPECT_LT(errors_against(after, exact).field, 2e-11);
}

// Spheres of images with weights exp(−s n²), s → 0: what de Leeuw, Perram and Smith sum.
TEST_P(BoxSums, InVacuumSumsSpheresOfImages) {
    auto charges = charges_of({{0.1, 0.2, 0.3, 1.0}, {0.6, 0.9, 0.4, -2.0}, {0.3, 0.5, 0.9, 1.0}});
    auto options = split({1.0, 1.0, 1.0}, 1e-11);
    const auto tin_foil = periodic_sum(charges, options);
    options.boundary = Boundary::vacuum;
    const auto vacuum = periodic_sum(charges, options);
    double moment2 = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
        double moment = 0.0;
        for (std::size_t i = 0; i < 3; ++i) moment += charges.strengths[i] * charges.points[3 * i + k];
        moment2 += moment * moment;
    }
    EXPECT_NEAR(*vacuum.report.energy - *tin_foil.report.energy, 2.0 / 3.0 * std::numbers::pi * moment2,
                1e-10);

    const int reach = 45;
    const auto with_weight = [&](double s) {
        Real sum = 0.0L;
        for (int x = -reach; x <= reach; ++x)
            for (int y = -reach; y <= reach; ++y)
                for (int z = -reach; z <= reach; ++z) {
                    Real cell = 0.0L;
                    for (std::size_t j = 0; j < 3; ++j) {
                        const auto d = lattice_oracle::difference(charges.at(0), charges.at(j));
                        const Real r = std::sqrt((d[0] - x) * (d[0] - x) + (d[1] - y) * (d[1] - y) +
                                                 (d[2] - z) * (d[2] - z));
                        if (r > 0) cell += charges.strengths[j] / r;
                    }
                    sum += cell * std::exp(-Real(s) * (x * x + y * y + z * z));
                }
        return static_cast<double>(sum);
    };
    const double first = with_weight(0.02), second = with_weight(0.01), third = with_weight(0.005);
    const double once = 2.0 * second - first, again = 2.0 * third - second; // errors of s, then of s²
    EXPECT_NEAR((4.0 * again - once) / 3.0, vacuum.potential[0], 2e-4);
    EXPECT_GT(std::abs(vacuum.potential[0] - tin_foil.potential[0]), 0.05); // and not what the foil gives
}

TEST_P(BoxSums, SumsAtSeparateTargets) {
    const std::array length{1.0, 1.1, 1.2};
    const auto charges = random_charges(50, length, 9);
    const auto targets = random_charges(7, length, 10);
    std::vector<Values> exact(7);
    for (std::size_t i = 0; i < 7; ++i)
        for (std::size_t j = 0; j < charges.size(); ++j) {
            const auto pair = lattice_oracle::unit_charge(
                lattice_oracle::difference(targets.at(i), charges.at(j)), box_of(length));
            exact[i].potential += charges.strengths[j] * pair.potential;
            for (std::size_t k = 0; k < 3; ++k) exact[i].field[k] += charges.strengths[j] * pair.field[k];
        }
    const auto result = sum(matrix_view(std::span<const double>(charges.points), 3),
                            matrix_view(std::span<const double>(targets.points), 3),
                            ConstArrayView(std::span<const double>(charges.strengths)), split(length, 1e-10));
    EXPECT_LT(errors_against(result, exact).potential, 1e-10);
    EXPECT_LT(errors_against(result, exact).field, 1e-10);
}

TEST_P(BoxSums, HasTheSameBitsForAnyNumberOfThreads) {
    const std::array length{1.0, 1.0, 2.0};
    const auto charges = random_charges(sized<std::size_t>(3000, 600), length, 2);
    auto options = split(length, 1e-5);
    options.threads = 1;
    const auto one = periodic_sum(charges, options);
    for (const int threads : {2, 3, 7}) {
        options.threads = threads;
        const auto more = periodic_sum(charges, options);
        EXPECT_EQ(one.potential, more.potential);
        EXPECT_EQ(one.field, more.field);
    }
}

// Spread, transformed and gathered in blocks of several colours, and in threads that share no block.
TEST(Pme, HasTheSameBitsForAnyNumberOfThreadsOnLargeMeshes) {
    NEEDS_DEVICE();
    const std::array length{1.0, 3.0, 2.0};
    const auto charges = random_charges(sized<std::size_t>(20000, 5000), length, 8);
    SumOptions options{.kernel = Kernel::coulomb, .method = Method::pme, .period = length};
    options.device.kind = device_kind;
    options.threads = 1;
    const auto one = periodic_sum(charges, options);
    EXPECT_GE(*std::min_element(one.report.lattice.mesh.begin(), one.report.lattice.mesh.end()), 16);
    for (const int threads : {2, 3, 4}) {
        options.threads = threads;
        const auto more = periodic_sum(charges, options);
        EXPECT_EQ(one.potential, more.potential);
        EXPECT_EQ(one.field, more.field);
    }
}

TEST(Pme, TakesTheOrderThatIsAskedFor) {
    NEEDS_DEVICE();
    const std::array length{1.0, 1.0, 1.0};
    const auto charges = random_charges(50, length, 6);
    SumOptions options{.kernel = Kernel::coulomb, .method = Method::pme, .period = length, .tolerance = 1e-4};
    options.device.kind = device_kind;
    for (const int order : {4, 5, 9, 14}) {
        options.order = order;
        EXPECT_EQ(periodic_sum(charges, options).report.lattice.order, order);
    }
    for (const int order : {1, 3, 15}) {
        options.order = order;
        expect_contains(error_of<InvalidArgument>([&] { (void)periodic_sum(charges, options); }),
                        {"order", std::to_string(order), "4 to 14"});
    }
    options.order = 4;
    options.tolerance = 1e-12;
    expect_contains(error_of<InvalidArgument>([&] { (void)periodic_sum(charges, options); }),
                    {"order", "1e-12", "ewald"});
}

TEST_P(BoxSums, FieldIsTheNegativeGradientAndForcesCancel) {
    const std::array length{1.0, 1.0, 1.0};
    const auto charges = random_charges(40, length, 12);
    const auto result = periodic_sum(charges, split(length, 1e-11, 0.02));
    for (std::size_t k = 0; k < 3; ++k) {
        double force = 0.0, size = 0.0;
        for (std::size_t i = 0; i < charges.size(); ++i) {
            force += charges.strengths[i] * result.field[3 * i + k];
            size += std::abs(charges.strengths[i] * result.field[3 * i + k]);
        }
        EXPECT_LT(std::abs(force), 1e-11 * size);
    }
}

TEST_P(BoxSums, GravityHasTheOtherSign) {
    const std::array length{1.0, 1.0, 1.0};
    auto masses = random_charges(30, length, 4);
    for (auto& m : masses.strengths) m = std::abs(m);
    auto options = split(length, 1e-9);
    options.background = Background::uniform;
    const auto charges = periodic_sum(masses, options);
    options.kernel = Kernel::gravity;
    const auto gravity = periodic_sum(masses, options);
    for (std::size_t i = 0; i < masses.size(); ++i) EXPECT_EQ(gravity.potential[i], -charges.potential[i]);
    for (std::size_t i = 0; i < gravity.field.size(); ++i) EXPECT_EQ(gravity.field[i], -charges.field[i]);
}

TEST_P(BoxSums, CoincidentPointsAreRefusedOrLeftOut) {
    // rows 0 and 2 are at one place, a box apart
    auto charges = charges_of({{0.125, 0.2, 0.3, 1.0}, {0.625, 0.7, 0.4, -2.0}, {1.125, 0.2, 0.3, 1.0}});
    auto options = split({1.0, 1.0, 1.0}, 1e-10);
    const auto message = error_of<InvalidArgument>([&] { (void)periodic_sum(charges, options); });
    expect_contains(message, {"0", "2", "softening"});
    options.coincident = Coincident::skip;
    const auto result = periodic_sum(charges, options);
    EXPECT_EQ(result.report.direct.coincident_pairs_skipped, 2);
    // the pair itself does not count; the images of both do
    const auto near = lattice_oracle::unit_charge({0.5L, 0.5L, 0.1L}, {1.0L, 1.0L, 1.0L});
    const Real own = lattice_oracle::own_images({1.0L, 1.0L, 1.0L});
    EXPECT_NEAR(result.potential[0], static_cast<double>(2 * own - 2 * near.potential), 1e-9);
}

#if !defined(FARFIELD_TESTS_ON_GPU)
// All pairs lie in one cell; the progress says where the sum was given up.
TEST_P(BoxSums, IsGivenUpAmongCoincidentPoints) {
    constexpr std::size_t n = 3000;
    Charges charges;
    for (std::size_t i = 0; i < n; ++i) {
        charges.points.insert(charges.points.end(), {0.3, 0.4, 0.5});
        charges.strengths.push_back(i % 2 == 0 ? 1.0 : -1.0);
    }
    auto options = split({1.0, 1.0, 1.0}, 0.0);
    options.coincident = Coincident::skip;
    options.threads = 1;
    SumPlan plan(matrix_view(std::span<const double>(charges.points), 3), options);
    std::vector<double> potential(n);
    double share = 1.0;
    EXPECT_THROW(
        plan.execute(ConstArrayView(std::span<const double>(charges.strengths)),
                     {.potential = ArrayView(std::span<double>(potential)), .field = {}, .gradient = {}},
                     {.progress = [&](double x) { share = x; }, .stop_requested = [] { return true; }}),
        Interrupted);
    EXPECT_LT(share, 0.05);
}
#endif

TEST_P(BoxSums, RefusesWhatItCannotSum) {
    const auto refused = [](const SumOptions& options, const Charges& charges) {
        return error_of<InvalidArgument>([&] { (void)periodic_sum(charges, options); });
    };
    const auto neutral = random_charges(4, {1.0, 1.0, 1.0}, 1);
    const auto positive = charges_of({{0.1, 0.2, 0.3, 1.0}, {0.5, 0.5, 0.5, 1.0}});
    const std::array cube{1.0, 1.0, 1.0};
    expect_contains(refused(split(cube, 1e-6), positive), {"sum to 2", "background"});
    expect_contains(refused(split({1.0, 1.0, 0.0}, 1e-6), neutral), {"all three axes", "direct", "fmm"});
    expect_contains(refused(split({0.0, 0.0, 0.0}, 1e-6), neutral), {"period"});
    expect_contains(refused(split({-1.0, 1.0, 1.0}, 1e-6), neutral), {"period", "-1"});
    expect_contains(refused(split({std::nan(""), 1.0, 1.0}, 1e-6), neutral), {"period", "nan"});
    expect_contains(refused(split(cube, 1e-13), neutral), {"tolerance", "1e-12"});
    auto options = split(cube, 1e-6);
    options.kernel = Kernel::gravity;
    expect_contains(refused(options, positive), {"background"});
    options = split(cube, 1e-6);
    options.method = Method::treecode;
    expect_contains(refused(options, neutral), {"'treecode'", "direct", "fmm", "ewald"});
    options = split(cube, 1e-6);
    options.precision = Precision::float32;
    expect_contains(refused(options, neutral), {"double"});
    options = split({0.0, 0.0, 0.0}, 1e-6);
    options.method = Method::direct;
    options.boundary = Boundary::vacuum;
    expect_contains(refused(options, neutral), {"boundary", "period"});
    options = split(cube, 1e-6);
    options.boundary = Boundary::vacuum;
    options.background = Background::uniform;
    expect_contains(refused(options, positive), {"origin"});
    expect_contains(
        error_of<InvalidArgument>([&] { (void)periodic_sum(neutral, split(cube, 1e-6), Output::hessian); }),
        {"hessian"});
}

} // namespace
} // namespace farfield
