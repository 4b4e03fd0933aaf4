// Translations of complex expansions in the plane (laurent_loops.h has the expansions). With t the distance
// of two cells of a level, from the source's centre to the target's, in widths, (t + u)^(−k−1) = Σ_n (−1)^n
// C(n + k, k) t^(−n−k−1) u^n gives M2L
//     g_n = (−1)^n t^(−n−1) Σ_k C(n + k, k) t^(−k) a_k,   C = a_0 ln(h |t|) − Re Σ_{k≥1} t^(−k) a_k/k,
// the real matrix of which is the same for every distance: equation 8 of Cruz, Layton and Barba, "How to
// obtain efficient GPU kernels" (Comput. Phys. Commun. 182, 2084, 2011), with its factors sorted and with the
// logarithm that it leaves out (Greengard and Rokhlin 1987, lemma 2.4). A child lies at s = (±1 ± i)/4 of its
// parent, in the parent's widths; with the binomial theorem M2M and L2L are
//     a'_k = s^k Σ_l C(k, l) (2s)^(−l) a_l,   g'_m = ½ (2s)^(−m) Σ_n C(n, m) s^n g_n,
//     C' = C + Re s Σ_n s^n g_n/(n + 1).
#pragma once

#include "base/aligned.h"
#include "sums/expansions/laurent_loops.h"

#include <array>
#include <complex>
#include <cstddef>
#include <vector>

namespace farfield {

/// What the operators depend on.
struct LaurentOrder {
    int order = 0;
    int separation = 1;
    int coarse = 1;       ///< cells an axis of the tree's level 0
    double grading = 0.6; ///< far cells get lower orders (graded_laurent_order); 0: all get `order`
};

/// Numbers of a part of an expansion: order + 1, rounded up to a cache line.
int laurent_size(int order);

/// The order for a cell at this distance: the one at which a source at the distance α from its centre is as
/// well represented as at the nearest distance that is not a neighbour's.
int graded_laurent_order(const LaurentOrder& order, int dx, int dy);

class LaurentOperators {
public:
    explicit LaurentOperators(const LaurentOrder& order);
    LaurentOperators(const LaurentOperators&) = delete;
    LaurentOperators& operator=(const LaurentOperators&) = delete;

    [[nodiscard]] int size() const { return size_; }
    /// M2L over the distance from the source to the target. @pre they are not neighbours
    [[nodiscard]] const LaurentShift& across(int dx, int dy) const {
        const int place = (dx + reach_) + (2 * reach_ + 1) * (dy + reach_);
        return across_[static_cast<std::size_t>(place)];
    }
    /// M2M of the child in this quadrant, x the lowest bit, and L2L to it.
    [[nodiscard]] const LaurentShift& up(int quadrant) const {
        return up_[static_cast<std::size_t>(quadrant)];
    }
    [[nodiscard]] const LaurentShift& down(int quadrant) const {
        return down_[static_cast<std::size_t>(quadrant)];
    }
    /// Multiply-adds of a translation of one set.
    [[nodiscard]] static double multiply_adds(const LaurentShift& shift) {
        return 2.0 * shift.columns * shift.rows;
    }

private:
    using Complex = std::complex<long double>;
    using Numbers = AlignedVector<double>;
    /// factor·base^k for all k of an expansion, in memory that stays.
    void set_powers(Complex factor, Complex base, const double* (&parts)[2]);
    void make_matrices();
    void make_across();
    void make_children();
    double* take();

    LaurentOrder order_;
    int size_, reach_;
    Numbers across_matrix_, up_matrix_, down_matrix_, across_row_, down_row_;
    std::vector<Numbers> powers_;
    std::vector<LaurentShift> across_;
    std::array<LaurentShift, 4> up_, down_;
};

} // namespace farfield
