// DeviceSum: rounds and lays out the points for the rung chosen, launches it, and gives the sums their signs.
#include "backend/cuda/devices.h"
#include "backend/cuda/stream.h"
#include "sums/direct/cuda/device_sum.h"
#include "sums/direct/cuda/launch.cuh"

#include <farfield/error.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace farfield::cuda {

namespace {

template <class Real>
Vec4<Real> rounded(const double* at, double strength) {
    return {static_cast<Real>(at[0]), static_cast<Real>(at[1]), static_cast<Real>(at[2]),
            static_cast<Real>(strength)};
}

template <class PointType>
PointType pack(const double* at, double strength) {
    PointType point{};
    point.at = rounded<typename PointType::real>(at, strength);
    if constexpr (std::is_same_v<PointType, MixedPoint>)
        point.low = {static_cast<float>(at[0] - static_cast<double>(point.at.x)),
                     static_cast<float>(at[1] - static_cast<double>(point.at.y)),
                     static_cast<float>(at[2] - static_cast<double>(point.at.z)), 0.0F};
    return point;
}

template <class T>
DeviceArray<T> uploaded(const std::vector<T>& values, const Stream& stream) {
    DeviceArray<T> array(values.size());
    copy(array.data(), values.data(), values.size(), stream.get());
    stream.synchronize();
    return array;
}

int checked_size(std::size_t n) {
    constexpr std::size_t most = (std::size_t{1} << 31) - (std::size_t{1} << 20);
    if (n >= most)
        throw InvalidArgument("a direct sum on one GPU takes fewer than " + std::to_string(most) +
                              " points, not " + std::to_string(n) +
                              "; use a tree code or the fast multipole method");
    return static_cast<int>(n);
}

/// The points of one precision on the GPU, and the launch of a rung over them.
struct Points {
    virtual ~Points() = default;
    virtual void set_sources(std::span<const double> points, std::span<const double> strengths,
                             const Stream& stream) = 0;
    virtual void set_targets(std::span<const double> points, const Stream& stream) = 0;
    virtual void launch(const DeviceSumOptions& options, const Stream& stream) = 0;
    /// Rows of x, y, z, potential, unsigned.
    [[nodiscard]] virtual std::vector<Vec4<double>> sums(const Stream& stream) const = 0;
};

int wanted_outputs(const DeviceSumOptions& options) {
    return (options.field ? field_only : 0) | (options.potential ? potential_only : 0);
}

template <class PointType>
struct PointsOf : Points {
    using Real = typename PointType::real;

    explicit PointsOf(Rung the_rung) : rung(the_rung) {}

    void set_sources(std::span<const double> points, std::span<const double> strengths,
                     const Stream& stream) override {
        n = checked_size(strengths.size());
        targets = {};
        n_targets = n;
        sums_ = DeviceArray<Vec4<Real>>(strengths.size());
        if (rung == Rung::register_tile || rung == Rung::symmetric)
            packed = packed_points(points, strengths, stream);
        else if (rung == Rung::one_thread || rung == Rung::naive)
            set_bodies(points, strengths, stream);
        else
            set_arrays(points, strengths, stream);
    }

    void set_targets(std::span<const double> points, const Stream& stream) override {
        n_targets = checked_size(points.size() / 3);
        targets = packed_points(points, std::vector<double>(points.size() / 3, 0.0), stream);
        sums_ = DeviceArray<Vec4<Real>>(points.size() / 3);
    }

    void launch(const DeviceSumOptions& options, const Stream& stream) override {
        if (n_targets == 0) return;
        if (n == 0) {
            check(cudaMemsetAsync(sums_.data(), 0, sums_.bytes(), stream.get()), "clearing the sums");
            return;
        }
        const auto softening2 = static_cast<Real>(options.softening * options.softening);
        if (rung == Rung::register_tile || rung == Rung::symmetric) {
            const PointTask<PointType> task{.sources = packed.data(),
                                            .targets = targets.size() > 0 ? targets.data() : packed.data(),
                                            .n_sources = n,
                                            .n_targets = n_targets,
                                            .softening2 = softening2,
                                            .outputs = wanted_outputs(options),
                                            .sums = sums_.data()};
            if (rung == Rung::symmetric)
                launch_symmetric(task, workspace, stream.get());
            else
                launch_register_tile(task, workspace, stream.get());
        } else if constexpr (!std::is_same_v<PointType, MixedPoint>) {
            const auto* x = arrays.data();
            launch_ladder(rung,
                          LadderTask<Real>{.bodies = bodies.data(),
                                           .arrays = {x, x + n, x + 2 * n, x + 3 * n},
                                           .sums = sums_.data(),
                                           .n = n,
                                           .softening2 = softening2,
                                           .outputs = wanted_outputs(options)},
                          stream.get());
        }
    }

    [[nodiscard]] std::vector<Vec4<double>> sums(const Stream& stream) const override {
        std::vector<Vec4<Real>> rows(sums_.size());
        copy(rows.data(), sums_.data(), rows.size(), stream.get());
        stream.synchronize();
        std::vector<Vec4<double>> out(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) out[i] = {rows[i].x, rows[i].y, rows[i].z, rows[i].w};
        return out;
    }

