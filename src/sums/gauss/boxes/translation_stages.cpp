#include "sums/gauss/boxes/translation_stages.h"

#include "backend/threads/parallel.h"
#include "sums/direct/cpu/isa_function.h"
#include "sums/gauss/boxes/box_tasks.h"
#include "sums/gauss/boxes/hermite_function.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace farfield {

AxisTranslations::AxisTranslations(int order, std::int64_t reach, double step)
    : reach_(reach), size_(static_cast<std::size_t>(order * box_row(order))) {
    const auto p = static_cast<std::size_t>(order), row = static_cast<std::size_t>(box_row(order));
    matrices_.assign(static_cast<std::size_t>(2 * reach + 1) * size_, 0.0);
    std::vector<double> root(p * p, 1.0), functions(2 * p); // root: √C(n + m, n)
    for (std::size_t n = 1; n < p; ++n)
        for (std::size_t m = 1; m < p; ++m)
            root[n * p + m] =
                root[n * p + m - 1] * std::sqrt(static_cast<double>(n + m) / static_cast<double>(m));
    for (std::int64_t offset = -reach; offset <= reach; ++offset) {
        hermite_functions(static_cast<double>(offset) * step, 2 * order, functions.data());
        double* const out = matrices_.data() + static_cast<std::size_t>(offset + reach) * size_;
        for (std::size_t n = 0; n < p; ++n)
            for (std::size_t m = 0; m < p; ++m)
                out[n * row + m] = (m % 2 == 0 ? 1.0 : -1.0) * root[n * p + m] * functions[n + m];
    }
}

void TranslationStages::set(const GaussLattice& lattice, std::span<const std::uint64_t> from,
                            std::span<const std::uint64_t> to, double cutoff) {
    dimension_ = lattice.dimension;
    side_ = lattice.side;
    stages_.clear();
    std::uint64_t boxes = 1;
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension_); ++k) {
        const double steps = std::min(cutoff / lattice.side[k], static_cast<double>(lattice.count[k]) - 1.0);
        reach_[k] = std::min(static_cast<std::int64_t>(steps) + 1, lattice.count[k] - 1);
        boxes *= static_cast<std::uint64_t>(lattice.count[k]);
    }
    Keys keys(from.begin(), from.end());
    std::uint64_t done = 1;
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension_); ++k) {
        done *= static_cast<std::uint64_t>(lattice.count[k]);
        Keys wanted;
        for (const auto key : to) wanted.push_back(key % done);
        std::sort(wanted.begin(), wanted.end());
        wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
        keys = set_stage(lattice, k, keys, wanted, boxes / done);
    }
    target_of_.clear();
    for (const auto key : keys)
        target_of_.push_back(
            static_cast<std::int32_t>(std::lower_bound(to.begin(), to.end(), key) - to.begin()));
}

// In `keys` the axis is the fastest one; in those that come out it is the slowest one, so that the next axis
// is the fastest. `rest`: boxes of the axes that are still to come; what a key has beyond them are the places
// along those that are done, of which `wanted` has the ones that targets have.
auto TranslationStages::set_stage(const GaussLattice& lattice, std::size_t axis, const Keys& keys,
                                  const Keys& wanted, std::uint64_t rest) -> Keys {
    const auto count = static_cast<std::uint64_t>(lattice.count[axis]);
    std::uint64_t others = 1;
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension_); ++k)
        if (k != axis) others *= static_cast<std::uint64_t>(lattice.count[k]);
    Stage stage;
    for (const auto key : keys) stage.at.push_back(static_cast<std::int64_t>(key % count));
    Keys out;
    const auto reach = reach_[axis];
    for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
        const auto line = keys[begin] / count;
        while (end < keys.size() && keys[end] / count == line) ++end;
        auto first = begin, last = begin;
        for (auto at = std::max<std::int64_t>(0, stage.at[begin] - reach);; ++at) {
            while (first < end && stage.at[first] < at - reach) ++first;
            if (first == end || at >= lattice.count[axis]) break;
            at = std::max(at, stage.at[first] - reach);
            while (last < end && stage.at[last] <= at + reach) ++last;
            const auto key = line + others * static_cast<std::uint64_t>(at);
            if (!std::binary_search(wanted.begin(), wanted.end(), key / rest)) continue;
            stage.sums.push_back({static_cast<std::int32_t>(first), static_cast<std::int32_t>(last),
                                  static_cast<std::int32_t>(out.size()), at});
            out.push_back(key);
        }
    }
    std::vector<std::int32_t> order(out.size()), place(out.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return out[static_cast<std::size_t>(a)] < out[static_cast<std::size_t>(b)];
    });
    for (std::size_t i = 0; i < order.size(); ++i)
        place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    for (auto& sum : stage.sums) sum.out = place[static_cast<std::size_t>(sum.out)];
    std::sort(out.begin(), out.end());
    stage.outs = out.size();
    stages_.push_back(std::move(stage));
    return out;
}

