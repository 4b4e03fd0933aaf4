#include "sums/select/exact_row.h"

#include "backend/simd/isa.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/select/exact_row_loop.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace farfield {
namespace {

/// Squares of distances within these bounds can be inverted, and multiplied exactly.
constexpr double least_square = 1e-280, largest_square = 1e280;

/// Beyond it, in r²/2σ², a vortex's core is nothing beside rounding: e^(−x) is 4e-18, or 9e-27.
double core_reach_of(bool in_pairs) { return in_pairs ? 60.0 : 40.0; }

bool is_gaussian(const KernelInfo& kernel) { return kernel.loop == PairLoop::gauss; }

/// Squares of such σ can be inverted, and multiplied exactly.
bool is_ordinary(double sigma) { return sigma > 1e-120 && sigma < 1e120; }

/// A block of sources, a coordinate after the other.
class SourceBlock {
public:
    SourceBlock(const ExactTask& of, std::int64_t begin)
        : begin_(begin), count_(std::min(exact_block, of.sources - begin)) {
        for (std::int64_t j = 0; j < count_; ++j) {
            for (int k = 0; k < of.dimension; ++k) points_[k][j] = of.points[(begin + j) * of.dimension + k];
            for (int c = 0; c < of.columns; ++c)
                strengths_[c][j] = of.strengths[(begin + j) * of.columns + c];
        }
        for (auto j = count_; j < padded(); ++j) // as the last one, without its strength
            for (int k = 0; k < of.dimension; ++k) points_[k][j] = points_[k][count_ - 1];
    }

    [[nodiscard]] std::int64_t padded() const {
        return (count_ + exact_lanes - 1) / exact_lanes * exact_lanes;
    }

    void put_into(ExactBlock& block, const ExactTask& target) const {
        block.count = padded();
        for (int k = 0; k < target.dimension; ++k) {
            block.points[k] = points_[k];
            block.target[k] = target.target[k];
        }
        for (int c = 0; c < target.columns; ++c) block.strengths[c] = strengths_[c];
    }

    [[nodiscard]] bool has(std::int64_t source) const { return source >= begin_ && source < begin_ + count_; }
    /// Calls body() while this source has no strength.
    template <class Body>
    void without(std::int64_t source, int columns, const Body& body) {
        double kept[2] = {};
        for (int c = 0; c < columns; ++c) std::swap(kept[c], strengths_[c][source - begin_]);
        body();
        for (int c = 0; c < columns; ++c) std::swap(kept[c], strengths_[c][source - begin_]);
    }
    /// The source with this number in the block; −1 for those that fill up.
    [[nodiscard]] std::int64_t source(std::int32_t number) const {
        return number < count_ ? begin_ + number : -1;
    }

private:
    std::int64_t begin_, count_;
    alignas(64) double points_[most_dimensions][exact_block] = {};
    alignas(64) double strengths_[2][exact_block] = {};
};

/// What is added up for a target.
struct RowSums {
    ExactBlock block; ///< the loops' sums
    long double others[1 + most_dimensions] =
        {}; ///< of pairs that the loops leave out, by the kernel's formula
};

template <class Real>
void add_pair(ExactSum<Real> formula, const ExactTask& target, std::int64_t source, long double* others) {
    auto pair = target;
    pair.sources = 1;
    pair.points += source * target.dimension;
    pair.strengths += source * target.columns;
    pair.dipoles = nullptr;
    pair.own = -1;
    pair.with_hessian = false;
    Real values[1 + most_dimensions] = {};
    (void)formula(pair, values);
    for (int k = 0; k <= most_dimensions; ++k) others[k] += static_cast<long double>(values[k]);
}

class Rows {
public:
    explicit Rows(const ExactRowsTask& task)
        : task_(task), loop_(FF_ISA_FUNCTION(ff_exact_block, resolve_isa(task.isa))),
          sums_(task.targets.size()) {
        for (std::size_t t = 0; t < sums_.size(); ++t) set_up(task.targets[t], sums_[t].block);
    }

    void add(SourceBlock& sources) {
        for (std::size_t t = 0; t < sums_.size(); ++t) {
            const auto& target = task_.targets[t];
            auto& block = sums_[t].block;
            sources.put_into(block, target);
            if (leaves_own_out(target) && sources.has(target.own))
                sources.without(target.own, target.columns, [&] { loop_(&block); });
            else
                loop_(&block);
            for (std::int64_t k = 0; k < block.left_out; ++k)
                add_left(target, sources.source(block.left[k]), sums_[t].others);
        }
    }

