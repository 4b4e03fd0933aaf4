// What every strategy computes: µ of all boxes on the levels 2 … depth from their ω, and the host's own
// result to hold a strategy against.
#pragma once

#include "studies/fmm_strategies/boxes.h"
#include "studies/fmm_strategies/moments.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield::strategies {

using Moment = Complex<double>;

/// Points in the unit cube, strengths in [−1, 1].
struct Charges {
    std::vector<double> xyz; ///< n × 3
    std::vector<double> strength;
    [[nodiscard]] std::size_t size() const { return strength.size(); }
};
Charges uniform_charges(std::int64_t n);

struct Problem {
    int order = 0, depth = 0;
    std::vector<Moment> omega;     ///< boxes_of_depth(depth) × half_size(order)
    std::vector<Moment> operators; ///< offsets × half_size(2 order); zeros where boxes are near

    [[nodiscard]] const Moment* omega_of(int box) const {
        return omega.data() + static_cast<std::size_t>(box) * static_cast<std::size_t>(half_size(order));
    }
    [[nodiscard]] const Moment* op(int id) const {
        return operators.data() +
               static_cast<std::size_t>(id) * static_cast<std::size_t>(half_size(2 * order));
    }
};

/// The operators of an order.
std::vector<Moment> make_operators(int order);

/// Of order ≤ `most_order` and depth 2 … `most_depth`; every level's moments come from the points.
Problem make_problem(const Charges& charges, int order, int depth, int threads);

/// A box by its level and number there.
struct LevelBox {
    int level = 0, box = 0;
    [[nodiscard]] int global() const { return level_begin(level) + box; }
};
/// `a_level` boxes of each level, corners among them.
std::vector<LevelBox> sample_boxes(int depth, int a_level);

/// µ of a box by the slides' loops; half_size(order) numbers.
std::vector<Moment> host_mu(const Problem& problem, const LevelBox& box);
/// Of several boxes, one after the other.
std::vector<Moment> host_mu(const Problem& problem, std::span<const LevelBox> boxes, int threads);

/// Relative L2 of µ over the boxes. A coefficient weighs what its function is at most in the box, so that
/// the error is one of the potential there. `mu` holds all boxes, `exact` those sampled.
double error_of(const Problem& problem, std::span<const Moment> mu, std::span<const LevelBox> boxes,
                std::span<const Moment> exact);

/// What a coefficient of each place weighs there.
std::vector<double> potential_weights(int order);

/// φ at b from the centre of a box, in boxes of its level; times 1/side it is that of the charges.
double potential_at(const Moment* mu, int order, double x, double y, double z);

} // namespace farfield::strategies