void TranslationStages::set_order(int order, double sigma) {
    order_ = order;
    matrices_.clear();
    for (std::size_t k = 0; k < static_cast<std::size_t>(dimension_); ++k)
        matrices_.emplace_back(order, reach_[k], side_[k] / sigma);
}

std::size_t TranslationStages::expansions(std::size_t room) const {
    std::size_t before = 0, most = 0;
    for (std::size_t k = 0; k + 1 < stages_.size(); ++k) {
        const auto now = goes_to_all(k, room) ? 0 : stages_[k].outs;
        most = std::max(most, before + now);
        before = now;
    }
    return most;
}

double TranslationStages::products() const {
    double out = 0.0;
    for (const auto& stage : stages_)
        for (const auto& sum : stage.sums) out += sum.last - sum.first;
    return out;
}

void TranslationStages::run_stage(std::size_t axis, std::span<const double* const> from,
                                  std::span<double* const> to, Isa isa, int threads, double work,
                                  WorkWatch& watch) const {
    const auto& stage = stages_[axis];
    const auto function = FF_ISA_FUNCTION(ff_box_translate, isa);
    std::int64_t rows = 1;
    for (int k = 1; k < dimension_; ++k) rows *= order_;
    parallel_parts(
        threads, stage.sums.size(),
        [&](std::size_t begin, std::size_t end) {
            std::vector<const double*> matrices;
            double products = 0.0;
            for (auto s = begin; s < end && !watch.stopped(); ++s) {
                const auto& sum = stage.sums[s];
                matrices.clear();
                for (auto i = sum.first; i < sum.last; ++i)
                    matrices.push_back(matrices_[axis].of(sum.at - stage.at[static_cast<std::size_t>(i)]));
                const BoxTranslateTask task{.order = order_,
                                            .rows = rows,
                                            .in = from.data() + sum.first,
                                            .matrices = matrices.data(),
                                            .count = sum.last - sum.first,
                                            .out = to[static_cast<std::size_t>(sum.out)]};
                function(&task);
                products += sum.last - sum.first;
            }
            watch.done(work * products);
        },
        4);
}

void TranslationStages::run(std::span<const double* const> from, std::span<double* const> to,
                            std::span<double> all, Isa isa, int threads, double work,
                            WorkWatch& watch) const {
    const auto terms = static_cast<std::size_t>(std::llround(std::pow(order_, dimension_)));
    std::vector<const double*> in(from.begin(), from.end());
    RawVector<double> before, now;
    for (std::size_t k = 0; k + 1 < stages_.size(); ++k) {
        const bool to_all = goes_to_all(k, all.size() / terms);
        now = RawVector<double>(to_all ? 0 : stages_[k].outs * terms);
        double* const first = to_all ? all.data() : now.data();
        std::vector<double*> out;
        for (std::size_t i = 0; i < stages_[k].outs; ++i) out.push_back(first + i * terms);
        run_stage(k, in, out, isa, threads, work, watch);
        in.assign(out.begin(), out.end());
        std::swap(before, now);
    }
    std::fill(all.begin(), all.end(), 0.0);
    std::vector<double*> out;
    for (const auto target : target_of_) out.push_back(to[static_cast<std::size_t>(target)]);
    run_stage(stages_.size() - 1, in, out, isa, threads, work, watch);
}

} // namespace farfield