    [[nodiscard]] std::vector<double> result(std::size_t t) const {
        const auto& target = task_.targets[t];
        const auto& kernel = *task_.kernel;
        const auto columns = static_cast<std::size_t>(target.columns);
        const auto dimension = static_cast<std::size_t>(target.dimension);
        // ln r² = 2 ln r, and with the logarithm the kernel's sign is that of −Σ q ln r
        const bool is_log = block_formula(target) == ExactFormula::plane_log;
        const long double of_potential = is_log ? -0.5L : 1.0L;
        const long double of_field =
            is_gaussian(kernel) ? -1.0L / (1.0L * target.sigma * target.sigma) : 1.0L;
        std::vector<double> out(static_cast<std::size_t>(kernel.width(target.dimension)), 0.0);
        for (std::size_t c = 0; c < columns && task_.with_potential; ++c)
            out[c] = value(t, c, of_potential, c);
        for (std::size_t k = 0; k < dimension; ++k) {
            // turned by a right angle: (x, y) becomes (−y, x)
            const bool turned = kernel.field_is_turned;
            out[columns + k] =
                value(t, columns + (turned ? 1 - k : k), turned && k == 0 ? -1.0L : of_field, columns + k);
        }
        return out;
    }

private:
    [[nodiscard]] ExactFormula block_formula(const ExactTask& target) const {
        if (is_gaussian(*task_.kernel)) return ExactFormula::gaussian;
        return target.dimension == 2 ? ExactFormula::plane_log : ExactFormula::inverse_distance;
    }

    [[nodiscard]] bool leaves_own_out(const ExactTask& target) const {
        return target.without_own || !task_.kernel->acts_on_itself;
    }

    void set_up(const ExactTask& target, ExactBlock& block) const {
        const double variance = target.sigma * target.sigma;
        block.formula = block_formula(target);
        block.dimension = target.dimension;
        block.sigma = is_ordinary(target.sigma) ? target.sigma : 1.0;
        block.softening2 = target.softening * target.softening;
        block.nearest2 = std::max(least_square, 2.0 * core_reach_of(task_.in_pairs) * variance);
        if (is_gaussian(*task_.kernel)) block.nearest2 = is_ordinary(target.sigma) ? 0.0 : HUGE_VAL;
        block.farthest2 = largest_square;
        block.with_potential = task_.with_potential;
        block.in_pairs = task_.in_pairs;
    }

    void add_left(const ExactTask& target, std::int64_t source, long double* others) const {
        if (source < 0 || (source == target.own && leaves_own_out(target))) return;
        const bool is_rare = target.sigma == 0.0 || is_gaussian(*task_.kernel); // with cores it need not be
        if (task_.in_pairs || is_rare)
            add_pair(task_.kernel->exact_long, target, source, others);
        else
            add_pair(task_.kernel->exact, target, source, others);
    }

    [[nodiscard]] double value(std::size_t t, std::size_t sum, long double factor, std::size_t other) const {
        const auto& of = sums_[t].block.sums[sum];
        const long double total = static_cast<long double>(of.hi) + static_cast<long double>(of.lo);
        return static_cast<double>(factor * static_cast<long double>(task_.kernel->sign) * total +
                                   sums_[t].others[other]);
    }

    const ExactRowsTask& task_;
    ExactBlockFunction loop_;
    std::vector<RowSums> sums_;
};

} // namespace

bool has_exact_rows(const KernelInfo& kernel, int dimension) {
    return (kernel.loop == PairLoop::inverse_distance && dimension == 3) ||
           kernel.loop == PairLoop::logarithm || kernel.loop == PairLoop::vortex || is_gaussian(kernel);
}

std::vector<std::vector<double>> exact_rows(const ExactRowsTask& task) {
    Rows rows(task);
    const auto sources = task.targets.empty() ? 0 : task.targets.front().sources;
    for (std::int64_t begin = 0; begin < sources; begin += exact_block) {
        SourceBlock block(task.targets.front(), begin);
        rows.add(block);
    }
    std::vector<std::vector<double>> out;
    for (std::size_t t = 0; t < task.targets.size(); ++t) out.push_back(rows.result(t));
    return out;
}

} // namespace farfield
