#include "sums/gauss/clusters/point_blocks.h"

#include "backend/threads/parallel.h"
#include "sums/kernels/exact.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace farfield {
namespace {

class Halving {
public:
    Halving(std::span<const double> points, int dimension, std::int32_t size, PointBlocks& out)
        : points_(points), stride_(static_cast<std::size_t>(dimension)), size_(size), out_(out) {}

    /// The place where the second half begins; the end of a range that is a block.
    [[nodiscard]] std::int32_t halve(const BlockRange& range) const {
        if (range.size() <= size_) return range.end;
        const auto box = box_of(range);
        std::size_t longest = 0;
        for (std::size_t k = 1; k < stride_; ++k)
            if (box.high[k] - box.low[k] > box.high[longest] - box.low[longest]) longest = k;
        const auto blocks = (range.size() + size_ - 1) / size_;
        const auto middle = range.begin + (blocks + 1) / 2 * size_;
        std::vector<std::pair<double, std::int32_t>> points; // those at one place in the order of their rows
        points.reserve(static_cast<std::size_t>(range.size()));
        auto* const order = out_.order.data();
        for (auto i = range.begin; i < range.end; ++i)
            points.emplace_back(coordinate(order[i], longest), order[i]);
        std::nth_element(points.begin(), points.begin() + (middle - range.begin), points.end());
        for (std::size_t i = 0; i < points.size(); ++i)
            order[range.begin + static_cast<std::int32_t>(i)] = points[i].second;
        return middle;
    }

    void set_ball(std::size_t b) const {
        const auto& range = out_.range[b];
        const auto box = box_of(range);
        double* centre = out_.centre.data() + stride_ * b;
        for (std::size_t k = 0; k < stride_; ++k) centre[k] = 0.5 * box.low[k] + 0.5 * box.high[k];
        double radius2 = 0.0;
        for (auto i = range.begin; i < range.end; ++i) {
            double apart2 = 0.0;
            for (std::size_t k = 0; k < stride_; ++k) {
                const double u = coordinate(out_.order[static_cast<std::size_t>(i)], k) - centre[k];
                apart2 += u * u;
            }
            radius2 = std::max(radius2, apart2);
        }
        out_.radius[b] = std::sqrt(radius2);
    }

private:
    struct Box {
        std::array<double, most_dimensions> low, high;
    };
    [[nodiscard]] double coordinate(std::int32_t i, std::size_t k) const {
        return points_[stride_ * static_cast<std::size_t>(i) + k];
    }
    [[nodiscard]] Box box_of(const BlockRange& range) const {
        Box box{};
        box.low.fill(HUGE_VAL);
        box.high.fill(-HUGE_VAL);
        for (auto i = range.begin; i < range.end; ++i)
            for (std::size_t k = 0; k < stride_; ++k) {
                const double x = coordinate(out_.order[static_cast<std::size_t>(i)], k);
                box.low[k] = std::min(box.low[k], x);
                box.high[k] = std::max(box.high[k], x);
            }
        return box;
    }

    std::span<const double> points_;
    std::size_t stride_;
    std::int32_t size_;
    PointBlocks& out_;
};

} // namespace

PointBlocks point_blocks(std::span<const double> points, int dimension, std::int32_t size, int threads) {
    const auto d = static_cast<std::size_t>(dimension);
    PointBlocks out;
    out.order.resize(points.size() / d);
    std::iota(out.order.begin(), out.order.end(), 0);
    const Halving halving(points, dimension, size, out);
    if (!out.order.empty()) out.range = {{0, static_cast<std::int32_t>(out.order.size())}};
    for (std::size_t before = 0; before != out.range.size();) {
        before = out.range.size();
        std::vector<std::int32_t> middle(before);
        parallel_for(threads, static_cast<std::int64_t>(before), [&](std::int64_t k) {
            middle[static_cast<std::size_t>(k)] = halving.halve(out.range[static_cast<std::size_t>(k)]);
        });
        std::vector<BlockRange> halves;
        for (std::size_t k = 0; k < before; ++k) {
            halves.push_back({out.range[k].begin, middle[k]});
            if (middle[k] < out.range[k].end) halves.push_back({middle[k], out.range[k].end});
        }
        out.range = std::move(halves);
    }
    out.centre.resize(out.count() * d);
    out.radius.resize(out.count());
    parallel_parts(
        threads, out.count(),
        [&](std::size_t begin, std::size_t end) {
            for (auto b = begin; b < end; ++b) halving.set_ball(b);
        },
        64);
    return out;
}

} // namespace farfield
