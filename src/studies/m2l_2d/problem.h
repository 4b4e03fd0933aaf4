// What every kernel of `farfield reproduce m2l-2d` translates, and what the host finds for it in double.
#pragma once

#include "studies/m2l_2d/grid.h"
#include "studies/m2l_2d/translation.h"

#include <array>
#include <span>
#include <vector>

namespace farfield::m2l2d {

using Number = Complex<double>;
inline constexpr std::array terms_measured{8, 12, 16};

/// The two expansions of translation.h.
enum class Form { paper, with_logarithm };

/// Charges of both signs in every box of the levels 2 … depth, a level's apart from another's.
struct Problem {
    int terms = 0, depth = 0;
    std::vector<Number> field;     ///< m_k of the paper's form: boxes × terms
    std::vector<Number> potential; ///< a_k of ours

    [[nodiscard]] const std::vector<Number>& multipoles(Form form) const {
        return form == Form::paper ? field : potential;
    }
};
Problem make_problem(int terms, int depth, int threads);

/// Expansions box by box, into groups (grid.h) with 0 in empty places, and back.
std::vector<Number> in_groups(std::span<const Number> boxes, int terms, int depth);
std::vector<Number> by_boxes(std::span<const Number> groups, int terms, int depth);

/// ln of the side of a box, that of level 0 being 1.
double log_of_side(int level);

/// What our kernels know of offsets d: (1/d)^k of [quarter][slot][k], and −ln d of [quarter][slot].
std::vector<Number> offset_powers(int terms);
std::vector<Number> offset_logs();

/// The local expansion of a box, the sum over its 27 sources, by the formulas as they stand.
std::vector<Number> host_local(const Problem& problem, Form form, int box);

/// Of boxes spread over all levels, corners among them.
std::vector<int> sample_boxes(int depth, int about);

/// Relative L2 over the sampled boxes. Term n weighs 2^(−n/2), which (z − x_i)^n is at most in a box.
/// `locals` holds all boxes, `exact` those sampled.
double error_of(const Problem& problem, std::span<const Number> locals, std::span<const int> boxes,
                std::span<const Number> exact);

} // namespace farfield::m2l2d
