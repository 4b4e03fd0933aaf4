#include "sums/treecode/descent.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "backend/threads/work_watch.h"
#include "base/stopwatch.h"
#include "sums/direct/cpu/sums_of_ranks.h"
#include "sums/treecode/evaluation.h"
#include "sums/treecode/walk.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace farfield {
namespace {

/// Nodes with at most so many targets are tasks for threads. Sums do not depend on it.
std::int32_t targets_a_task(std::size_t targets) {
    return static_cast<std::int32_t>(std::clamp<std::size_t>(targets / 64, 512, 16384));
}

/// What a node starts with.
struct Start {
    std::int32_t node = 0;
    std::vector<std::int32_t> from; ///< cells that it is to look at
    LocalExpansion local;           ///< about its centre, from its parent
};

template <class T>
class Descent {
public:
    Descent(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape,
            std::span<const TargetNode> nodes, const BlockSumTask& task)
        : tree_(tree), cells_(cells), shape_(shape), nodes_(nodes), task_(task),
          walk_(tree, cells, shape, task.softening) {}

    [[nodiscard]] std::vector<std::int32_t> roots() const { return walk_.roots(); }

    /// All that lies below. Nodes with no more than `most` targets are left to `later`.
    void visit(std::size_t depth, std::int32_t most = -1, std::vector<Start>* later = nullptr) {
        const auto& start = starts_[depth];
        const auto& node = nodes_[static_cast<std::size_t>(start.node)];
        if (later != nullptr && node.targets.size() <= most) {
            later->push_back(start);
            return;
        }
        if (task_.watch->stopped()) return;
        Stopwatch clock;
        const bool group = node.children == 0;
        if (group || cells_.act_locally()) walk_.find(node, start.from, found_);
        done_.walk += clock.lap();
        auto local = start.local;
        add_local(cells_, node, found_, task_, local, local_);
        done_.local += clock.lap();
        if (group) return sum_group(node, local);
        if (starts_.size() <= depth + 1) starts_.emplace_back();
        auto& next = starts_[depth + 1];
        if (cells_.act_locally())
            std::swap(next.from, found_.rest);
        else
            next.from = starts_[depth].from;
        for (auto child = node.first_child; child < node.first_child + node.children; ++child) {
            next.node = child;
            next.local = local.about(node, nodes_[static_cast<std::size_t>(child)]);
            visit(depth + 1, most, later);
        }
    }

    void start(const Start& at) {
        starts_.resize(1);
        starts_.front() = at;
    }
    [[nodiscard]] const DescentWork& done() const { return done_; }

private:
    void sum_group(const TargetNode& group, const LocalExpansion& local) {
        Stopwatch clock;
        add_local_values(tree_, group, local, task_, local_);
        done_.local += clock.lap();
        done_.near_pairs += add_near(group, found_, tree_.self(), task_);
        done_.near += clock.lap();
        add_far(tree_, cells_, shape_, group, found_, task_, far_);
        done_.far += clock.lap();
        done_.far_pairs += static_cast<double>(found_.cells.size()) * group.targets.size();
        task_.watch->done(group.targets.size());
    }

    const Octree& tree_;
    const SourceCells& cells_;
    const TreecodeShape& shape_;
    std::span<const TargetNode> nodes_;
    const BlockSumTask& task_;
    Walk walk_;
    std::deque<Start> starts_; ///< by depth
    Interactions found_;
    FarScratch<T> far_;
    LocalScratch<T> local_;
    DescentWork done_;
};

/// Ranks have neighbouring tasks with about as many targets.
std::vector<std::size_t> first_tasks(int ranks, std::span<const TargetNode> nodes,
                                     std::span<const Start> tasks) {
    std::vector<double> targets;
    targets.reserve(tasks.size());
    for (const auto& one : tasks) targets.push_back(nodes[static_cast<std::size_t>(one.node)].targets.size());
    return first_of_ranks(targets, ranks);
}

std::pair<std::size_t, std::size_t> own_tasks(const BlockSumTask& task, std::span<const TargetNode> nodes,
                                              std::span<const Start> tasks) {
    if (task.ranks == nullptr) return {0, tasks.size()};
    const auto firsts = first_tasks(task.ranks->size(), nodes, tasks);
    const auto rank = static_cast<std::size_t>(task.ranks->rank());
    return {firsts[rank], firsts[rank + 1]};
}

// All ranks get the sums of all, and what they took.
void exchange(const BlockSumTask& task, std::span<const TargetNode> nodes, std::span<const Start> tasks,
              DescentWork& work) {
    const auto firsts = first_tasks(task.ranks->size(), nodes, tasks);
    std::vector<RowRanges> parts;
    for (std::size_t rank = 0; rank + 1 < firsts.size(); ++rank) {
        auto& part = parts.emplace_back();
        for (auto t = firsts[rank]; t < firsts[rank + 1]; ++t) {
            const auto& targets = nodes[static_cast<std::size_t>(tasks[t].node)].targets;
            part.emplace_back(targets.begin, targets.end);
        }
    }
    gather_rows(*task.ranks, SumRows(task.sums), parts);
    const auto of_ranks = comm::all_values(*task.ranks, work);
    work = {};
    for (const auto& one : of_ranks) work.add(one);
}

template <class T>
DescentWork sum_nodes(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape,
                      std::span<const TargetNode> nodes, const BlockSumTask& task) {
    const auto descent = [&] { return Descent<T>(tree, cells, shape, nodes, task); };
    auto top = descent();
    top.start({.node = 0, .from = top.roots(), .local = {}});
    std::vector<Start> later;
    top.visit(0, targets_a_task(tree.targets().from.size()), &later);
    const auto [first, last] = own_tasks(task, nodes, later);
    std::vector<DescentWork> done(last - first);
    parallel_for(task.threads, static_cast<std::int64_t>(last - first),
                 [&, first = first](std::int64_t number) {
                     auto below = descent();
                     below.start(later[first + static_cast<std::size_t>(number)]);
                     below.visit(0);
                     done[static_cast<std::size_t>(number)] = below.done();
                 });
    auto all = top.done();
    for (const auto& part : done) all.add(part);
    if (task.ranks != nullptr) exchange(task, nodes, later, all);
    return all;
}

} // namespace

void DescentWork::add(const DescentWork& other) {
    walk += other.walk;
    local += other.local;
    far += other.far;
    near += other.near;
    near_pairs += other.near_pairs;
    far_pairs += other.far_pairs;
}

template <class T>
DescentWork descend(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape,
                    std::span<const TargetNode> nodes, const BlockSumTask& task) {
    return nodes.empty() ? DescentWork() : sum_nodes<T>(tree, cells, shape, nodes, task);
}

template DescentWork descend<float>(const Octree&, const SourceCells&, const TreecodeShape&,
                                    std::span<const TargetNode>, const BlockSumTask&);
template DescentWork descend<double>(const Octree&, const SourceCells&, const TreecodeShape&,
                                     std::span<const TargetNode>, const BlockSumTask&);

} // namespace farfield
