#include "dynamics/cuda/method_engine.cuh"

#include "sums/asked.h"

#include <farfield/error.h>

namespace farfield::cuda {
namespace {

/// Columns of an array of four doubles a row, from `first` on.
ArrayView columns_of(void* rows, int n, std::int64_t first, std::int64_t columns, int device) {
    ArrayView view(static_cast<double*>(rows) + first, DType::float64, {n, columns},
                   {DeviceType::cuda, device});
    view.strides = {4, 1};
    return view;
}

} // namespace

MethodEngine::MethodEngine(const SumOptions& options, int device, int n, Output output)
    : device_(device), n_(n), output_(output) {
    check(cudaSetDevice(device_), "selecting a GPU");
    stream_ = Stream();
    points_ = DeviceArray<Point<double>>(static_cast<std::size_t>(n));
    sums_ = DeviceArray<Vec4<double>>(static_cast<std::size_t>(n));
    if (n > 0) check(cudaMemsetAsync(sums_.data(), 0, sums_.bytes(), stream_.get()), "clearing the sums");
    parts_[0] = {
        .device = device, .end = n, .points = points_.data(), .sums = sums_.data(), .stream = stream_.get()};
    renew(options);
}

void MethodEngine::renew(const SumOptions& options) {
    auto own = options;
    own.stream = stream_.get();
    auto problem = problem_of(own, columns_of(points_.data(), n_, 0, 3, device_), nullptr);
    problem.moves = true;
    sum_.reset(); // its memory first
    sum_ = method_info(own.method).make(problem, own, {.kind = DeviceKind::cuda, .gpus = {device_}});
    refused_ = false;
}

void MethodEngine::compute() {
    if (refused_) return;
    SumOutputs outputs;
    if (output_ == Output::field)
        outputs.field = columns_of(sums_.data(), n_, 0, 3, device_);
    else
        outputs.potential = columns_of(sums_.data(), n_, 3, 1, device_);
    report_.passes.clear();
    try {
        sum_->set_points(columns_of(points_.data(), n_, 0, 3, device_), {});
        sum_->execute(columns_of(points_.data(), n_, 3, 1, device_), outputs, {}, report_);
    } catch (const InvalidArgument&) {
        // What takes the sums finds that they are no numbers; bodies then stay where they met.
        refused_ = true;
        check(cudaMemsetAsync(sums_.data(), 0xff, sums_.bytes(), stream_.get()), "marking the sums");
    }
}

} // namespace farfield::cuda
