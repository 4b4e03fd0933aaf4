#include "studies/fmm_strategies/sparse_runs.h"

#include "backend/threads/parallel.h"
#include "base/random.h"

#include <farfield/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace farfield::strategies {
namespace {

// Interleaved bits of three indices below 2^20.
std::uint64_t morton_key(const std::array<std::int64_t, 3>& index) {
    std::uint64_t key = 0;
    for (int bit = 20; bit >= 0; --bit)
        for (const auto value : index) key = key << 1U | (static_cast<std::uint64_t>(value) >> bit & 1U);
    return key;
}

std::array<std::int64_t, 3> index_of_key(std::uint64_t key) {
    std::array<std::int64_t, 3> index{};
    for (int bit = 20; bit >= 0; --bit)
        for (std::size_t axis = 0; axis < 3; ++axis)
            index[axis] = index[axis] << 1U | static_cast<std::int64_t>(
                                                  key >> (3U * static_cast<unsigned>(bit) + 2U - axis) & 1U);
    return index;
}

// The points of a level by their boxes: keys of the boxes that hold any, and the points of each.
struct LevelBoxes {
    std::vector<std::uint64_t> key;
    std::vector<std::size_t> begin;
};

struct KeyedPoint {
    std::uint64_t key;
    std::size_t point;
};

LevelBoxes boxes_of(const std::vector<KeyedPoint>& points, int up) {
    LevelBoxes out;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto key = points[i].key >> static_cast<unsigned>(3 * up);
        if (out.key.empty() || out.key.back() != key) {
            out.key.push_back(key);
            out.begin.push_back(i);
        }
    }
    out.begin.push_back(points.size());
    return out;
}

void add_pairs(SparseProblem& problem, const LevelBoxes& boxes, std::int64_t dim, std::int32_t first) {
    for (const auto key : boxes.key) {
        const auto at = index_of_key(key);
        for (int n = 0; n < neighbours; ++n) {
            const std::array<int, 3> step{offset_of(static_cast<int>(at[0]), n / 36),
                                          offset_of(static_cast<int>(at[1]), n / 6 % 6),
                                          offset_of(static_cast<int>(at[2]), n % 6)};
            if (is_near(step[0], step[1], step[2])) continue;
            const std::array<std::int64_t, 3> source{at[0] + step[0], at[1] + step[1], at[2] + step[2]};
            if (std::any_of(source.begin(), source.end(), [&](auto i) { return i < 0 || i >= dim; }))
                continue;
            const auto wanted = morton_key(source);
            const auto found = std::lower_bound(boxes.key.begin(), boxes.key.end(), wanted);
            if (found == boxes.key.end() || *found != wanted) continue;
            problem.source.push_back(first + static_cast<std::int32_t>(found - boxes.key.begin()));
            problem.op.push_back(static_cast<std::int16_t>(operator_id(step[0], step[1], step[2])));
        }
        problem.begin.push_back(static_cast<std::int64_t>(problem.source.size()));
    }
}

} // namespace

Charges clustered_charges(std::int64_t n) {
    Charges charges = uniform_charges(n);
    for (std::size_t i = 0; i < charges.size(); ++i) {
        RandomStream random(2, 0, i);
        const double radius = 0.5 * std::pow(random.next_uniform(), 2.0);
        const double z = 2 * random.next_uniform() - 1,
                     angle = 2 * 3.14159265358979323846 * random.next_uniform();
        const double across = std::sqrt(1 - z * z);
        charges.xyz[3 * i] = 0.5 + radius * across * std::cos(angle);
        charges.xyz[3 * i + 1] = 0.5 + radius * across * std::sin(angle);
        charges.xyz[3 * i + 2] = 0.5 + radius * z;
    }
    return charges;
}

