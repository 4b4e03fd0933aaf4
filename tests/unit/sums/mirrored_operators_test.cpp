// What kernels of a GPU do with all mirror images of an offset at once, number by number on the host: the
// sums of steps are those of one sender after the other.
#include "sums/fmm/mirrored_operators.h"
#include "sums/fmm/plain_far.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <random>
#include <vector>

namespace farfield {
namespace {

/// Of the senders of a group, by their places; some are missing.
template <class T>
using Expansions = std::map<std::int32_t, std::vector<T>>;

/// As DeviceOperators has them.
template <class T>
std::vector<Sender> senders_of(const PlainOperators<T>& of, int group) {
    if (group < up_group)
        return {of.senders.begin() + of.first_sender[group], of.senders.begin() + of.first_sender[group + 1]};
    std::vector<Sender> children;
    for (std::int32_t octant = 0; octant < 8; ++octant) children.push_back({0, octant, octant});
    return children;
}

template <class T>
Expansions<T> random_expansions(const PlainOperators<T>& of, const std::vector<Sender>& senders) {
    std::mt19937 engine(7);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    Expansions<T> out;
    for (const auto& sender : senders)
        for (int i = 0; i < of.size && sender.place % 5 != 0; ++i)
            out[sender.place].push_back(static_cast<T>(uniform(engine)));
    return out;
}

template <class T>
std::vector<double> one_by_one(const PlainOperators<T>& of, int level, int group,
                               const std::vector<Sender>& senders, const Expansions<T>& from) {
    std::vector<double> out(static_cast<std::size_t>(of.size));
    for (const auto& sender : senders) {
        const auto values = from.find(sender.place);
        if (values == from.end()) continue;
        const auto sign = [&](int i) {
            return static_cast<double>(of.signs[static_cast<std::size_t>(sender.mirror * of.stride + i)]);
        };
        const auto& matrix =
            group == up_group ? of.up
                              : of.across[static_cast<std::size_t>(of.first_across(level) + sender.matrix)];
        for (int j = 0; j < matrix.size; ++j)
            for (int i = 0; i < matrix.size; ++i)
                out[static_cast<std::size_t>(i)] +=
                    sign(i) * sign(j) * static_cast<double>(values->second[static_cast<std::size_t>(j)]) *
                    static_cast<double>(of.matrices[static_cast<std::size_t>(
                        matrix.begin + std::int64_t{j} * matrix.rows + i)]);
    }
    return out;
}

/// The sums of a column of a step, as a thread forms them.
template <class T>
std::array<double, parities> summed(const MirroredOperators<T>& of, const MirroredStep& step, int group,
                                    int column, const Expansions<T>& from) {
    std::array<double, parities> out{};
    for (std::size_t u = 0; u < parities; ++u) {
        const auto place =
            of.places[static_cast<std::size_t>(group * of.classes + step.offsets) * parities + u];
        const auto values = from.find(place);
        if (place < 0 || column >= step.columns[u] || values == from.end()) continue;
        const auto function = of.functions[static_cast<std::size_t>(step.column[u] + column)];
        out[u] = static_cast<double>(values->second[static_cast<std::size_t>(function)]);
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
std::vector<double> by_steps(const MirroredOperators<T>& of, int level, int group, const Expansions<T>& from,
                             int size) {
    std::vector<double> out(static_cast<std::size_t>(size));
    if (group == up_group) level = of.levels;
    for (auto s = of.first(level, 0); s < of.first(level, of.classes); ++s) {
        const auto& step = of.steps[static_cast<std::size_t>(s)];
        EXPECT_GE(s, of.first(level, step.offsets));
        EXPECT_LT(s, of.first(level, step.offsets + 1));
        for (int k = 0; k < step.most_columns; ++k) {
            const auto sums = summed(of, step, group, k, from);
            for (int parity = 0; parity < parities; ++parity)
                for (int i = 0; i < step.rows[static_cast<std::size_t>(parity)]; ++i)
                    out[static_cast<std::size_t>(
                        of.functions[static_cast<std::size_t>(of.begin[parity] + i)])] +=
                        sums[static_cast<std::size_t>(parity ^ step.parity)] *
                        static_cast<double>(of.matrices[of.at(step, parity, i, k)]);
        }
    }
    return out;
}

template <class T>
void expect_same(const PlainOperators<T>& plain) {
    const MirroredOperators<T> mirrored(plain);
    EXPECT_EQ(mirrored_rows(plain), *std::max_element(mirrored.counts, mirrored.counts + parities));
    for (int level = 0; level < mirrored.levels; ++level)
        for (int group = 0; group <= up_group; ++group) {
            const auto senders = senders_of(plain, group);
            const auto from = random_expansions(plain, senders);
            const auto expected = one_by_one(plain, level, group, senders, from);
            const auto got = by_steps(mirrored, level, group, from, plain.size);
            double largest = 0.0;
            double off = 0.0;
            for (std::size_t i = 0; i < got.size(); ++i) {
                largest = std::max(largest, std::abs(expected[i]));
                off = std::max(off, std::abs(got[i] - expected[i]));
            }
            // polynomials may have nothing to do on the coarsest level, nor may the only cell that it has
            EXPECT_TRUE(largest > 0.0 || level == 0 || group == coarse_group);
            // entries between functions of unlike parities along an axis without offset are rounding
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
            EXPECT_EQ(mirrored_rows(*plain_operators<double>(of, 1)), mirrored_harmonics(order));
            expect_same(*plain_operators<float>(of, 1));
            expect_same(*plain_operators<double>(of, 1));
        }
}

TEST(MirroredOperators, OfPolynomialsHaveStepsOfEachLevel) {
    constexpr int levels = 4;
    const auto far = plain_far<float>(mirrored_order(5, 0.6), 0.05, levels, 0, 1);
    ASSERT_NE(far.polynomials.operators, nullptr);
    EXPECT_EQ(MirroredOperators<float>(*far.polynomials.operators).levels, levels);
    expect_same(*far.polynomials.operators);
}

TEST(MirroredOperators, ServeACoarsestLevelOfManyCells) {
    for (const int coarse : {3, 7}) {
        auto of = mirrored_order(3, 0.6);
        of.coarse = coarse;
        const auto plain = plain_operators<double>(of, 1);
        expect_same(*plain);
        const int parts = MirroredOperators<double>(*plain).coarse_parts();
        EXPECT_TRUE(coarse == 3 ? parts == 2 : parts > 4);
    }
}

} // namespace
} // namespace farfield
