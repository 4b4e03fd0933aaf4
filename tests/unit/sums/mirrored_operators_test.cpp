// What kernels of a GPU do with all mirror images of an offset at once, number by number on the host: the
// sums of steps are those of one sender after the other.
#include "sums/fmm/mirrored_operators.h"
#include "sums/fmm/plain_far.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

namespace farfield {
namespace {

constexpr int places = 8 * 27; ///< that may send

template <class T>
using Expansions = std::vector<std::vector<T>>; ///< of each place; empty: there is no sender

template <class T>
Expansions<T> random_senders(const PlainOperators<T>& of) {
    std::mt19937 engine(7);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    Expansions<T> out(places);
    for (std::size_t place = 0; place < out.size(); ++place)
        for (int i = 0; i < of.size && place % 5 != 0; ++i)
            out[place].push_back(static_cast<T>(uniform(engine)));
    return out;
}

template <class T>
std::vector<double> one_by_one(const PlainOperators<T>& of, int level, int octant,
                               const Expansions<T>& from) {
    std::vector<double> out(static_cast<std::size_t>(of.size));
    for (auto s = of.first_sender[octant]; s < of.first_sender[octant + 1]; ++s) {
        const auto& sender = of.senders[static_cast<std::size_t>(s)];
        const auto& values = from[static_cast<std::size_t>(sender.place)];
        if (values.empty()) continue;
        const auto sign = [&](int i) {
            return static_cast<double>(of.signs[static_cast<std::size_t>(sender.mirror * of.stride + i)]);
        };
        const auto& matrix = of.across[static_cast<std::size_t>(of.first_across(level) + sender.matrix)];
        for (int j = 0; j < matrix.size; ++j)
            for (int i = 0; i < matrix.size; ++i)
                out[static_cast<std::size_t>(i)] += sign(i) * sign(j) *
                                                    static_cast<double>(values[static_cast<std::size_t>(j)]) *
                                                    static_cast<double>(of.matrices[static_cast<std::size_t>(
                                                        matrix.begin + std::int64_t{j} * matrix.rows + i)]);
    }
    return out;
}

/// The sums of a column of a step, as a thread forms them.
template <class T>
std::array<double, parities> summed(const MirroredOperators<T>& of, const MirroredStep& step, int octant,
                                    int column, const Expansions<T>& from) {
    std::array<double, parities> out{};
    for (std::size_t u = 0; u < parities; ++u) {
        const auto place =
            of.places[(static_cast<std::size_t>(octant * of.classes + step.offsets)) * parities + u];
        if (place < 0 || column >= step.columns[u] || from[static_cast<std::size_t>(place)].empty()) continue;
        const auto function = of.functions[static_cast<std::size_t>(step.column[u] + column)];
        out[u] =
            static_cast<double>(from[static_cast<std::size_t>(place)][static_cast<std::size_t>(function)]);
    }
    for (unsigned axis = 1; axis < parities; axis <<= 1) {
        if ((step.axes & axis) == 0) continue;
        for (unsigned u = 0; u < parities; ++u) {
            if ((u & axis) != 0) continue;
            const double even = out[u] + out[u | axis];
            out[u | axis] = out[u] - out[u | axis];
            out[u] = even;
        }
    }
    return out;
}

template <class T>
std::vector<double> by_steps(const MirroredOperators<T>& of, int level, int octant, const Expansions<T>& from,
                             int size) {
    std::vector<double> out(static_cast<std::size_t>(size));
    for (auto s = of.first_step[static_cast<std::size_t>(level)];
         s < of.first_step[static_cast<std::size_t>(level) + 1]; ++s) {
        const auto& step = of.steps[static_cast<std::size_t>(s)];
        EXPECT_GT(step.next, s);
        for (int k = 0; k < step.most_columns; ++k) {
            const auto sums = summed(of, step, octant, k, from);
            for (int parity = 0; parity < parities; ++parity)
                for (int i = 0; i < step.rows[static_cast<std::size_t>(parity)]; ++i)
                    out[static_cast<std::size_t>(
                        of.functions[static_cast<std::size_t>(of.first[parity] + i)])] +=
                        sums[static_cast<std::size_t>(parity ^ step.parity)] *
                        static_cast<double>(of.matrices[of.at(step, parity, i, k)]);
        }
    }
    return out;
}

template <class T>
void expect_same(const PlainOperators<T>& plain) {
    const MirroredOperators<T> mirrored(plain);
    const auto from = random_senders(plain);
    for (int level = 0; level < mirrored.levels(); ++level)
        for (int octant = 0; octant < 8; ++octant) {
            const auto expected = one_by_one(plain, level, octant, from);
            const auto got = by_steps(mirrored, level, octant, from, plain.size);
            double largest = 0.0;
            double off = 0.0;
            for (std::size_t i = 0; i < got.size(); ++i) {
                largest = std::max(largest, std::abs(expected[i]));
                off = std::max(off, std::abs(got[i] - expected[i]));
            }
            EXPECT_TRUE(largest > 0.0 || level == 0); // polynomials may have nothing to do on the coarsest
            // entries between functions of unlike parities along an axis without offset are nothing but
            // rounding
            EXPECT_LE(off, 256.0 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest);
        }
}

FmmOrder mirrored_order(int order, double grading) {
    FmmOrder of;
    of.order = order;
    of.grading = grading;
    return of;
}

TEST(MirroredOperators, SumWhatSendersGiveOneByOne) {
    for (const int order : {1, 2, 5, 8, 12})
        for (const double grading : {0.0, 0.6}) {
            const auto of = mirrored_order(order, grading);
            ASSERT_TRUE(has_mirrored_operators(of));
            expect_same(*plain_operators<float>(of, 1));
            expect_same(*plain_operators<double>(of, 1));
        }
}

TEST(MirroredOperators, OfPolynomialsHaveStepsOfEachLevel) {
    constexpr int levels = 4;
    const auto far = plain_far<float>(mirrored_order(5, 0.6), 0.05, levels, 1);
    ASSERT_NE(far.polynomials.operators, nullptr);
    EXPECT_EQ(MirroredOperators<float>(*far.polynomials.operators).levels(), levels);
    expect_same(*far.polynomials.operators);
}

TEST(MirroredOperators, LeaveOutClassesThatOnlyTheCoarsestLevelHas) {
    auto of = mirrored_order(3, 0.6);
    of.coarse = 7;
    const auto plain = plain_operators<double>(of, 1);
    const MirroredOperators<double> mirrored(*plain);
    int classes = 0;
    for (std::int32_t s = 0; s < mirrored.first_step.back();
         s = mirrored.steps[static_cast<std::size_t>(s)].next)
        ++classes;
    EXPECT_EQ(classes, 4 * 4 * 4 - 2 * 2 * 2); // components up to 3, one of them 2 at least
    EXPECT_GT(mirrored.classes, classes);
    expect_same(*plain);
}

} // namespace
} // namespace farfield
