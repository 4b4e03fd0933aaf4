// DeviceSum: a rung over points that were uploaded as they are, for benches and for tests of the rungs.
#include "backend/cuda/device_scope.h"
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/device_sum.h"
#include "sums/direct/cuda/rung_sum.cuh"
#include "sums/kernels/kernel.h"

#include <farfield/error.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace farfield::cuda {

namespace {

DeviceArray<double> uploaded(std::span<const double> values, const Stream& stream) {
    DeviceArray<double> array(values.size());
    copy(array.data(), values.data(), values.size(), stream.get());
    return array;
}

} // namespace

struct DeviceSum::Impl {
    explicit Impl(const DeviceSumOptions& the_options) : options(the_options) {
        if (!options.field && !options.potential)
            throw InvalidArgument("a direct sum needs at least one output: potential or field");
        sum = make_rung_sum(options.rung, options.precision);
        use_device(options.device);
        stream.emplace();
    }

    void set(std::span<const double> points, std::span<const double> strengths,
             const std::span<const double>* separate) {
        use_device(options.device);
        const auto at = uploaded(points, *stream), q = uploaded(strengths, *stream);
        DeviceArray<double> targets;
        RungInput input{
            .sources = {.points = at.data(), .strengths = q.data(), .n = checked_count(strengths.size())}};
        n_targets = strengths.size();
        if (separate != nullptr) {
            n_targets = separate->size() / 3;
            targets = DeviceArray<double>(
                std::max<std::size_t>(separate->size(), 1)); // its address says that there are some
            copy(targets.data(), separate->data(), separate->size(), stream->get());
            input.targets = {.points = targets.data(), .n = checked_count(n_targets)};
        }
        sum->pack(input, stream->get());
        stream->synchronize();
    }

    DeviceSumOptions options;
    std::optional<Stream> stream;
    std::unique_ptr<RungSum> sum;
    std::size_t n_targets = 0;
};

DeviceSum::DeviceSum(const DeviceSumOptions& options) : impl_(std::make_unique<Impl>(options)) {}
DeviceSum::DeviceSum(DeviceSum&&) noexcept = default;
DeviceSum& DeviceSum::operator=(DeviceSum&&) noexcept = default;
DeviceSum::~DeviceSum() = default;

void DeviceSum::set_points(std::span<const double> points, std::span<const double> strengths) {
    impl_->set(points, strengths, nullptr);
}

void DeviceSum::set_points(std::span<const double> points, std::span<const double> strengths,
                           std::span<const double> targets) {
    const auto& info = info_of(impl_->options.rung);
    if (!info.separate_targets)
        throw InvalidArgument("variant '" + std::string(info.name) +
                              "' needs targets = sources; use 'register-tile' with separate targets");
    impl_->set(points, strengths, &targets);
}

double DeviceSum::run() {
    const auto& options = impl_->options;
    use_device(options.device);
    const auto& stream = *impl_->stream;
    Event start, end;
    start.record(stream);
    impl_->sum->launch(options.softening,
                       (options.field ? field_only : 0) | (options.potential ? potential_only : 0),
                       stream.get());
    end.record(stream);
    return Event::milliseconds(start, end);
}

void DeviceSum::fetch(std::span<double> potential, std::span<double> field) const {
    use_device(impl_->options.device);
    const auto& stream = *impl_->stream;
    DeviceArray<double> potentials(potential.empty() ? 0 : impl_->n_targets);
    DeviceArray<double> fields(field.empty() ? 0 : 3 * impl_->n_targets);
    DeviceArray<int> not_finite(1);
    impl_->sum->finish({.potential = potentials.data(),
                        .field = fields.data(),
                        .sign = kernel_info(impl_->options.kernel).sign,
                        .not_finite = not_finite.data()},
                       stream.get());
    copy(potential.data(), potentials.data(), potentials.size(), stream.get());
    copy(field.data(), fields.data(), fields.size(), stream.get());
    stream.synchronize();
}

} // namespace farfield::cuda
