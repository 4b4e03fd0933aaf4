#include "sums/direct/cuda/several/own_rows.h"

#include "backend/comm/agree.h"
#include "backend/comm/communicator_access.h"
#include "backend/cuda/device_scope.h"
#include "backend/cuda/host_copy.h"
#include "base/arrays.h"
#include "base/stopwatch.h"
#include "sums/direct/cuda/several/rank_rows.cuh"
#include "sums/direct/cuda/transfers.cuh"
#include "sums/points/over_ranks.h"
#include "sums/points/rows_of_ranks.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace farfield::cuda {
namespace {

constexpr std::string_view strengths_name = "strengths", dipoles_name = "dipoles";

class OwnRowsOnGpu : public PreparedSum {
public:
    OwnRowsOnGpu(std::unique_ptr<PreparedSum> sum, const SumProblem& problem, const SumOptions& options,
                 int device)
        : sum_(std::move(sum)), problem_(problem),
          ranks_(*CommunicatorAccess::transport(options.communicator)), device_(device),
          stream_(options.stream != nullptr ? static_cast<cudaStream_t>(options.stream) : cudaStreamLegacy),
          transfers_(device), rank_rows_(ranks_, options.exchange, options.mpi_gpu) {}

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        const DeviceScope scope(device_);
        source_rows_ = RowsOfRanks(ranks_, sources.shape[0]);
        target_rows_ = problem_.self ? source_rows_ : RowsOfRanks(ranks_, targets.shape[0]);
        ranges_ = {};
        const auto from = gathered(source_rows_, sources, problem_.dimension, sources_, "sources");
        ConstArrayView to;
        if (!problem_.self) to = gathered(target_rows_, targets, problem_.dimension, targets_, "targets");
        sum_->expect_whole_rows(
            {extents_over_ranks(ranks_, ranges_), target_rows_.first(), target_rows_.mine()});
        sum_->set_points(from, to);
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        execute_with_dipoles(strengths, {}, outputs, hooks, report);
    }

    void execute_with_dipoles(const ConstArrayView& strengths, const ConstArrayView& dipoles,
                              const SumOutputs& outputs, const SumHooks& hooks, SumReport& report) override {
        const DeviceScope scope(device_);
        const Stopwatch watch;
        const auto q =
            gathered(source_rows_, strengths, problem_.kernel->strength.columns, strengths_, strengths_name);
        ConstArrayView p;
        if (dipoles) p = gathered(source_rows_, dipoles, 3, dipoles_, dipoles_name);
        const double seconds = watch.seconds();
        std::vector<std::vector<double>> elsewhere; // results on their way to other GPUs
        const auto here = outputs_here(outputs, elsewhere);
        // The sum agrees with other ranks on its errors, but for those of results after its last exchange.
        comm::together(ranks_, [&] {
            if (p)
                sum_->execute_with_dipoles(q, p, here, hooks, report);
            else
                sum_->execute(q, here, hooks, report);
            for (int k = 0; k < output_count; ++k) {
                const auto output = static_cast<Output>(k);
                if (const auto& view = here.of(output); view.data != outputs.of(output).data)
                    write_anywhere(outputs.of(output), static_cast<const double*>(view.data), view.shape[0],
                                   view.shape[1]);
            }
        });
        report.direct.coincident_pairs_skipped =
            comm::sum_of_ranks(ranks_, report.direct.coincident_pairs_skipped);
        if (problem_.times_its_parts()) report.prepare_seconds += seconds;
    }

    bool refine(double error) override { return sum_->refine(error); }

private:
    [[nodiscard]] bool is_elsewhere(const ConstArrayView& view) const { // on another GPU
        return view.device.type == DeviceType::cuda && view.device.index != device_;
    }

    /// The rows of all ranks, in `all`.
    ConstArrayView gathered(const RowsOfRanks& rows, const ConstArrayView& own, std::int64_t columns,
                            DeviceArray<double>& all, std::string_view what) {
        comm::together(ranks_, [&] {
            make_room(all, static_cast<std::size_t>(std::max<std::int64_t>(1, rows.all() * columns)));
            if (rows.mine() > 0) read(rows, own, columns, all.data() + rows.first() * columns, what);
        });
        rank_rows_.set_count(rows.mine());
        rank_rows_.gather(
            {{reinterpret_cast<std::byte*>(all.data()), static_cast<std::size_t>(columns) * sizeof(double)}},
            stream_);
        return {all.data(), DType::float64, {rows.all(), columns}, {DeviceType::cuda, device_}};
    }

    void read(const RowsOfRanks& rows, const ConstArrayView& own, std::int64_t columns, double* to,
              std::string_view what) {
        std::vector<double> copied;
        if (is_elsewhere(own)) {
            check(cudaStreamSynchronize(stream_), "waiting for the GPU"); // what is queued may write it
            copied = host_copy(own, rows.mine(), columns);
        }
        const auto from = copied.empty() ? own : matrix_view(std::span<const double>(copied), columns);
        const auto found = transfers_.read(from, rows.mine(), static_cast<int>(columns), to, what, stream_);
        if (found.bad < 0) {
            if (what != strengths_name && what != dipoles_name) widen(found.ranges);
            return;
        }
        const auto of_rank = std::string(what) + " of rank " + std::to_string(rows.rank());
        if (what == strengths_name || what == dipoles_name)
            refuse_strength(of_rank, found.bad / columns, found.bad_value);
        refuse_coordinate(of_rank, found.bad, found.bad_value, static_cast<int>(columns));
    }

    void widen(const std::array<Extent, 3>& by) {
        for (std::size_t axis = 0; axis < 3; ++axis)
            ranges_[axis] = {std::min(ranges_[axis].low, by[axis].low),
                             std::max(ranges_[axis].high, by[axis].high)};
    }

    /// The caller's, or on the host what is for another GPU.
    SumOutputs outputs_here(const SumOutputs& outputs, std::vector<std::vector<double>>& elsewhere) const {
        auto here = outputs;
        for (int k = 0; k < output_count; ++k) {
            auto& view = here.of(static_cast<Output>(k));
            if (!view || !is_elsewhere(view)) continue;
            const auto columns = view.ndim == 2 ? view.shape[1] : 1;
            auto& values = elsewhere.emplace_back(
                static_cast<std::size_t>(std::max<std::int64_t>(1, view.shape[0] * columns)));
            view = ArrayView(values.data(), DType::float64, {view.shape[0], columns});
        }
        return here;
    }

    std::unique_ptr<PreparedSum> sum_;
    SumProblem problem_;
    comm::Transport& ranks_;
    int device_;
    cudaStream_t stream_;
    Transfers transfers_;
    RankRows rank_rows_;
    RowsOfRanks source_rows_, target_rows_;
    std::array<Extent, 3> ranges_{};                              ///< of this rank's points
    DeviceArray<double> sources_, targets_, strengths_, dipoles_; ///< of all ranks
};

} // namespace

std::unique_ptr<PreparedSum> make_own_rows(std::unique_ptr<PreparedSum> sum, const SumProblem& problem,
                                           const SumOptions& options, int device) {
    const DeviceScope scope(device);
    return std::make_unique<OwnRowsOnGpu>(std::move(sum), problem, options, device);
}

} // namespace farfield::cuda
