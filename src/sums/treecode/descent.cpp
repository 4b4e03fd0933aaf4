#include "sums/treecode/descent.h"

#include "backend/comm/transport.h"
#include "backend/threads/parallel.h"
#include "backend/threads/work_watch.h"
#include "base/stopwatch.h"
#include "sums/direct/cpu/sums_of_ranks.h"

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
struct GroupScratch {
    FarScratch<T> far;
    LocalScratch<T> local;
};

/// Adds all sums at a group.
template <class T>
void sum_group(const TargetRows& targets, const SourceCells& cells, const TreecodeShape& shape, bool self,
               const TargetNode& group, const LocalExpansion* local, const GroupInteractions& from,
               const BlockSumTask& task, GroupScratch<T>& scratch, DescentWork& work) {
    Stopwatch clock;
    if (local != nullptr) add_local_values(targets, group, *local, task, scratch.local);
    work.local += clock.lap();
    work.near_pairs += add_near(group, from, self, task);
    work.near += clock.lap();
    add_far(targets, cells, shape, group, from, task, scratch.far);
    work.far += clock.lap();
    work.far_pairs += static_cast<double>(from.cells.size()) * group.targets.size();
    task.watch->done(group.targets.size());
}

template <class T>
class Descent {
public:
    /// @param own  targets of groups that are looked for
    Descent(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape,
            std::span<const TargetNode> nodes, const BlockSumTask& task, BlockRange own)
        : tree_(tree), cells_(cells), shape_(shape), nodes_(nodes), task_(task), own_(own),
          walk_(tree, cells, shape, task.softening) {}

    [[nodiscard]] std::vector<std::int32_t> roots() const { return walk_.roots(); }

    /// From now on groups that meet other sources than these one by one are not summed, but put there.
    void keep_groups(const OwnRows& own, std::vector<GroupSources>& kept) {
        own_rows_ = &own;
        kept_ = &kept;
    }

