// DeviceSum: a rung over points that were uploaded as they are, for benches and for tests of the rungs.
#include "backend/cuda/device_scope.h"
#include "backend/cuda/stream.h"
#include "base/spelling.h"
#include "sums/direct/cuda/device_sum.h"
#include "sums/direct/cuda/rung_sum.cuh"
#include "sums/kernels/kernel.h"

#include <farfield/error.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace farfield::cuda {

namespace {

/// Room for n numbers; what is there is kept if it is enough, as giving memory back waits for all of the GPU.
double* kept_room(DeviceArray<double>& array, std::size_t n) {
    if (array.size() < n) {
        array = {};
        array = DeviceArray<double>(n);
    }
    return array.data();
}

double* uploaded(std::span<const double> values, DeviceArray<double>& array, const Stream& stream) {
    // an empty array has an address as well, which says that there are targets
    auto* const room = kept_room(array, std::max<std::size_t>(values.size(), 1));
    copy(room, values.data(), values.size(), stream.get());
    return room;
}

} // namespace

struct DeviceSum::Impl {
    explicit Impl(const DeviceSumOptions& the_options) : options(the_options) {
        if (!options.field && !options.potential)
            throw InvalidArgument("a direct sum needs at least one output: potential or field");
        sum = make_rung_sum(options.rung, options.precision);
        use_device(options.device);
        stream.emplace();
        not_finite = DeviceArray<int>(1);
    }

    void set(std::span<const double> points, std::span<const double> strengths,
             const std::span<const double>* separate) {
        use_device(options.device);
        RungInput input{.sources = {.points = uploaded(points, staged_points, *stream),
                                    .strengths = uploaded(strengths, staged_strengths, *stream),
                                    .n = checked_count(strengths.size())}};
        n_targets = strengths.size();
        if (separate != nullptr) {
            n_targets = separate->size() / 3;
            input.targets = {.points = uploaded(*separate, staged_targets, *stream),
                             .n = checked_count(n_targets)};
        }
        sum->pack(input, stream->get());
        stream->synchronize();
    }

    DeviceSumOptions options;
    std::optional<Stream> stream;
    std::unique_ptr<RungSum> sum;
    std::size_t n_targets = 0;
    DeviceArray<double> staged_points, staged_strengths, staged_targets;
    DeviceArray<double> potentials, fields; ///< on their way out
    DeviceArray<int> not_finite;
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
        throw InvalidArgument(spelled("variant", info.name) +
                              " needs targets = sources; use 'register-tile' with separate targets");
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
    auto& own = *impl_;
    auto* const potentials =
        potential.empty() ? nullptr : kept_room(own.potentials, std::max<std::size_t>(1, own.n_targets));
    auto* const fields =
        field.empty() ? nullptr : kept_room(own.fields, std::max<std::size_t>(1, 3 * own.n_targets));
    own.sum->finish({.potential = potentials,
                     .field = fields,
                     .sign = kernel_info(own.options.kernel).sign,
                     .not_finite = own.not_finite.data()},
                    stream.get());
    copy(potential.data(), potentials, potential.empty() ? 0 : own.n_targets, stream.get());
    copy(field.data(), fields, field.empty() ? 0 : 3 * own.n_targets, stream.get());
    stream.synchronize();
}

} // namespace farfield::cuda
