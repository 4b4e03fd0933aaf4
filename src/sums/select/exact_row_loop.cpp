// A block of sources on one target for exact_row.cpp, compiled once for each instruction set. The formulas
// are not those of the loops that are judged by it.
#include "sums/select/exact_row_loop.h"
#include "sums/select/exact_numbers.h"

namespace farfield::exact {
namespace {

template <class M>
struct InverseDistance {
    using Number = typename M::Number;
    static constexpr int dimension = 3, sums = 4;
    FF_INLINE static void add(const Number& r2, const Number* d, const V* q, Number* out) {
        const Number y = M::inverse_root(r2);
        const Number term = M::product(q[0], y);
        M::add(out[0], term);
        const Number weight = M::product(term, M::product(y, y));
        for (int k = 0; k < 3; ++k) M::add(out[1 + k], M::product(weight, d[k]));
    }
};

template <class M, int columns, bool with_potential>
struct PlaneLog {
    using Number = typename M::Number;
    static constexpr int dimension = 2, sums = columns + 2;
    FF_INLINE static void add(const Number& r2, const Number* d, const V* q, Number* out) {
        Number inverse; // NOLINT(*-member-init): filled below
        if constexpr (with_potential) {
            const auto both = M::log_and_inverse(r2);
            for (int c = 0; c < columns; ++c) M::add(out[c], M::product(q[c], both.log));
            inverse = both.inverse;
        } else {
            inverse = M::inverse(r2);
        }
        const Number x = M::product(d[0], inverse);
        const Number y = M::product(d[1], inverse);
        if constexpr (columns == 1) {
            M::add(out[1], M::product(q[0], x));
            M::add(out[2], M::product(q[0], y));
        } else {
            M::add(out[2], M::sum(M::product(q[0], x), M::product(q[1], y)));
            M::add(out[3], M::sum(M::product(q[0], y), M::negative(M::product(q[1], x))));
        }
    }
};

template <class M, int axes>
struct Gaussian {
    using Number = typename M::Number;
    static constexpr int dimension = axes, sums = 1 + axes;
    Number rate; ///< −1/2σ²

    explicit Gaussian(const ExactBlock& block) {
        const V sigma = O::set(block.sigma);
        const Number variance = M::product(M::number(sigma), M::number(sigma));
        rate = M::negative(M::inverse(M::sum(variance, variance)));
    }
    FF_INLINE void add(const Number& r2, const Number* d, const V* q, Number* out) const {
        const Number term = M::product(q[0], M::exponential(M::product(rate, r2)));
        M::add(out[0], term);
        for (int k = 0; k < axes; ++k) M::add(out[1 + k], M::product(term, d[k]));
    }
};

template <class M, class Formula>
class BlockSum {
    using Number = typename M::Number;
    static constexpr int columns = Formula::sums - Formula::dimension;
    ExactBlock& block_;
    const Formula formula_;
    Number sums_[Formula::sums];

    FF_INLINE Number square_distance(std::int64_t first, Number* d) const {
        Number r2 = M::number(O::set(block_.softening2));
        for (int k = 0; k < Formula::dimension; ++k) {
            d[k] = M::difference(O::set(block_.target[k]), O::load(block_.points[k] + first));
            r2 = M::sum(r2, M::product(d[k], d[k]));
        }
        return r2;
    }

    void list(V r2, std::int64_t first) {
        alignas(64) double lanes[O::width];
        O::store(lanes, r2);
        for (int k = 0; k < O::width; ++k)
            if (!(lanes[k] >= block_.nearest2 && lanes[k] <= block_.farthest2))
                block_.left[block_.left_out++] = static_cast<std::int32_t>(first + k);
    }

    // Calls add with the strengths, those of sources that are left out replaced by zeros.
    FF_INLINE void add_sources(std::int64_t first) {
        Number d[Formula::dimension];
        Number r2 = square_distance(first, d);
        V q[columns];
        for (int c = 0; c < columns; ++c) q[c] = O::load(block_.strengths[c] + first);
        const V leading = M::leading(r2);
        const V beyond = O::set(std::numeric_limits<double>::infinity());
        const V not_too_near = O::select(leading >= O::set(block_.nearest2), leading, beyond);
        const auto ordinary = not_too_near <= O::set(block_.farthest2);
        if (portable::Lanes<V>::any(!ordinary)) {
            list(leading, first);
            const V zero = O::set(0.0);
            for (auto& strength : q) strength = O::select(ordinary, strength, zero);
            for (auto& component : d) component = M::select(ordinary, component, M::zero());
            r2 = M::select(ordinary, r2, M::number(O::set(1.0)));
        }
        formula_.add(r2, d, q, sums_);
    }

    void finish(int k) {
        auto& total = block_.sums[k];
        for (int lane = 0; lane < O::width; ++lane) {
            const auto part = M::lane(sums_[k], lane);
            const auto sum = portable::two_sum(total.hi, part.hi);
            total = {sum.hi, total.lo + (sum.lo + part.lo)};
        }
    }

public:
    explicit BlockSum(ExactBlock& block, const Formula& formula = {}) // NOLINT(*-member-init): filled here
        : block_(block), formula_(formula) {
        for (auto& sum : sums_) sum = M::zero();
    }

    void run() {
        block_.left_out = 0;
        for (std::int64_t first = 0; first < block_.count; first += O::width) add_sources(first);
        for (int k = 0; k < Formula::sums; ++k) finish(k);
    }
};

/// Of a dimension that is known when the program runs.
template <class M, int axes = 1>
void run_gaussians(ExactBlock& block) {
    if constexpr (axes < most_dimensions)
        if (block.dimension > axes) return run_gaussians<M, axes + 1>(block);
    BlockSum<M, Gaussian<M, axes>>(block, Gaussian<M, axes>(block)).run();
}

template <class M>
void run_block(ExactBlock& block) {
    const bool is_complex = block.strengths[1] != nullptr;
    if (block.formula == ExactFormula::gaussian)
        run_gaussians<M>(block);
    else if (block.formula == ExactFormula::inverse_distance)
        BlockSum<M, InverseDistance<M>>(block).run();
    else if (is_complex && block.with_potential)
        BlockSum<M, PlaneLog<M, 2, true>>(block).run();
    else if (is_complex)
        BlockSum<M, PlaneLog<M, 2, false>>(block).run();
    else if (block.with_potential)
        BlockSum<M, PlaneLog<M, 1, true>>(block).run();
    else
        BlockSum<M, PlaneLog<M, 1, false>>(block).run();
}

} // namespace
} // namespace farfield::exact

extern "C" void FF_ISA_ENTRY(ff_exact_block)(farfield::ExactBlock* block) {
    using namespace farfield::exact;
    if (block->in_pairs)
        run_block<InPairs>(*block);
    else
        run_block<InDoubles>(*block);
}
