#include "sums/direct/cuda/several/through_host.cuh"

#include "backend/comm/agree.h"
#include "base/arrays.h"
#include "sums/direct/cuda/one_gpu.cuh"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace farfield::cuda {
namespace {

class ThroughHost : public PreparedSum {
public:
    ThroughHost(std::unique_ptr<PreparedSum> sum, comm::Transport& ranks, cudaStream_t stream)
        : sum_(std::move(sum)), ranks_(ranks), stream_(stream) {}

    void set_points(const ConstArrayView& sources, const ConstArrayView& targets) override {
        comm::together(ranks_, [&] {
            sources_ = from_gpu(sources, 3);
            targets_ = targets ? from_gpu(targets, 3) : std::vector<double>();
        });
        sum_->set_points(view_of(sources_, 3), targets ? view_of(targets_, 3) : ConstArrayView{});
    }

    void execute(const ConstArrayView& strengths, const SumOutputs& outputs, const SumHooks& hooks,
                 SumReport& report) override {
        SumOutputs here;
        comm::together(ranks_, [&] {
            strengths_ = from_gpu(strengths, 1);
            if (outputs.potential) here.potential = room(potential_, outputs.potential, 1);
            if (outputs.field) here.field = room(field_, outputs.field, 3);
        });
        sum_->execute(view_of(strengths_, 1), here, hooks, report);
        comm::together(ranks_, [&] {
            if (outputs.potential) to_gpu(potential_, outputs.potential);
            if (outputs.field) to_gpu(field_, outputs.field);
            check(cudaStreamSynchronize(stream_), "waiting for the GPU");
        });
    }

    bool refine(double error) override { return sum_->refine(error); }

private:
    [[nodiscard]] std::vector<double> from_gpu(const ConstArrayView& view, std::int64_t columns) const {
        return downloaded(static_cast<const double*>(view.data),
                          static_cast<std::size_t>(view.shape[0] * columns), stream_);
    }
    static ConstArrayView view_of(const std::vector<double>& values, std::int64_t columns) {
        return matrix_view(std::span<const double>(values), columns);
    }
    static ArrayView room(std::vector<double>& values, const ArrayView& like, std::int64_t columns) {
        values.resize(static_cast<std::size_t>(like.shape[0] * columns));
        return matrix_view(std::span<double>(values), columns);
    }
    void to_gpu(const std::vector<double>& values, const ArrayView& to) const {
        copy(static_cast<double*>(to.data), values.data(), values.size(), stream_);
    }

    std::unique_ptr<PreparedSum> sum_;
    comm::Transport& ranks_;
    cudaStream_t stream_;
    std::vector<double> sources_, targets_, strengths_, potential_, field_;
};

} // namespace

std::unique_ptr<PreparedSum> make_through_host(std::unique_ptr<PreparedSum> sum, comm::Transport& ranks,
                                               cudaStream_t stream) {
    return std::make_unique<ThroughHost>(std::move(sum), ranks, stream);
}

} // namespace farfield::cuda
