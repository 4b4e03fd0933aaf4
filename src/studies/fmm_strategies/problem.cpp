#include "studies/fmm_strategies/problem.h"

#include "backend/threads/parallel.h"
#include "base/random.h"

#include <algorithm>
#include <cmath>

namespace farfield::strategies {
namespace {

std::size_t places(int order) { return static_cast<std::size_t>(half_size(order)); }

// The charges of each box of a level, by counting.
struct Binned {
    std::vector<std::size_t> begin;
    std::vector<std::size_t> member;
};

int box_of(const Charges& charges, std::size_t point, int dim) {
    const auto index = [&](std::size_t axis) {
        return std::clamp(static_cast<int>(charges.xyz[3 * point + axis] * dim), 0, dim - 1);
    };
    return box_id({index(0), index(1), index(2)}, dim);
}

Binned binned(const Charges& charges, int level) {
    const int dim = boxes_an_axis(level);
    Binned out;
    out.begin.assign(static_cast<std::size_t>(boxes_of_level(level)) + 1, 0);
    for (std::size_t i = 0; i < charges.size(); ++i)
        ++out.begin[static_cast<std::size_t>(box_of(charges, i, dim)) + 1];
    for (std::size_t box = 1; box < out.begin.size(); ++box) out.begin[box] += out.begin[box - 1];
    auto next = out.begin;
    out.member.resize(charges.size());
    for (std::size_t i = 0; i < charges.size(); ++i)
        out.member[next[static_cast<std::size_t>(box_of(charges, i, dim))]++] = i;
    return out;
}

void add_charges(const Charges& charges, const Binned& bins, int level, std::size_t box, int order,
                 Moment* omega) {
    const int dim = boxes_an_axis(level);
    const auto at = box_at(static_cast<int>(box), dim);
    const double scale = unit(order) * dim;
    std::vector<Moment> harmonics(places(order));
    for (auto n = bins.begin[box]; n < bins.begin[box + 1]; ++n) {
        const auto i = bins.member[n];
        const auto from_centre = [&](std::size_t axis, int index) {
            return scale * (charges.xyz[3 * i + axis] - (index + 0.5) / dim);
        };
        regular(from_centre(0, at.i), from_centre(1, at.j), from_centre(2, at.k), order, harmonics.data());
        for (std::size_t place = 0; place < harmonics.size(); ++place) {
            omega[place].re += charges.strength[i] * harmonics[place].re;
            omega[place].im += charges.strength[i] * harmonics[place].im;
        }
    }
}

} // namespace

Charges uniform_charges(std::int64_t n) {
    Charges charges;
    for (std::int64_t i = 0; i < n; ++i) {
        RandomStream random(1, 0, static_cast<std::uint64_t>(i));
        for (int axis = 0; axis < 3; ++axis) charges.xyz.push_back(random.next_uniform());
        charges.strength.push_back(2.0 * random.next_uniform() - 1.0);
    }
    return charges;
}

std::vector<Moment> make_operators(int order) {
    const auto size = places(2 * order);
    std::vector<Moment> out(offsets * size, Moment{0.0, 0.0});
    std::vector<Complex<long double>> harmonics(size);
    const long double scale = unit(order);
    for (int x = -3; x <= 3; ++x)
        for (int y = -3; y <= 3; ++y)
            for (int z = -3; z <= 3; ++z) {
                if (is_near(x, y, z)) continue;
                // from the source to the target, against the offset
                singular(-scale * x, -scale * y, -scale * z, 2 * order, harmonics.data());
                auto* op = out.data() + static_cast<std::size_t>(operator_id(x, y, z)) * size;
                for (std::size_t place = 0; place < size; ++place)
                    op[place] = {static_cast<double>(harmonics[place].re),
                                 static_cast<double>(harmonics[place].im)};
            }
    return out;
}

Problem make_problem(const Charges& charges, int order, int depth, int threads) {
    Problem problem{order, depth, {}, make_operators(order)};
    const auto size = places(order);
    problem.omega.assign(static_cast<std::size_t>(boxes_of_depth(depth)) * size, Moment{0.0, 0.0});
    for (int level = first_level; level <= depth; ++level) {
        const auto bins = binned(charges, level);
        parallel_for(threads, boxes_of_level(level), [&](std::int64_t box) {
            add_charges(charges, bins, level, static_cast<std::size_t>(box), order,
                        problem.omega.data() + static_cast<std::size_t>(level_begin(level) + box) * size);
        });
    }
    return problem;
}

std::vector<LevelBox> sample_boxes(int depth, int a_level) {
    std::vector<LevelBox> out;
    for (int level = first_level; level <= depth; ++level) {
        const int count = boxes_of_level(level), wanted = std::min(a_level, count);
        for (int n = 0; n < wanted; ++n) // the first and the last are corners
            out.push_back({level, wanted == 1 ? 0
                                              : static_cast<int>(static_cast<std::int64_t>(n) * (count - 1) /
                                                                 (wanted - 1))});
    }
    return out;
}

std::vector<Moment> host_mu(const Problem& problem, const LevelBox& target) {
    std::vector<Moment> mu(places(problem.order), Moment{0.0, 0.0});
    const int dim = boxes_an_axis(target.level), begin = level_begin(target.level);
    const auto box = box_at(target.box, dim);
    for (int n = 0; n < neighbours; ++n)
        if (const auto found = neighbour_of(box, n, dim); found.source >= 0)
            m2l_operation(problem.omega_of(begin + found.source), problem.op(found.op), mu.data(),
                          problem.order);
    return mu;
}

std::vector<Moment> host_mu(const Problem& problem, std::span<const LevelBox> boxes, int threads) {
    const auto size = places(problem.order);
    std::vector<Moment> out(boxes.size() * size);
    parallel_for(threads, static_cast<std::int64_t>(boxes.size()), [&](std::int64_t n) {
        const auto mu = host_mu(problem, boxes[static_cast<std::size_t>(n)]);
        std::copy(mu.begin(), mu.end(),
                  out.begin() + static_cast<std::ptrdiff_t>(n * static_cast<std::int64_t>(size)));
    });
    return out;
}

std::vector<double> potential_weights(int order) {
    const double radius = unit(order) * std::sqrt(0.75); // of a corner
    std::vector<double> weight(places(order));
    double power = 1.0; // r^l/l!
    for (int l = 0; l <= order; ++l) {
        if (l > 0) power *= radius / l;
        for (int m = 0; m <= l; ++m) weight[static_cast<std::size_t>(half_place(l, m))] = power;
    }
    return weight;
}

double error_of(const Problem& problem, std::span<const Moment> mu, std::span<const LevelBox> boxes,
                std::span<const Moment> exact) {
    const auto size = places(problem.order);
    const auto weight = potential_weights(problem.order);
    double difference = 0.0, norm = 0.0;
    for (std::size_t n = 0; n < boxes.size(); ++n)
        for (std::size_t place = 0; place < size; ++place) {
            const auto& is = mu[static_cast<std::size_t>(boxes[n].global()) * size + place];
            const auto& should = exact[n * size + place];
            const double squared = weight[place] * weight[place];
            difference += squared * ((is.re - should.re) * (is.re - should.re) +
                                     (is.im - should.im) * (is.im - should.im));
            norm += squared * (should.re * should.re + should.im * should.im);
        }
    return std::sqrt(difference / norm);
}

double potential_at(const Moment* mu, int order, double x, double y, double z) {
    std::vector<Moment> harmonics(places(order));
    const double scale = -unit(order);
    regular(scale * x, scale * y, scale * z, order, harmonics.data());
    double sum = 0.0;
    for (int l = 0; l <= order; ++l)
        for (int m = 0; m <= l; ++m) {
            const auto place = static_cast<std::size_t>(half_place(l, m));
            sum += (m == 0 ? 1.0 : 2.0) *
                   (harmonics[place].re * mu[place].re - harmonics[place].im * mu[place].im);
        }
    return unit(order) * sum;
}

} // namespace farfield::strategies
