// Ranks, each with a GPU, make the whole tree and all expansions, walk for the groups of their rows of
// targets, and send the sums of these to all.
#include "sums/treecode/gpu_treecode.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "sums/direct/cuda/framed_sum.cuh"
#include "sums/direct/cuda/several/rank_rows.cuh"
#include "sums/method/refining.h"
#include "sums/tree/cuda/launch.cuh"
#include "sums/treecode/cuda/device_cells.cuh"
#include "sums/treecode/cuda/walk_sum.cuh"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

namespace farfield::cuda {
namespace {

class TreecodeOnGpu : public FramedSum {
public:
    TreecodeOnGpu(const SumProblem& problem, const SumOptions& options, int device)
        : FramedSum(problem, options, device), ranks_(CommunicatorAccess::transport(options.communicator)) {
        options_.device.kind = DeviceKind::cuda;
        shape_ = treecode_shape(problem_, options_);
        if (ranks_ != nullptr) share_targets();
        const DeviceScope scope(device_);
        counters_ = DeviceArray<unsigned long long>(counters);
    }

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const DeviceScope scope(device_);
        cube_ = {};
        if (const auto ranges = take_points(sources, targets)) cube_ = cube_around(*ranges, false);
        PassTimer timer(stream_);
        comm::together(ranks_, [&] {
            tree_.build(source_points_, static_cast<int>(problem_.sources),
                        problem_.self ? nullptr : target_points_, static_cast<int>(problem_.targets), frame_,
                        cube_, {.most = shape_.leaf, .separation = 0}, 0, stream_);
            groups_.make(tree_, device_group, stream_);
        });
        timer.mark("tree", stream_);
        if (!problem_.moves) tree_seconds_ = timer.total();
    }

    bool refine(double error) override { return refined(shape_, sharper_, problem_, options_, error); }

private:
    void share_targets() {
        const auto begins = comm::equal_parts(*ranks_, problem_.targets);
        const auto rank = static_cast<std::size_t>(ranks_->rank());
        rows_ = {static_cast<std::int32_t>(begins[rank]), static_cast<std::int32_t>(begins[rank + 1])};
        rank_rows_.emplace(*ranks_, options_.exchange, options_.mpi_gpu);
        rank_rows_->set_count(rows_.size());
    }

    void describe(SumReport& report) const override {
        report.device = {.kind = DeviceKind::cuda, .gpus = {device_}};
        report.treecode = {.order = shape_.order,
                           .theta = shape_.theta,
                           .accuracy = shape_.accuracy,
                           .levels = tree_.levels(),
                           .cells = tree_.cells(),
                           .tree_seconds = tree_seconds_};
    }

    bool compute(int wanted, int exponent, SumReport& report) override {
        return shape_.wide ? compute_in<double>(wanted, exponent, report)
                           : compute_in<float>(wanted, exponent, report);
    }

    template <class Real>
    [[nodiscard]] const Real* numbers() const {
        if constexpr (std::is_same_v<Real, double>)
            return cells_.doubles();
        else
            return cells_.floats();
    }

    template <class Real>
    bool compute_in(int wanted, int exponent, SumReport& report) {
        PassTimer timer(stream_);
        comm::together(ranks_, [&] { walk<Real>(wanted, exponent, timer); });
        if (ranks_ != nullptr) {
            rank_rows_->gather({{reinterpret_cast<std::byte*>(sums_.data()), sizeof(Vec4<double>)}}, stream_);
            timer.mark("other ranks", stream_);
        }
        launch_over(rows(), stream_, leave_kernel<double>,
                    LeaveTask<double>{.near = sums_.data(),
                                      .far = nullptr,
                                      .where = tree_.targets().where.data() + first_row(),
                                      .out = finish_task(exponent)});
        timer.mark("results", stream_);
        std::array<unsigned long long, counters> counted{};
        copy(counted.data(), counters_.data(), counters, stream_);
        const bool finite = all_finite();
        report.treecode.near_pairs = of_all_ranks(counted[0]);
        report.treecode.far_pairs = of_all_ranks(counted[1]);
        std::int32_t groups = 0;
        if (tree_.cells() > 0) copy(&groups, groups_.count(), 1, stream_);
        check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        report.treecode.groups = groups;
        report.compute_seconds += timer.total();
        for (auto& pass : timer.seconds()) report.passes.push_back(std::move(pass));
        return finite;
    }

    /// Queues expansions, and the walks of this rank's groups.
    template <class Real>
    void walk(int wanted, int exponent, PassTimer& timer) {
        make_room(sums_, static_cast<std::size_t>(std::max<std::int64_t>(1, problem_.targets)));
        // Of strengths of one sign dipoles about the centres are 0.
        const bool monopoles = shape_.order == 1 && !both_signs_;
        cells_.prepare(shape_, stream_);
        cells_.make(tree_, strengths_.data(), exponent, shape_, monopoles, stream_);
        timer.mark("P2M + M2M", stream_);
        check(cudaMemsetAsync(counters_.data(), 0, counters_.bytes(), stream_), "clearing counters");
        if (tree_.cells() > 0)
            walk_sum(WalkTask<Real>{.tree = tree_.view(),
                                    .cells = cells_.cells(),
                                    .numbers = monopoles ? nullptr : numbers<Real>(),
                                    .order = shape_.order,
                                    .sources = tree_.sources().at.data(),
                                    .targets = tree_.targets().at.data(),
                                    .groups = groups_.ranges(),
                                    .group_count = groups_.count(),
                                    .rows = rows_,
                                    .softening2 = softening() * softening(),
                                    .least = shape_.least_distance(),
                                    .estimate = shape_.accuracy > 0.0,
                                    .few = shape_.few,
                                    .mends = problem_.precision == Precision::mixed,
                                    .outputs = wanted,
                                    .sums = sums_.data(),
                                    .next = reinterpret_cast<std::int32_t*>(counters_.data() + 2),
                                    .pairs = counters_.data()},
                     stream_);
        timer.mark("walks", stream_);
    }

    [[nodiscard]] std::int64_t of_all_ranks(unsigned long long own) const {
        const auto count = static_cast<std::int64_t>(own);
        return ranks_ != nullptr ? comm::sum_of_ranks(*ranks_, count) : count;
    }

    static constexpr std::size_t counters = 3; ///< near pairs, far pairs, groups taken

    comm::Transport* ranks_; ///< null: there is one alone
    std::optional<RankRows> rank_rows_;
    BlockRange rows_ = WalkTask<float>{}.rows; ///< of targets, in the order of the tree
    TreecodeShape shape_;
    double sharper_ = 1.0; ///< than the tolerance: by executions that fell short
    TreeCube cube_;
    DeviceTree tree_{3, true, false};
    DeviceGroups groups_;
    DeviceCells cells_;
    double tree_seconds_ = 0.0;
    DeviceArray<unsigned long long> counters_;
    DeviceArray<Vec4<double>> sums_; ///< in the order of the tree
};

} // namespace

std::unique_ptr<PreparedSum> make_gpu_treecode(const SumProblem& problem, const SumOptions& options,
                                               int device) {
    const DeviceScope scope(device); // events are of the GPU that is current when they are made
    return std::make_unique<TreecodeOnGpu>(problem, options, device);
}

} // namespace farfield::cuda