    static DeviceArray<PointType> packed_points(std::span<const double> points,
                                                std::span<const double> strengths, const Stream& stream) {
        std::vector<PointType> values(strengths.size());
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = pack<PointType>(&points[3 * i], strengths[i]);
        return uploaded(values, stream);
    }
    void set_bodies(std::span<const double> points, std::span<const double> strengths, const Stream& stream) {
        std::vector<Body<Real>> values(strengths.size());
        for (std::size_t i = 0; i < values.size(); ++i) {
            const auto p = rounded<Real>(&points[3 * i], strengths[i]);
            values[i] = {p.w, p.x, p.y, p.z, {}, {}};
        }
        bodies = uploaded(values, stream);
    }
    void set_arrays(std::span<const double> points, std::span<const double> strengths, const Stream& stream) {
        const std::size_t count = strengths.size();
        std::vector<Real> values(4 * count);
        for (std::size_t i = 0; i < count; ++i) {
            const auto p = rounded<Real>(&points[3 * i], strengths[i]);
            values[i] = p.x, values[count + i] = p.y, values[2 * count + i] = p.z,
            values[3 * count + i] = p.w;
        }
        arrays = uploaded(values, stream);
    }

    Rung rung;
    int n = 0, n_targets = 0;
    DeviceArray<PointType> packed, targets;
    DeviceArray<Body<Real>> bodies;
    DeviceArray<Real> arrays; ///< x, y, z, mass, n each
    DeviceArray<Vec4<Real>> sums_;
    Workspace workspace;
};

std::unique_ptr<Points> points_for(const DeviceSumOptions& options) {
    const auto& info = info_of(options.rung);
    switch (options.precision) {
    case Precision::float32:
        return std::make_unique<PointsOf<Point<float>>>(options.rung);
    case Precision::float64:
        return std::make_unique<PointsOf<Point<double>>>(options.rung);
    case Precision::mixed:
        break;
    }
    if (!info.mixed)
        throw InvalidArgument("variant '" + std::string(info.name) +
                              "' has no mixed precision; use 'symmetric' or 'register-tile'");
    return std::make_unique<PointsOf<MixedPoint>>(options.rung);
}

} // namespace

struct DeviceSum::Impl {
    explicit Impl(const DeviceSumOptions& the_options) : options(the_options) {
        if (!options.field && !options.potential)
            throw InvalidArgument("a direct sum needs at least one output: potential or field");
        points = points_for(options);
        use_device(options.device);
        stream.emplace();
    }
    DeviceSumOptions options;
    std::optional<Stream> stream;
    std::unique_ptr<Points> points;
};

DeviceSum::DeviceSum(const DeviceSumOptions& options) : impl_(std::make_unique<Impl>(options)) {}
DeviceSum::DeviceSum(DeviceSum&&) noexcept = default;
DeviceSum& DeviceSum::operator=(DeviceSum&&) noexcept = default;
DeviceSum::~DeviceSum() = default;

void DeviceSum::set_points(std::span<const double> points, std::span<const double> strengths) {
    use_device(impl_->options.device);
    impl_->points->set_sources(points, strengths, *impl_->stream);
}

void DeviceSum::set_points(std::span<const double> points, std::span<const double> strengths,
                           std::span<const double> targets) {
    const auto& info = info_of(impl_->options.rung);
    if (!info.separate_targets)
        throw InvalidArgument("variant '" + std::string(info.name) +
                              "' needs targets = sources; use 'register-tile' with separate targets");
    set_points(points, strengths);
    impl_->points->set_targets(targets, *impl_->stream);
}

double DeviceSum::run() {
    use_device(impl_->options.device);
    const auto& stream = *impl_->stream;
    Event start, end;
    start.record(stream);
    impl_->points->launch(impl_->options, stream);
    end.record(stream);
    return Event::milliseconds(start, end);
}

void DeviceSum::fetch(std::span<double> potential, std::span<double> field) const {
    use_device(impl_->options.device);
    const auto rows = impl_->points->sums(*impl_->stream);
    const double sign = impl_->options.kernel == Kernel::gravity ? 1.0 : -1.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!potential.empty()) potential[i] = -sign * rows[i].w;
        if (field.empty()) continue;
        field[3 * i] = sign * rows[i].x;
        field[3 * i + 1] = sign * rows[i].y;
        field[3 * i + 2] = sign * rows[i].z;
    }
}

void direct_sum(const DirectTask& task, int device, Precision precision, Rung rung) {
    DeviceSum sum({.device = device,
                   .rung = rung,
                   .kernel = task.kernel,
                   .precision = precision,
                   .softening = task.softening,
                   .potential = task.potential != nullptr,
                   .field = task.field != nullptr});
    const auto n = static_cast<std::size_t>(task.sources), m = static_cast<std::size_t>(task.targets);
    const std::span points(task.source_points, 3 * n);
    const std::span strengths(task.strengths, n);
    if (task.self)
        sum.set_points(points, strengths);
    else
        sum.set_points(points, strengths, std::span(task.target_points, 3 * m));
    sum.run();
    sum.fetch(task.potential != nullptr ? std::span(task.potential, m) : std::span<double>{},
              task.field != nullptr ? std::span(task.field, 3 * m) : std::span<double>{});
}

} // namespace farfield::cuda
