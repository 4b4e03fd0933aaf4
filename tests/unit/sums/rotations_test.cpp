// Rotations of expansions and translations that are made of them, against the functions themselves and
// against the plain product with T, for every offset.
#include "effort.h"
#include "sums/expansions/operators.h"
#include "sums/expansions/rotated_offsets.h"
#include "sums/expansions/rotations.h"

#include "backend/simd/isa.h"
#include "sums/direct/cpu/isa_function.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <vector>

namespace farfield {
namespace {

constexpr int highest = 40;

std::vector<long double> angles() {
    std::vector<long double> out;
    for (int eighth = -8; eighth <= 8; ++eighth) out.push_back(eighth * std::numbers::pi_v<long double> / 8);
    out.push_back(-0.1L);
    return out;
}

TEST(PolarRotations, AreOrthogonal) {
    for (const long double angle : angles()) {
        const PolarRotation rotation(highest, std::cos(angle), std::sin(angle));
        double worst = 0.0;
        for (int l = 0; l <= highest; ++l)
            for (const bool sine : {false, true})
                for (int m = sine ? 1 : 0; m <= l; ++m)
                    for (int n = m; n <= l; ++n) {
                        double product = m == n ? -1.0 : 0.0;
                        for (int k = sine ? 1 : 0; k <= l; ++k)
                            product += rotation(l, m, k, sine) * rotation(l, n, k, sine);
                        worst = std::max(worst, std::abs(product));
                    }
        EXPECT_LE(worst, 4e-15) << "angle " << static_cast<double>(angle);
    }
}

/// The function times √2, of a point whose distance from 0 is 1.
double value(const SolidHarmonics& at, const HarmonicScales& scales, int l, int m, bool sine) {
    return scales.of({l, m, sine}) * (sine ? at.imag(l, m) : at.real(l, m));
}

TEST(PolarRotations, GiveTheFunctionsAtTheRotatedPoint) {
    const HarmonicScales scales(highest);
    const std::array<double, 3> x{2.0 / 7.0, -3.0 / 7.0, 6.0 / 7.0};
    const auto before = SolidHarmonics::regular(highest, x);
    for (const long double angle : angles()) {
        const auto cosine = static_cast<double>(std::cos(angle));
        const auto sine = static_cast<double>(std::sin(angle));
        const PolarRotation rotation(highest, std::cos(angle), std::sin(angle));
        const auto after = SolidHarmonics::regular(
            highest, {x[0] * cosine + x[2] * sine, x[1], x[2] * cosine - x[0] * sine});
        for (int l = 0; l <= highest; ++l)
            for (const bool odd : {false, true})
                for (int m = odd ? 1 : 0; m <= l; ++m) {
                    double sum = 0.0;
                    for (int k = odd ? 1 : 0; k <= l; ++k)
                        sum += rotation(l, m, k, odd) * value(before, scales, l, k, odd);
                    EXPECT_NEAR(sum, value(after, scales, l, m, odd), 2e-14) << l << " " << m;
                }
    }
}

/// All between cells that are not neighbours although their parents are, and some of the coarsest grids.
std::vector<std::array<int, 3>> offsets(int separation) {
    std::vector<std::array<int, 3>> out{{6, -1, 4}, {-6, 6, -6}, {0, 0, 6}, {0, 0, -6}};
    const int reach = 2 * separation + 1;
    for (int a = -reach; a <= reach; ++a)
        for (int b = -reach; b <= reach; ++b)
            for (int c = -reach; c <= reach; ++c)
                if (std::max({std::abs(a), std::abs(b), std::abs(c)}) > separation) out.push_back({a, b, c});
    return out;
}

/// T M by its entries, and Σ |T_ij M_j| of each degree at most: rounding errors are beside that.
struct Expected {
    std::vector<double> local;
    std::vector<double> size;

