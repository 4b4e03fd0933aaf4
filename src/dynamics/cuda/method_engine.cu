#include "dynamics/cuda/method_engine.cuh"

#include "dynamics/bodies/box.h"
#include "dynamics/cuda/move.cuh"
#include "sums/asked.h"

#include <farfield/error.h>

namespace farfield::cuda {

MethodEngine::MethodEngine(const SumOptions& options, const std::vector<int>& devices,
                           std::span<const double> strengths, Output output)
    : devices_(devices), device_(devices.front()), n_(static_cast<int>(strengths.size())), output_(output) {
    check(cudaSetDevice(device_), "selecting a GPU");
    stream_ = Stream();
    strengths_ = DeviceArray<double>(strengths.size());
    sums_ = DeviceArray<double>((output == Output::field ? 3 : 1) * strengths.size());
    copy(strengths_.data(), strengths.data(), strengths.size(), stream_.get());
    parts_[0] = {.device = device_, .end = n_, .stream = stream_.get()};
    renew(options);
}

void MethodEngine::renew(const SumOptions& options) {
    auto own = options;
    own.stream = stream_.get();
    period_ = own.period;
    auto problem = problem_of(own, {nullptr, DType::float64, {n_, 3}}, nullptr);
    problem.moves = true;
    problem.keeps_strengths = !is_periodic(period_); // otherwise images, which come and go, have some, too
    sum_.reset();                                    // its memory first
    sum_ = method_info(own.method).make(problem, own, {.kind = DeviceKind::cuda, .gpus = devices_});
    refusal_.clear();
}

void MethodEngine::compute(const double* places) {
    if (!refusal_.empty()) return;
    if (!sum_) throw InternalError("forces are asked of a method that could not be made anew");
    const Device here{DeviceType::cuda, device_};
    SumOutputs outputs;
    if (output_ == Output::field)
        outputs.field = {sums_.data(), DType::float64, {n_, 3}, here};
    else
        outputs.potential = {sums_.data(), DType::float64, {n_}, here};
    report_.passes.clear();
    // as Forces::set_points: forces at a place have the same bits when a run goes on from its image in the
    // box
    if (is_periodic(period_)) {
        make_room(in_box_, 3 * static_cast<std::size_t>(n_));
        wrap_places(places, n_, period_, in_box_.data(), stream_.get());
        places = in_box_.data();
    }
    try {
        sum_->set_points({places, DType::float64, {n_, 3}, here}, {});
        sum_->execute({strengths_.data(), DType::float64, {n_}, here}, outputs, {}, report_);
    } catch (const InvalidArgument& error) {
        // Whatever takes the sums finds that they are no numbers; bodies then stay where they met.
        refusal_ = error.what();
        check(cudaMemsetAsync(sums_.data(), 0xff, sums_.bytes(), stream_.get()), "marking the sums");
    }
}

} // namespace farfield::cuda
