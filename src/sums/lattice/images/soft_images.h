// Far images of softened charges at the points of a box: moments of its cells, the operator from them to
// polynomials around the targets' cells (soft_operator.h), and these at the targets. What FarImages does for
// charges without softening.
#pragma once

#include "backend/threads/work_watch.h"
#include "sums/lattice/images/soft_operator.h"
#include "sums/lattice/near_sum.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace farfield {
namespace comm {
class Transport;
}

/// x^a = Σ_k shift(a, k) u^k for x = u + c, along one axis.
class BlockShift {
public:
    BlockShift(double c, int degree, int block_degree);
    double operator()(int a, int k) const {
        const int place = a * width_ + k;
        return values_[static_cast<std::size_t>(place)];
    }

private:
    int width_;
    std::vector<double> values_;
};
using BlockShifts = std::array<const BlockShift*, 3>;

class SoftImages {
public:
    /// @param ranks  that share the work, and have all sources; null: this process is alone
    /// @param own_targets  each rank has targets of its own; otherwise all have all, and get all results
    SoftImages(const ImageGrid& grid, const SoftKernel& kernel, const SoftGoal& goal, int threads,
               comm::Transport* ranks = nullptr, bool own_targets = false);

    /// Points in the box, in its frame. @param targets  null: they are the sources
    void set_points(const LatticePoints& sources, const LatticePoints* targets);
    /// Adds Σ q/√(r²+ε²) and its negative gradient at the targets, in the order given, unless the watch of
    /// any rank stops it.
    void add(std::span<const double> strengths, const LatticeResults& results, WorkWatch& watch) const;
    /// Multiply-adds of that, of this process.
    [[nodiscard]] double work() const;
    /// The total degree of the polynomials.
    [[nodiscard]] int degree() const { return operator_->powers().degree(); }

private:
    /// Cells are divided along each axis into blocks, in which polynomials of a lower degree do.
    struct Blocks {
        int across = 1;
        Powers powers{0};

        [[nodiscard]] Whole place(std::size_t block) const { // within its cell
            const auto n = static_cast<std::size_t>(across);
            return {static_cast<int>(block % n), static_cast<int>(block / n % n),
                    static_cast<int>(block / (n * n) % n)};
        }
    };
    /// Points by blocks, of one cell after the other, from the blocks' middles in units of the cells' sides.
    struct Cells {
        Blocks blocks;
        std::array<std::vector<BlockShift>, 3> shifts{}; ///< by place
        std::vector<std::int64_t> start{}, order{};      ///< of blocks
        /// Blocks of a cell that a task takes: where their points begin, and the end; the first of them, and
        /// the end; their cell.
        std::vector<std::int64_t> parts{};
        std::vector<std::size_t> first_block{}, cell_of_part{};
        LatticePoints x{};

        [[nodiscard]] BlockShifts shifts_of(std::size_t block) const {
            const auto at = blocks.place(block);
            BlockShifts out{};
            for (std::size_t k = 0; k < 3; ++k) out[k] = &shifts[k][static_cast<std::size_t>(at[k])];
            return out;
        }
    };
    [[nodiscard]] Blocks blocks_for(std::int64_t points) const;
    [[nodiscard]] double middle_of(const Blocks& blocks, int within, std::size_t axis) const;
    [[nodiscard]] Cells sorted(const LatticePoints& points, std::int64_t of_all, double sign) const;
    [[nodiscard]] std::vector<double> moments_of_block(std::size_t block, std::span<const double> strengths,
                                                       const WorkWatch& watch) const;
    void evaluate_block(std::size_t block, std::span<const double> local, const LatticeResults& results,
                        const WorkWatch& watch) const;
    [[nodiscard]] std::vector<double> moments(std::span<const double> strengths, WorkWatch& watch) const;
    /// Without the factorials.
    [[nodiscard]] std::vector<double> moments_of_part(std::size_t part, std::span<const double> strengths,
                                                      WorkWatch& watch) const;
    [[nodiscard]] std::vector<double> local_of(std::size_t cell, std::span<const double> moments,
                                               WorkWatch& watch) const;
    /// Each rank makes of(c) for some cells or parts c, by `starts` as share_cell_numbers takes them: all
    /// have all.
    [[nodiscard]] std::vector<double>
    numbers_of_all(std::span<const std::int64_t> starts,
                   const std::function<std::vector<double>(std::size_t)>& of, WorkWatch& watch) const;
    void evaluate(std::size_t part, std::span<const double> local, const LatticeResults& results,
                  WorkWatch& watch) const;
    ImageGrid grid_;
    std::shared_ptr<const SoftOperator> operator_;
    double digits_; ///< that are aimed at
    int threads_;
    comm::Transport* ranks_;
    bool own_targets_;
    Cells sources_;
    std::optional<Cells> targets_; ///< from set_points on
};

} // namespace farfield