SparseProblem make_sparse(const Charges& charges, int order, int depth, int threads) {
    if (depth < first_level || depth > 20) throw InvalidArgument("a sparse tree has a depth of 2 to 20");
    const std::int64_t dim = std::int64_t{1} << depth;
    std::vector<KeyedPoint> points(charges.size());
    parallel_for(threads, static_cast<std::int64_t>(points.size()), [&](std::int64_t i) {
        std::array<std::int64_t, 3> index{};
        for (std::size_t axis = 0; axis < 3; ++axis)
            index[axis] = std::clamp<std::int64_t>(
                static_cast<std::int64_t>(charges.xyz[3 * static_cast<std::size_t>(i) + axis] *
                                          static_cast<double>(dim)),
                0, dim - 1);
        points[static_cast<std::size_t>(i)] = {morton_key(index), static_cast<std::size_t>(i)};
    });
    std::sort(points.begin(), points.end(), [](const KeyedPoint& a, const KeyedPoint& b) {
        return std::pair(a.key, a.point) < std::pair(b.key, b.point);
    });
    SparseProblem problem;
    problem.order = order;
    problem.depth = depth;
    problem.operators = make_operators(order);
    problem.begin.push_back(0);
    const auto size = static_cast<std::size_t>(half_size(order));
    for (int level = first_level; level <= depth; ++level) {
        const auto boxes = boxes_of(points, depth - level);
        const auto first = problem.boxes();
        const auto level_dim = std::int64_t{1} << level;
        add_pairs(problem, boxes, level_dim, static_cast<std::int32_t>(first));
        problem.level.resize(first + boxes.key.size(), level);
        problem.omega.resize(problem.boxes() * size, Moment{0.0, 0.0});
        const double scale = unit(order) * static_cast<double>(level_dim);
        parallel_for(threads, static_cast<std::int64_t>(boxes.key.size()), [&](std::int64_t number) {
            const auto box = static_cast<std::size_t>(number);
            const auto at = index_of_key(boxes.key[box]);
            std::vector<Moment> harmonics(size);
            for (auto n = boxes.begin[box]; n < boxes.begin[box + 1]; ++n) {
                const auto point = points[n].point;
                std::array<double, 3> from{};
                for (std::size_t axis = 0; axis < 3; ++axis)
                    from[axis] =
                        scale * (charges.xyz[3 * point + axis] -
                                 (static_cast<double>(at[axis]) + 0.5) / static_cast<double>(level_dim));
                regular(from[0], from[1], from[2], order, harmonics.data());
                for (std::size_t place = 0; place < size; ++place) {
                    auto& omega = problem.omega[(first + box) * size + place];
                    omega.re += charges.strength[point] * harmonics[place].re;
                    omega.im += charges.strength[point] * harmonics[place].im;
                }
            }
        });
    }
    return problem;
}

std::vector<Moment> host_sparse(const SparseProblem& problem, const std::vector<std::size_t>& boxes,
                                int threads) {
    const auto size = static_cast<std::size_t>(half_size(problem.order));
    const auto op_size = static_cast<std::size_t>(half_size(2 * problem.order));
    std::vector<Moment> out(boxes.size() * size, Moment{0.0, 0.0});
    parallel_for(threads, static_cast<std::int64_t>(boxes.size()), [&](std::int64_t number) {
        const auto n = static_cast<std::size_t>(number);
        for (auto pair = problem.begin[boxes[n]]; pair < problem.begin[boxes[n] + 1]; ++pair) {
            const auto at = static_cast<std::size_t>(pair);
            m2l_operation(problem.omega.data() + static_cast<std::size_t>(problem.source[at]) * size,
                          problem.operators.data() + static_cast<std::size_t>(problem.op[at]) * op_size,
                          out.data() + n * size, problem.order);
        }
    });
    return out;
}

double sparse_error(const SparseProblem& problem, const std::vector<Moment>& mu,
                    const std::vector<std::size_t>& boxes, const std::vector<Moment>& exact) {
    const auto weight = potential_weights(problem.order);
    double difference = 0.0, norm = 0.0;
    for (std::size_t n = 0; n < boxes.size(); ++n)
        for (std::size_t place = 0; place < weight.size(); ++place) {
            const auto& is = mu[boxes[n] * weight.size() + place];
            const auto& should = exact[n * weight.size() + place];
            const double squared = weight[place] * weight[place];
            difference += squared * ((is.re - should.re) * (is.re - should.re) +
                                     (is.im - should.im) * (is.im - should.im));
            norm += squared * (should.re * should.re + should.im * should.im);
        }
    return norm > 0.0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

} // namespace farfield::strategies
