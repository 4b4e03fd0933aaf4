// What a rank gives of the points of a box, which all ranks have, and where its results go.
#pragma once

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "backend/threads/parallel.h"
#include "base/aligned.h"
#include "sums/direct/cpu/direct.h"
#include "sums/lattice/images/tin_foil.h"
#include "sums/lattice/near_sum.h"
#include "sums/method/problem.h"

#include <farfield/sum_options.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace farfield {

class BoxShare {
public:
    struct Rows {
        std::size_t begin = 0, count = 0;
    };

    /// @param divides  whether ranks, where there are some, divide the points
    BoxShare(const SumProblem& problem, const Communicator& communicator, bool divides)
        : ranks_(CommunicatorAccess::transport(communicator)),
          divides_(ranks_ != nullptr && divides && problem.sources > 0 && problem.targets > 0),
          sources_(part_of(problem.sources)), targets_(part_of(problem.targets)), all_(problem.targets) {}

    /// Null: this process is alone.
    [[nodiscard]] comm::Transport* ranks() const { return ranks_; }
    [[nodiscard]] bool divides() const { return divides_; }
    /// Of all where ranks do not divide them.
    [[nodiscard]] const Rows& sources() const { return sources_; }
    [[nodiscard]] const Rows& targets() const { return targets_; }

    /// For a sum that is given the rank's rows.
    [[nodiscard]] SumOptions of_own(SumOptions options) const {
        if (divides_) options.communicator = CommunicatorAccess::with_own(options.communicator);
        return options;
    }
    /// Points of a box, N×3.
    [[nodiscard]] static RawVector<double> rows_of(const LatticePoints& points, const Rows& part,
                                                   int threads) {
        RawVector<double> out(3 * part.count);
        parallel_parts(threads, part.count, [&](std::size_t begin, std::size_t end) {
            for (auto i = begin; i < end; ++i)
                for (std::size_t k = 0; k < 3; ++k) out[3 * i + k] = points[k][part.begin + i];
        });
        return out;
    }
    [[nodiscard]] static LatticePoints part_of(const LatticePoints& points, const Rows& part) {
        LatticePoints out;
        const auto views = views_of(points, part);
        for (std::size_t k = 0; k < 3; ++k) out[k].assign(views[k].begin(), views[k].end());
        return out;
    }
    [[nodiscard]] static PointViews views_of(const LatticePoints& points, const Rows& part) {
        PointViews out;
        for (std::size_t k = 0; k < 3; ++k)
            out[k] = std::span<const double>(points[k]).subspan(part.begin, part.count);
        return out;
    }
    [[nodiscard]] DirectResults own_rows(const DirectResults& all) const {
        return {.potential = all.potential != nullptr ? all.potential + targets_.begin : nullptr,
                .field = all.field != nullptr ? all.field + 3 * targets_.begin : nullptr};
    }
    /// Results are those of the kernel, whose sign may be the other; what is added are those of charges.
    void turn(double sign, const LatticeResults& own) const {
        if (sign != 1.0) scale(sign, sign, own);
    }
    /// @param unit  of the frame, over the caller's
    void to_units_of_caller(double unit, const LatticeResults& own) const { scale(unit, unit * unit, own); }
    /// Ranks get each other's rows.
    void gather(const DirectResults& results) const {
        if (!divides_) return;
        const auto m = static_cast<std::size_t>(all_);
        const auto begins = comm::equal_parts(*ranks_, all_);
        if (results.potential != nullptr)
            comm::share_rows(*ranks_, std::span(results.potential, m), 1, begins);
        if (results.field != nullptr) comm::share_rows(*ranks_, std::span(results.field, 3 * m), 3, begins);
    }

private:
    [[nodiscard]] Rows part_of(std::int64_t count) const {
        if (!divides_) return {0, static_cast<std::size_t>(count)};
        const auto begins = comm::equal_parts(*ranks_, count);
        const auto rank = static_cast<std::size_t>(ranks_->rank());
        return {static_cast<std::size_t>(begins[rank]),
                static_cast<std::size_t>(begins[rank + 1] - begins[rank])};
    }
    void scale(double of_potential, double of_field, const LatticeResults& own) const {
        const auto m = targets_.count;
        for (std::size_t i = 0; i < m && own.potential != nullptr; ++i) own.potential[i] *= of_potential;
        for (std::size_t i = 0; i < 3 * m && own.field != nullptr; ++i) own.field[i] *= of_field;
    }

    comm::Transport* ranks_;
    bool divides_;
    Rows sources_, targets_;
    std::int64_t all_; ///< targets
};

} // namespace farfield
