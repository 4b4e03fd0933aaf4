#include "sums/fmm/common/image_blocks.h"

#include "backend/threads/parallel.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

namespace farfield {
namespace {

/// An image of a leaf, one of the 27 that may lie beside the box's leaves.
struct LeafImage {
    std::int32_t leaf = 0; ///< within the lists
    std::array<int, 3> image{};

    friend bool operator==(const LeafImage&, const LeafImage&) = default;
    friend bool operator<(const LeafImage& a, const LeafImage& b) {
        return std::tie(a.leaf, a.image) < std::tie(b.leaf, b.image);
    }
};

} // namespace

void ImageBlocks::make(const Octree& tree, const NearLists& lists,
                       std::pair<std::int64_t, std::int64_t> leaves, int threads) {
    blocks_.reset();
    pairs_ = 0;
    of_.clear();
    for (auto& x : points_) x.clear();
    const auto first = static_cast<std::size_t>(leaves.first), last = static_cast<std::size_t>(leaves.second);
    if (!tree.is_periodic() || first == last || lists.images.first[first] == lists.images.first[last]) return;
    const auto leaf_of = [&](std::size_t n) -> const TreeCell& { return tree.cell(lists.leaves[n]); };
    std::vector<LeafImage> acting; // by entry of the lists
    std::vector<BlockRange> targets;
    std::vector<std::int32_t> rows{0};
    for (auto n = first; n < last; ++n) {
        const auto begin = lists.images.first[n], end = lists.images.first[n + 1];
        if (begin == end) continue;
        for (auto k = begin; k < end; ++k) {
            LeafImage of{.leaf = lists.images.partners[static_cast<std::size_t>(k)]};
            of.image = tree.image_near(leaf_of(static_cast<std::size_t>(of.leaf)), leaf_of(n));
            acting.push_back(of);
        }
        targets.push_back(leaf_of(n).targets);
        rows.push_back(static_cast<std::int32_t>(acting.size()));
    }
    auto images = acting;
    std::sort(images.begin(), images.end());
    images.erase(std::unique(images.begin(), images.end()), images.end());
    std::vector<BlockRange> sources;
    std::int32_t count = 0;
    for (const auto& of : images) {
        const auto size = leaf_of(static_cast<std::size_t>(of.leaf)).sources.size();
        sources.push_back({count, count + size});
        count += size;
    }
    std::vector<std::int32_t> partners;
    partners.reserve(acting.size());
    for (const auto& of : acting)
        partners.push_back(
            static_cast<std::int32_t>(std::lower_bound(images.begin(), images.end(), of) - images.begin()));
    const BlockLists blocks{.targets = targets, .sources = sources, .first = rows, .partners = partners};
    blocks_.emplace(blocks);
    pairs_ = count_pairs(blocks, threads);
    of_.resize(static_cast<std::size_t>(count));
    for (auto& x : points_) x.resize(of_.size());
    parallel_parts(threads, images.size(), [&](std::size_t begin, std::size_t end) {
        for (auto n = begin; n < end; ++n) {
            const auto from = leaf_of(static_cast<std::size_t>(images[n].leaf)).sources;
            const auto to = static_cast<std::size_t>(sources[n].begin);
            for (std::size_t i = 0; i < static_cast<std::size_t>(from.size()); ++i) {
                const auto row = static_cast<std::size_t>(from.begin) + i;
                of_[to + i] = static_cast<std::int32_t>(row);
                for (std::size_t axis = 0; axis < 3; ++axis)
                    points_[axis][to + i] =
                        tree.sources().x[axis][row] + images[n].image[axis] * tree.shape().period;
            }
        }
    });
}

std::span<const double> ImageBlocks::strengths(std::span<const double> of_sources) {
    strengths_.resize(of_.size());
    for (std::size_t i = 0; i < of_.size(); ++i) strengths_[i] = of_sources[static_cast<std::size_t>(of_[i])];
    return strengths_;
}

void ImageBlocks::add(BlockSumTask task) const {
    if (!blocks_) return;
    task.ranks = nullptr; // each has its own targets
    task.rank_blocks = {};
    task.adds = true;
    blocks_->sum(task);
}

} // namespace farfield
