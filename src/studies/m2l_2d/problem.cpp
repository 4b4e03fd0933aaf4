#include "studies/m2l_2d/problem.h"

#include "backend/threads/parallel.h"
#include "base/random.h"

#include <cmath>
#include <complex>

namespace farfield::m2l2d {
namespace {

using Double = std::complex<double>;
constexpr int charges_a_box = 4;

Double value_of(const Number& number) { return {number.re, number.im}; }
Number number_of_value(const Double& value) { return {value.real(), value.imag()}; }

std::size_t place(std::size_t box, int terms, int k) {
    return box * static_cast<std::size_t>(terms) + static_cast<std::size_t>(k);
}

// C(n, k)
double binomial(int n, int k) {
    double value = 1;
    for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
    return value;
}

// Of the translation by d, added to b; by the sums of translation.h with no reuse but that of powers.
void add_translation(Form form, const Number* from, Double d, double log_side, int terms, Double* to) {
    std::vector<Double> power; // t^s
    power.reserve(2 * static_cast<std::size_t>(terms));
    for (int s = 0; s < 2 * terms; ++s) power.push_back(std::pow(1.0 / d, s));
    for (int n = 0; n < terms; ++n) {
        const double sign = n % 2 == 0 ? 1.0 : -1.0;
        const auto* t = power.data() + n; // t[k]: t^(n+k)
        for (int k = 0; k < terms; ++k) {
            const auto m = value_of(from[k]);
            if (form == Form::paper)
                to[n] += sign * binomial(n + k, k) * t[k + 1] * m;
            else if (k > 0)
                to[n] += sign * binomial(n + k - 1, k - 1) * t[k] * m;
            else
                to[n] += n == 0 ? -(std::log(d) + log_side) * m : sign / n * t[0] * m;
        }
    }
}

// Calls move(place box by box, place in groups) for every number.
template <class Move>
void for_each_place(int terms, int depth, const Move& move) {
    for (int number = 0; number < boxes_of_depth(depth); ++number) {
        const auto box = box_at(number);
        const int parent = box.y / 2 * parents_an_axis(box.level) + box.x / 2;
        const int first = place_of(group_begin(box.level), parent, quarter_of(box.x, box.y), terms);
        for (int k = 0; k < terms; ++k)
            move(place(static_cast<std::size_t>(number), terms, k),
                 static_cast<std::size_t>(first) + static_cast<std::size_t>(k) * lanes);
    }
}

} // namespace

double log_of_side(int level) { return -level * std::log(2.0); }

std::vector<Number> offset_powers(int terms) {
    std::vector<Number> powers;
    for (int quarter = 0; quarter < quarters; ++quarter)
        for (int slot = 0; slot < list_size; ++slot) {
            const auto offset = offset_of(quarter, slot);
            const Double t = 1.0 / Double(offset.x, offset.y);
            Double power = 1;
            for (int k = 0; k < terms; ++k, power *= t) powers.push_back(number_of_value(power));
        }
    return powers;
}

std::vector<Number> offset_logs() {
    std::vector<Number> logs;
    for (int quarter = 0; quarter < quarters; ++quarter)
        for (int slot = 0; slot < list_size; ++slot) {
            const auto offset = offset_of(quarter, slot);
            logs.push_back(number_of_value(-std::log(Double(offset.x, offset.y))));
        }
    return logs;
}

Problem make_problem(int terms, int depth, int threads) {
    const auto boxes = static_cast<std::size_t>(boxes_of_depth(depth));
    const auto size = boxes * static_cast<std::size_t>(terms);
    Problem problem{terms, depth, std::vector<Number>(size), std::vector<Number>(size)};
    parallel_parts(threads, boxes, [&](std::size_t begin, std::size_t end) {
        for (std::size_t box = begin; box < end; ++box) {
            RandomStream random(1, 0, box);
            for (int charge = 0; charge < charges_a_box; ++charge) {
                const double x = random.next_uniform() - 0.5, y = random.next_uniform() - 0.5;
                const double strength = 2 * random.next_uniform() - 1;
                Double power = strength; // q (z − x_j)^k
                for (int k = 0; k < terms; ++k) {
                    auto& m = problem.field[place(box, terms, k)];
                    auto& a = problem.potential[place(box, terms, k)];
                    m = number_of_value(value_of(m) + power);
                    a = number_of_value(value_of(a) + (k == 0 ? power : power / static_cast<double>(k)));
                    power *= Double(x, y);
                }
            }
        }
    });
    return problem;
}

std::vector<Number> in_groups(std::span<const Number> boxes, int terms, int depth) {
    std::vector<Number> out(static_cast<std::size_t>(groups_of_depth(depth) * quarters * terms * lanes));
    for_each_place(terms, depth, [&](std::size_t box, std::size_t group) { out[group] = boxes[box]; });
    return out;
}
std::vector<Number> by_boxes(std::span<const Number> groups, int terms, int depth) {
    std::vector<Number> out(static_cast<std::size_t>(boxes_of_depth(depth) * terms));
    for_each_place(terms, depth, [&](std::size_t box, std::size_t group) { out[box] = groups[group]; });
    return out;
}

std::vector<Number> host_local(const Problem& problem, Form form, int box) {
    const auto target = box_at(box);
    const int quarter = quarter_of(target.x, target.y);
    std::vector<Double> sum(static_cast<std::size_t>(problem.terms));
    for (int slot = 0; slot < list_size; ++slot) {
        const auto offset = offset_of(quarter, slot);
        const auto source = static_cast<std::size_t>(number_of(at_offset(target, offset)));
        add_translation(form, problem.multipoles(form).data() + place(source, problem.terms, 0),
                        Double(-offset.x, -offset.y), log_of_side(target.level), problem.terms, sum.data());
    }
    std::vector<Number> out;
    out.reserve(sum.size());
    for (const auto& value : sum) out.push_back(number_of_value(value));
    return out;
}

std::vector<int> sample_boxes(int depth, int about) {
    const int all = boxes_of_depth(depth), step = all > about ? all / about : 1;
    std::vector<int> boxes;
    for (int box = 0; box < all; box += step) boxes.push_back(box);
    if (boxes.back() != all - 1) boxes.push_back(all - 1);
    return boxes;
}

double error_of(const Problem& problem, std::span<const Number> locals, std::span<const int> boxes,
                std::span<const Number> exact) {
    double difference = 0, norm = 0;
    for (std::size_t sample = 0; sample < boxes.size(); ++sample)
        for (int n = 0; n < problem.terms; ++n) {
            const auto is =
                value_of(locals[place(static_cast<std::size_t>(boxes[sample]), problem.terms, n)]);
            const auto should = value_of(exact[place(sample, problem.terms, n)]);
            const double weight = std::pow(2.0, -n); // 2^(−n/2), squared
            difference += weight * std::norm(is - should);
            norm += weight * std::norm(should);
        }
    return std::sqrt(difference / norm);
}

} // namespace farfield::m2l2d
