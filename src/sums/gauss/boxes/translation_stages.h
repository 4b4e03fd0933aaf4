// Hermite expansions of many boxes translated to Taylor expansions of many others, one axis after the other:
// along an axis the sums over offsets are one-dimensional, so that all (2K + 1)^d offsets of a box take
// d (2K + 1) products with a p×p matrix. Between two axes there are sums of boxes that have the place of the
// targets along the axes that are done, and the place of the sources along the others.
#pragma once

#include "backend/threads/work_watch.h"
#include "base/aligned.h"
#include "sums/gauss/boxes/lattice.h"

#include <farfield/sum_options.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace farfield {

/// Matrices of one axis, by offsets −reach to reach: √C(n + m, n) (−1)^m ψ_{n+m}(offset·step) at row n and
/// column m, rows padded to `box_row(order)`.
class AxisTranslations {
public:
    AxisTranslations(int order, std::int64_t reach, double step);
    [[nodiscard]] const double* of(std::int64_t offset) const {
        return matrices_.data() + static_cast<std::size_t>(offset + reach_) * size_;
    }

private:
    std::int64_t reach_;
    std::size_t size_;
    AlignedVector<double> matrices_;
};

class TranslationStages {
public:
    /// From boxes with those keys to others, in rising order. `cutoff` in the lattice's unit, of which σ has
    /// `sigma`. Translations of two boxes farther apart than the cut-off along an axis are left out.
    void set(const GaussLattice& lattice, std::span<const std::uint64_t> from,
             std::span<const std::uint64_t> to, double cutoff);
    /// Matrices for expansions of p = order.
    void set_order(int order, double sigma);

    /// Expansions that stand between two axes beside those that `room` of the last ones hold.
    [[nodiscard]] std::size_t expansions(std::size_t room) const;
    /// Products with a matrix, over p^(d−1).
    [[nodiscard]] double products() const;

    /// Expansions of p^d numbers each, the first axis slowest. `to` are within `all`, of which the rest
    /// becomes 0, and which is written over and over on the way.
    /// A product is `work` to `watch`, which may give them up.
    void run(std::span<const double* const> from, std::span<double* const> to, std::span<double> all, Isa isa,
             int threads, double work, WorkWatch& watch) const;

private:
    /// One axis: sums number `out` of the boxes [first, last) at their places along the axis.
    struct Sum {
        std::int32_t first, last, out;
        std::int64_t at;
    };
    struct Stage {
        std::vector<std::int64_t> at; ///< of what is translated
        std::vector<Sum> sums;
        std::size_t outs = 0;
    };
    using Keys = std::vector<std::uint64_t>;
    /// Every other axis, so that the last one comes from elsewhere.
    [[nodiscard]] bool goes_to_all(std::size_t axis, std::size_t room) const {
        return (stages_.size() - axis) % 2 == 1 && stages_[axis].outs <= room;
    }
    Keys set_stage(const GaussLattice& lattice, std::size_t axis, const Keys& keys, const Keys& wanted,
                   std::uint64_t boxes);
    void run_stage(std::size_t axis, std::span<const double* const> from, std::span<double* const> to,
                   Isa isa, int threads, double work, WorkWatch& watch) const;

    int dimension_ = 1, order_ = 1;
    std::array<std::int64_t, most_dimensions> reach_{};
    std::array<double, most_dimensions> side_{};
    std::vector<Stage> stages_;
    std::vector<AxisTranslations> matrices_;
    std::vector<std::int32_t> target_of_; ///< of the last stage's sums
};

} // namespace farfield
