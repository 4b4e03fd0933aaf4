// SumEngine over one GPU.
#include "sums/direct/cuda/engine.cuh"

#include "backend/cuda/devices.h"
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/launch.cuh"

#include <farfield/error.h>

#include <cstdint>
#include <string>

namespace farfield::cuda {

namespace {

void check_options(const EngineOptions& options) {
    if (options.devices.size() != 1)
        throw InvalidArgument("a sum over " + std::to_string(options.devices.size()) +
                              " GPUs; this version takes exactly one");
    if (options.n < 0) throw InvalidArgument(std::to_string(options.n) + " bodies; the number must be ≥ 0");
    if (options.rung != Rung::symmetric && options.rung != Rung::register_tile)
        throw InvalidArgument("variant '" + std::string(info_of(options.rung).name) +
                              "' cannot be divided among GPUs; use 'symmetric' or 'register-tile'");
}

} // namespace

template <class PointType>
struct SumEngine<PointType>::Impl {
    using Real = typename PointType::real;

    explicit Impl(const EngineOptions& the_options) : options(the_options) {
        use_device(options.devices.front());
        const auto n = static_cast<std::size_t>(options.n);
        points = DeviceArray<PointType>(n);
        sums = DeviceArray<Vec4<Real>>(n);
        part.push_back({.device = options.devices.front(),
                        .end = options.n,
                        .points = points.data(),
                        .sums = sums.data(),
                        .stream = stream.get()});
        if (n > 0) check(cudaMemset(points.data(), 0, points.bytes()), "clearing the points");
    }

    EngineOptions options;
    DeviceArray<PointType> points;
    DeviceArray<Vec4<Real>> sums;
    Workspace workspace;
    Stream stream;
    std::vector<EnginePart<PointType>> part;
};

template <class PointType>
SumEngine<PointType>::SumEngine(const EngineOptions& options) {
    check_options(options);
    use_device(options.devices.front());
    impl_ = std::make_unique<Impl>(options);
    compute(); // takes the workspace and loads the kernels, which a recording could not
    synchronize();
}
template <class PointType>
SumEngine<PointType>::SumEngine(SumEngine&&) noexcept = default;
template <class PointType>
SumEngine<PointType>& SumEngine<PointType>::operator=(SumEngine&&) noexcept = default;
template <class PointType>
SumEngine<PointType>::~SumEngine() {
    if (impl_ != nullptr) cudaStreamSynchronize(impl_->stream.get());
}

template <class PointType>
const EngineOptions& SumEngine<PointType>::options() const {
    return impl_->options;
}
template <class PointType>
std::span<EnginePart<PointType>> SumEngine<PointType>::parts() {
    return impl_->part;
}

template <class PointType>
void SumEngine<PointType>::run_on_parts(const std::function<void(int)>& work) {
    check(cudaSetDevice(impl_->part.front().device), "selecting a GPU");
    work(0);
}

template <class PointType>
void SumEngine<PointType>::compute() {
    const auto& options = impl_->options;
    if (options.n == 0) return;
    check(cudaSetDevice(impl_->part.front().device), "selecting a GPU");
    using Real = typename PointType::real;
    const PointTask<PointType> task{.sources = impl_->points.data(),
                                    .targets = impl_->points.data(),
                                    .n_sources = options.n,
                                    .n_targets = options.n,
                                    .softening2 = static_cast<Real>(options.softening * options.softening),
                                    .outputs = options.outputs,
                                    .sums = impl_->sums.data()};
    if (options.rung == Rung::symmetric)
        launch_symmetric(task, impl_->workspace, impl_->stream.get());
    else
        launch_register_tile(task, impl_->workspace, impl_->stream.get());
}

template <class PointType>
void SumEngine<PointType>::synchronize() {
    impl_->stream.synchronize();
}

template class SumEngine<Point<float>>;
template class SumEngine<Point<double>>;
template class SumEngine<MixedPoint>;

} // namespace farfield::cuda