    template <class T>
    Expected(const HarmonicBasis& basis, const std::array<int, 3>& d, int degree,
             const AlignedVector<T>& source)
        : local(static_cast<std::size_t>(basis.size())), size(static_cast<std::size_t>(basis.order()) + 1) {
        const MultipoleToLocal entry(
            degree, {static_cast<double>(d[0]), static_cast<double>(d[1]), static_cast<double>(d[2])});
        for (int i = 0; i < basis.size(); ++i) {
            const auto& to = basis.at(i);
            if (to.degree < 0 || to.degree > degree) continue;
            double sizes = 0.0;
            for (int j = 0; j < basis.size(); ++j) {
                const auto& from = basis.at(j);
                if (from.degree < 0 || from.degree > degree) continue;
                const double term =
                    entry(to, from) * static_cast<double>(source[static_cast<std::size_t>(j)]);
                local[static_cast<std::size_t>(i)] += term;
                sizes += std::abs(term);
            }
            auto& most = size[static_cast<std::size_t>(to.degree)];
            most = std::max(most, sizes);
        }
    }
};

template <class T>
AlignedVector<T> random_source(const HarmonicBasis& basis, std::size_t number) {
    AlignedVector<T> out(static_cast<std::size_t>(basis.size()), T(0));
    for (int place = 0; place < basis.size(); ++place)
        if (basis.at(place).degree >= 0)
            out[static_cast<std::size_t>(place)] =
                static_cast<T>(std::sin(1.0 + 1.7 * place + 31.0 * static_cast<double>(number)));
    return out;
}

/// What the loop adds to ones, lane by lane, beside T M.
template <class T>
void expect_products(const HarmonicBasis& basis, const RotatedOffsets<T>& rotated, std::size_t number) {
    constexpr auto lanes = static_cast<std::size_t>(rotate_lanes(sizeof(T) == 8));
    const auto& [d, degree] = rotated.offsets()[number];
    const AlignedVector<T> sources[] = {random_source<T>(basis, number), random_source<T>(basis, number + 1)};
    const Expected expected[] = {{basis, d, degree, sources[0]}, {basis, d, degree, sources[1]}};
    std::vector<const void*> pointers;
    for (std::size_t lane = 0; lane < lanes; ++lane) pointers.push_back(sources[lane % 3 % 2].data());
    for (const Isa isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512}) {
        if (!is_available(isa)) continue;
        AlignedVector<T> sums(static_cast<std::size_t>(basis.size()) * lanes, T(1));
        auto task = rotated.task(number);
        AlignedVector<T> scratch(static_cast<std::size_t>(rotate_scratch(task.size, degree, task.wide)),
                                 std::numeric_limits<T>::quiet_NaN());
        task.sources = pointers.data();
        task.sums = sums.data();
        task.scratch = scratch.data();
        FF_ISA_FUNCTION(ff_rotate, isa)(&task);
        for (int place = 0; place < basis.size(); ++place) {
            const auto& function = basis.at(place);
            const auto at = static_cast<std::size_t>(place);
            for (std::size_t lane = 0; lane < lanes; ++lane) {
                const auto& [local, size] = expected[lane % 3 % 2];
                const double found = static_cast<double>(sums[at * lanes + lane]) - 1.0;
                const double most =
                    function.degree < 0 ? 0.0 : 1.0 + size[static_cast<std::size_t>(function.degree)];
                ASSERT_NEAR(found, local[at],
                            16.0 * static_cast<double>(std::numeric_limits<T>::epsilon()) * most)
                    << name_of(isa) << ", offset " << d[0] << " " << d[1] << " " << d[2] << ", degree "
                    << function.degree << " of " << degree << ", order " << function.order << ", lane "
                    << lane;
            }
        }
    }
}

// As many offsets of each order as take about as long, all of them for low ones.
template <class T>
void expect_all_products(int most_order) {
    const double entries = test::sized(test::shorter() ? 1e5 : 4e5, 4e4);
    std::size_t seen = 0;
    for (int order = 1; order <= most_order; ++order)
        for (const int separation : {1, 2}) {
            const HarmonicBasis basis(order, 64 / static_cast<int>(sizeof(T)));
            const auto all = offsets(separation);
            const double each = std::pow(order + 1.0, 4);
            const auto count =
                std::clamp<std::size_t>(static_cast<std::size_t>(entries / each), 1, all.size());
            std::vector<RotatedOffset> some;
            for (std::size_t k = 0; k < count; ++k, seen += count == all.size() ? 1 : 101) {
                const auto& d = all[seen % all.size()];
                const bool lower = order > 1 && (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) % 3 == 0;
                some.push_back({d, lower ? order - 1 : order});
            }
            const RotatedOffsets<T> rotated(basis, some, 1);
            for (std::size_t n = 0; n < some.size(); ++n) expect_products(basis, rotated, n);
        }
}

TEST(RotatedOffsets, GiveThePlainProductInDouble) { expect_all_products<double>(highest); }
TEST(RotatedOffsets, GiveThePlainProductInFloat) { expect_all_products<float>(20); }

} // namespace
} // namespace farfield
