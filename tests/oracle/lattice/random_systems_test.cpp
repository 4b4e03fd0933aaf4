// Random systems of charges in boxes of any shape, by every method.
#include "box_device.h"
#include "lattice_cases.h"

#include "effort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <map>
#include <random>
#include <span>
#include <vector>

namespace farfield {
namespace {

using namespace test;

/// Up to this far images act as if they were not softened, within a tolerance (image_problem.h).
double softening_of_images(const std::array<double, 3>& length, double tolerance) {
    return 0.25 * *std::min_element(length.begin(), length.end()) * std::sqrt(tolerance / 1.5);
}

constexpr int parts = 4;

/// A quarter of the boxes: the quarters share nothing and may run side by side.
class BoxSumsOfAll : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Part, BoxSumsOfAll, testing::Range(0, parts));

// Charges in boxes of any shape, softened or not: Ewald's method is the oracle of all, itself to another
// tolerance. Boxes come again, and some softenings and tolerances in them do, one system after the other, as
// operators of far images are made for each.
TEST_P(BoxSumsOfAll, AgreeForRandomSystems) {
    NEEDS_DEVICE();
    const int systems = fewer() ? 60 : shorter() ? 250 : 1000;
    const int of_images = fewer() ? 12 : shorter() ? 60 : systems; // operators take minutes
    const int boxes = sized(20, parts);
    const bool some = shorter() && !fewer(); // of the boxes; those of box 0 alone take a minute
    const int first = some ? parts : 0, visited = some ? 2 * parts : boxes;
    constexpr int alike = 10;
    std::vector<int> in_order;
    for (int box = first + GetParam() * visited / parts; box < first + (GetParam() + 1) * visited / parts;
         ++box)
        for (int system = box; system < systems; system += boxes) in_order.push_back(system);
    const auto all = static_cast<int>(in_order.size());
    const auto with_images = static_cast<int>(
        std::count_if(in_order.begin(), in_order.end(), [&](int system) { return system < of_images; }));
    ASSERT_GT(with_images, 0);
    std::map<Method, int> summed;
    std::map<Method, double> worst;
    for (const int system : in_order) {
        const int box = system % boxes, round = system / boxes;
        std::mt19937 box_engine(static_cast<unsigned>(box)), engine(static_cast<unsigned>(system)),
            far_engine(static_cast<unsigned>(1000 * (1 + round / alike) + box));
        const auto between = [](std::mt19937& from, double a, double b) {
            return std::uniform_real_distribution<double>(a, b)(from);
        };
        const std::array length{between(box_engine, 0.5, 2.0), between(box_engine, 0.5, 2.0),
                                between(box_engine, 0.5, 2.0)};
        const auto n = static_cast<std::size_t>(between(engine, 2.0, 100.0));
        const auto charges = random_charges(n, length, static_cast<unsigned>(system));
        const int order = system % 3 == 0 ? 4 + system / 3 % 11 : 0; // of splines; odd ones, too
        const bool is_soft = system % 4 == 0;
        const double tolerance = std::pow(10.0, between(is_soft ? far_engine : engine, -9.0, -2.0));
        const double softening = is_soft ? between(far_engine, 0.0, 0.5)
                                 : system % 4 == 2
                                     ? between(engine, 0.0, softening_of_images(length, tolerance))
                                     : 0.0;
        SumOptions options{.kernel = Kernel::coulomb,
                           .method = Method::ewald,
                           .softening = softening,
                           .period = length,
                           .tolerance = 1e-11};
        const auto exact = periodic_sum(charges, options);
        std::vector<Values> values(n);
        for (std::size_t i = 0; i < n; ++i) {
            values[i].potential = exact.potential[i];
            for (std::size_t k = 0; k < 3; ++k) values[i].field[k] = exact.field[3 * i + k];
        }
        options.device.kind = device_kind;
        const auto check = [&](Method method) {
            options.method = method;
            options.order = method == Method::pme ? order : 0;
            const double asked = std::max(tolerance, options.order > 0 ? std::pow(10.0, -order) : 0.0);
            options.tolerance = asked;
            // 64 leaves: pairs of them are far, few as their points are
            options.depth = method == Method::fmm && system % 2 == 0 ? 2 : -1;
            const auto result = periodic_sum(charges, options);
            if (options.depth > 0) {
                EXPECT_EQ(result.report.fmm.levels, 3);
            }
            const auto errors = errors_against(result, values);
            EXPECT_LT(errors.potential, asked) << name_of(method) << ' ' << system << ": " << n;
            EXPECT_LT(errors.field, asked) << name_of(method) << ' ' << system << ": " << n;
            ++summed[method];
            worst[method] = std::max({worst[method], errors.potential / asked, errors.field / asked});
        };
        check(Method::ewald);
        check(Method::pme);
        // on a GPU they have tests of their own
        if (device_kind == DeviceKind::cuda || system >= of_images) continue;
        check(Method::direct);
        check(Method::fmm);
    }
    EXPECT_EQ(summed[Method::ewald], all);
    EXPECT_EQ(summed[Method::pme], all);
    if (device_kind == DeviceKind::cpu) {
        EXPECT_EQ(summed[Method::direct], with_images);
        EXPECT_EQ(summed[Method::fmm], with_images);
    }
    for (const auto& [method, ratio] : worst)
        std::cout << name_of(method) << ": " << summed[method] << " systems, at most " << ratio
                  << " of the tolerance\n";
}

} // namespace
} // namespace farfield