    /// All that lies below. Nodes with no more than `most` targets are left to `later`.
    void visit(std::size_t depth, std::int32_t most = -1, std::vector<Start>* later = nullptr) {
        const auto& start = starts_[depth];
        const auto& node = nodes_[static_cast<std::size_t>(start.node)];
        if (node.targets.end <= own_.begin || own_.end <= node.targets.begin) return;
        const bool all_own = own_.begin <= node.targets.begin && node.targets.end <= own_.end;
        if (later != nullptr && all_own && (node.targets.size() <= most || node.children == 0)) {
            later->push_back(start);
            return;
        }
        if (task_.watch->stopped()) return;
        Stopwatch clock;
        const bool group = node.children == 0;
        if (group || cells_.act_locally()) walk_.find(node, start.from, found_);
        done_.walk += clock.lap();
        auto local = start.local;
        add_local(cells_, node, found_, task_, local, scratch_.local);
        done_.local += clock.lap();
        if (group) return end_at(node, local);
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
    void end_at(const TargetNode& group, const LocalExpansion& local) {
        if (kept_ == nullptr)
            return sum_group(tree_.targets().x, cells_, shape_, tree_.self(), group, &local, found_, task_,
                             scratch_, done_);
        const auto sources = own_rows_->sources;
        const bool has_all =
            std::all_of(found_.near.begin(), found_.near.end(), [&](const BlockSource& near) {
                return sources.begin <= near.range.begin && near.range.end <= sources.end;
            });
        if (has_all) return sum_own_group(group, local);
        task_.watch->done(0); // stops are asked for, though these sums come later
        auto own = local.empty ? nullptr : std::make_unique<const LocalExpansion>(local);
        kept_->push_back(
            {.group = group, .local = std::move(own), .from = {.cells = found_.cells, .near = found_.near}});
    }

    void sum_own_group(TargetNode group, const LocalExpansion& local) {
        const auto& own = *own_rows_;
        for (auto& near : found_.near)
            near.range = {near.range.begin - own.sources.begin, near.range.end - own.sources.begin};
        const auto first = tree_.self() ? own.sources.begin : own.targets.begin;
        group.targets = {group.targets.begin - first, group.targets.end - first};
        sum_group(own.x, cells_, shape_, tree_.self(), group, &local, found_, task_, scratch_, done_);
    }

    const Octree& tree_;
    const SourceCells& cells_;
    const TreecodeShape& shape_;
    std::span<const TargetNode> nodes_;
    const BlockSumTask& task_;
    BlockRange own_;
    Walk walk_;
    std::deque<Start> starts_; ///< by depth
    Interactions found_;
    GroupScratch<T> scratch_;
    const OwnRows* own_rows_ = nullptr;
    std::vector<GroupSources>* kept_ = nullptr;
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
    work.add_ranks(*task.ranks);
}

BlockRange all_targets(const Octree& tree) { return {0, static_cast<std::int32_t>(tree.target_count())}; }

/// The tasks that a descent leaves, and what it did itself.
template <class T>
std::vector<Start> tasks_of(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape,
                            std::span<const TargetNode> nodes, const BlockSumTask& task, BlockRange own,
                            DescentWork& work) {
    Descent<T> top(tree, cells, shape, nodes, task, own);
    top.start({.node = 0, .from = top.roots(), .local = {}});
    std::vector<Start> later;
    top.visit(0, targets_a_task(static_cast<std::size_t>(own.size())), &later);
    work.add(top.done());
    return later;
}

template <class T>
DescentWork sum_nodes(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape,
                      std::span<const TargetNode> nodes, const BlockSumTask& task) {
    DescentWork all;
    const auto own = all_targets(tree);
    const auto tasks = tasks_of<T>(tree, cells, shape, nodes, task, own, all);
    const auto [first, last] = own_tasks(task, nodes, tasks);
    std::vector<DescentWork> done(last - first);
    parallel_for(task.threads, static_cast<std::int64_t>(last - first),
                 [&, first = first](std::int64_t number) {
                     Descent<T> below(tree, cells, shape, nodes, task, own);
                     below.start(tasks[first + static_cast<std::size_t>(number)]);
                     below.visit(0);
                     done[static_cast<std::size_t>(number)] = below.done();
                 });
    for (const auto& part : done) all.add(part);
    if (task.ranks != nullptr) exchange(task, nodes, tasks, all);
    return all;
}

template <class T>
std::vector<std::vector<GroupSources>> groups_of_tasks(const Octree& tree, const SourceCells& cells,
                                                       const TreecodeShape& shape,
                                                       std::span<const TargetNode> nodes, const OwnRows& own,
                                                       const BlockSumTask& task, DescentWork& work) {
    const auto tasks = tasks_of<T>(tree, cells, shape, nodes, task, own.targets, work);
    std::vector<std::vector<GroupSources>> groups(tasks.size());
    std::vector<DescentWork> done(tasks.size());
    parallel_for(task.threads, std::ssize(tasks), [&](std::int64_t number) {
        const auto n = static_cast<std::size_t>(number);
        Descent<T> below(tree, cells, shape, nodes, task, own.targets);
        below.keep_groups(own, groups[n]);
        below.start(tasks[n]);
        below.visit(0);
        done[n] = below.done();
    });
    for (const auto& part : done) work.add(part);
    return groups;
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

void DescentWork::add_ranks(comm::Transport& ranks) {
    const auto of_ranks = comm::all_values(ranks, *this);
    *this = {};
    for (const auto& one : of_ranks) add(one);
}

template <class T>
DescentWork descend(const Octree& tree, const SourceCells& cells, const TreecodeShape& shape,
                    std::span<const TargetNode> nodes, const BlockSumTask& task) {
    return nodes.empty() ? DescentWork() : sum_nodes<T>(tree, cells, shape, nodes, task);
}

template <class T>
std::vector<std::vector<GroupSources>> find_sources(const Octree& tree, const SourceCells& cells,
                                                    const TreecodeShape& shape,
                                                    std::span<const TargetNode> nodes, const OwnRows& own,
                                                    const BlockSumTask& task, DescentWork& work) {
    if (nodes.empty() || own.targets.size() == 0) return {};
    return groups_of_tasks<T>(tree, cells, shape, nodes, own, task, work);
}

template <class T>
void sum_groups(const TargetRows& targets, const SourceCells& cells, const TreecodeShape& shape, bool self,
                std::span<const std::vector<GroupSources>> groups, const BlockSumTask& task,
                DescentWork& work) {
    std::vector<DescentWork> done(groups.size());
    parallel_for(task.threads, std::ssize(groups), [&](std::int64_t number) {
        const auto n = static_cast<std::size_t>(number);
        GroupScratch<T> scratch;
        for (const auto& one : groups[n]) {
            if (task.watch->stopped()) return;
            sum_group(targets, cells, shape, self, one.group, one.local.get(), one.from, task, scratch,
                      done[n]);
        }
    });
    for (const auto& part : done) work.add(part);
}

template DescentWork descend<float>(const Octree&, const SourceCells&, const TreecodeShape&,
                                    std::span<const TargetNode>, const BlockSumTask&);
template DescentWork descend<double>(const Octree&, const SourceCells&, const TreecodeShape&,
                                     std::span<const TargetNode>, const BlockSumTask&);
template std::vector<std::vector<GroupSources>>
find_sources<float>(const Octree&, const SourceCells&, const TreecodeShape&, std::span<const TargetNode>,
                    const OwnRows&, const BlockSumTask&, DescentWork&);
template std::vector<std::vector<GroupSources>>
find_sources<double>(const Octree&, const SourceCells&, const TreecodeShape&, std::span<const TargetNode>,
                     const OwnRows&, const BlockSumTask&, DescentWork&);
template void sum_groups<float>(const TargetRows&, const SourceCells&, const TreecodeShape&, bool,
                                std::span<const std::vector<GroupSources>>, const BlockSumTask&,
                                DescentWork&);
template void sum_groups<double>(const TargetRows&, const SourceCells&, const TreecodeShape&, bool,
                                 std::span<const std::vector<GroupSources>>, const BlockSumTask&,
                                 DescentWork&);

} // namespace farfield
