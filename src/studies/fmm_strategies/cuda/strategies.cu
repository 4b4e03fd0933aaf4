#include "studies/fmm_strategies/strategies.h"

#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "studies/fmm_strategies/cuda/device_problem.cuh"
#include "studies/fmm_strategies/cuda/tiles.cuh"
#include "studies/fmm_strategies/rotations.h"

#include <farfield/error.h>

#include <string>

namespace farfield::strategies {
namespace {

using cuda::DeviceArray;

template <class Real, class From>
DeviceArray<Real> on_device(const std::vector<From>& values, cudaStream_t stream) {
    const std::vector<Real> converted(values.begin(), values.end());
    DeviceArray<Real> out(converted.size());
    cuda::copy(out.data(), converted.data(), converted.size(), stream);
    return out;
}

template <class Real>
DeviceArray<Complex<Real>> complex_on_device(const std::vector<Moment>& values, cudaStream_t stream) {
    std::vector<Complex<Real>> converted;
    converted.reserve(values.size());
    for (const auto& value : values)
        converted.push_back({static_cast<Real>(value.re), static_cast<Real>(value.im)});
    DeviceArray<Complex<Real>> out(converted.size());
    cuda::copy(out.data(), converted.data(), converted.size(), stream);
    return out;
}

/// What the kernels for many targets need besides the problem; µ is theirs, in the order of slots.
template <class Real>
struct Prepared {
    TileProblem<Real> problem;
    DeviceArray<TargetSlot> slots;
    DeviceArray<Real> omega, matrices, partial, mu;
};

template <class Real>
struct PreparedRotations {
    RotatedProblem<Real> problem;
    DeviceArray<int> angle_of;
    DeviceArray<Real> there, back, cosine, sine, along;
};

struct AnyRuns {
    virtual ~AnyRuns() = default;
    virtual double run(Strategy strategy) = 0;
    virtual double run_indices() = 0;
    [[nodiscard]] virtual std::vector<Moment> fetch() const = 0;
};

template <class Real>
class Runs final : public AnyRuns {
public:
    explicit Runs(const Problem& problem)
        : order_(problem.order), depth_(problem.depth), slots_(target_slots(problem.depth)),
          omega_(complex_on_device<Real>(problem.omega, stream_.get())),
          operators_(complex_on_device<Real>(problem.operators, stream_.get())), mu_(problem.omega.size()),
          failures_(1) {}

    double run(Strategy strategy) override {
        in_slots_ = strategy == Strategy::tiles || strategy == Strategy::rotated;
        const DeviceProblem<Real> problem{order_, depth_, omega_.data(), operators_.data(), mu_.data()};
        switch (strategy) {
        case Strategy::full:
            return timed([&] { enqueue_full(problem, stream_.get()); });
        case Strategy::sequential:
            return timed([&] { enqueue_sequential(problem, stream_.get()); });
        case Strategy::dynamic1:
            return dynamic(problem, 1);
        case Strategy::dynamic2:
            return dynamic(problem, 2);
        case Strategy::dynamic3:
            return dynamic(problem, 3);
        case Strategy::tiles:
            prepare_tiles();
            return timed([&] { enqueue_tiles(tiles_.problem, stream_.get()); });
        case Strategy::rotated:
            prepare_rotations();
            return timed([&] { enqueue_rotated(rotations_.problem, stream_.get()); });
        }
        throw InternalError("a strategy without a kernel");
    }

    double run_indices() override {
        const DeviceProblem<Real> problem{order_, depth_, omega_.data(), operators_.data(), mu_.data()};
        return timed([&] { enqueue_indices(problem, failures_.data(), stream_.get()); });
    }

    [[nodiscard]] std::vector<Moment> fetch() const override {
        const auto size = static_cast<std::size_t>(half_size(order_));
        std::vector<Moment> out(mu_.size());
        if (!in_slots_) {
            std::vector<Complex<Real>> mu(mu_.size());
            cuda::copy(mu.data(), mu_.data(), mu.size(), stream_.get());
            stream_.synchronize();
            for (std::size_t i = 0; i < mu.size(); ++i) out[i] = {mu[i].re, mu[i].im};
            return out;
        }
        const auto numbers = static_cast<std::size_t>(real_size(order_));
        std::vector<Real> mu(slots_.size() * numbers);
        cuda::copy(mu.data(), shared_.mu.data(), mu.size(), stream_.get());
        stream_.synchronize();
        for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
            if (slots_[slot].level == 0) continue;
            auto* to = out.data() + static_cast<std::size_t>(slots_[slot].global()) * size;
            for (std::size_t place = 0; place < numbers; ++place) {
                const auto term = real_term(static_cast<int>(place));
                auto& value = to[half_place(term.l, term.m)];
                (term.imaginary ? value.im : value.re) = mu[slot * numbers + place];
            }
        }
        return out;
    }

private:
    template <class Enqueue>
    double timed(Enqueue&& enqueue) {
        cuda::check(cudaMemsetAsync(mu_.data(), 0, mu_.bytes(), stream_.get()), "clearing µ");
        stream_.synchronize();
        cuda::Event start, end;
        start.record(stream_);
        enqueue();
        end.record(stream_);
        const double milliseconds = cuda::Event::milliseconds(start, end);
        stream_.synchronize();
        return milliseconds;
    }

    double dynamic(const DeviceProblem<Real>& problem, int scheme) {
        cuda::check(cudaMemsetAsync(failures_.data(), 0, sizeof(int), stream_.get()), "clearing a counter");
        const double milliseconds =
            timed([&] { enqueue_dynamic(problem, scheme, failures_.data(), stream_.get()); });
        int failures = 0;
        cuda::copy(&failures, failures_.data(), 1, stream_.get());
        stream_.synchronize();
        if (failures != 0)
            throw DeviceError("the GPU refused " + std::to_string(failures) +
                              " launches of kernels by kernels: there was no room for that many at a time");
        return milliseconds;
    }

    // What both kernels for many targets share.
    void prepare_shared() {
        if (shared_.slots.size() != 0) return;
        shared_.slots = DeviceArray<TargetSlot>(slots_.size());
        cuda::copy(shared_.slots.data(), slots_.data(), slots_.size(), stream_.get());
        const int boxes = boxes_of_depth(depth_);
        shared_.omega = DeviceArray<Real>(static_cast<std::size_t>(boxes) * padded_columns(order_));
        make_real(omega_.data(), boxes, order_, shared_.omega.data(), stream_.get());
        shared_.mu = DeviceArray<Real>(slots_.size() * static_cast<std::size_t>(real_size(order_)));
        shared_.problem.order = order_;
        shared_.problem.slots = static_cast<int>(slots_.size());
        shared_.problem.slot = shared_.slots.data();
        shared_.problem.omega = shared_.omega.data();
        shared_.problem.mu = shared_.mu.data();
    }

    void prepare_tiles() {
        prepare_shared();
        if (tiles_.matrices.size() != 0) return;
        const auto rows = static_cast<std::size_t>(padded_rows(order_));
        tiles_.problem = shared_.problem;
        tiles_.problem.splits = splits_for(static_cast<int>(slots_.size()) / tile_targets *
                                           padded_rows(order_) / tile_rows(order_));
        tiles_.matrices =
            DeviceArray<Real>(offsets * static_cast<std::size_t>(padded_columns(order_)) * rows);
        make_matrices(operators_.data(), order_, tiles_.matrices.data(), stream_.get());
        tiles_.partial =
            DeviceArray<Real>(static_cast<std::size_t>(tiles_.problem.splits) * slots_.size() * rows);
        tiles_.problem.matrices = tiles_.matrices.data();
        tiles_.problem.partial = tiles_.partial.data();
    }

    void prepare_rotations() {
        prepare_shared();
        if (rotations_.angle_of.size() != 0) return;
        const auto tables = make_rotations(order_);
        auto& problem = rotations_.problem;
        const auto upload = [&](const std::vector<double>& values, DeviceArray<Real>& to) {
            to = on_device<Real>(values, stream_.get());
            return to.data();
        };
        rotations_.angle_of = on_device<int>(tables.angle_of, stream_.get());
        problem.tiles = shared_.problem;
        problem.angle_of = rotations_.angle_of.data();
        problem.there = upload(tables.there, rotations_.there);
        problem.back = upload(tables.back, rotations_.back);
        problem.cosine = upload(tables.cosine, rotations_.cosine);
        problem.sine = upload(tables.sine, rotations_.sine);
        problem.along = upload(tables.along, rotations_.along);
        problem.tiles.splits = splits_for(static_cast<int>(slots_.size()) / rotated_targets<Real>(order_));
        rotated_partial_ = DeviceArray<Real>(static_cast<std::size_t>(problem.tiles.splits) * slots_.size() *
                                             static_cast<std::size_t>(real_size(order_)));
        problem.tiles.partial = rotated_partial_.data();
        stream_.synchronize();
    }

    cuda::Stream stream_; // first: the arrays are filled in its order
    int order_, depth_;
    std::vector<TargetSlot> slots_;
    DeviceArray<Complex<Real>> omega_, operators_, mu_;
    DeviceArray<int> failures_;
    Prepared<Real> shared_, tiles_;
    PreparedRotations<Real> rotations_;
    DeviceArray<Real> rotated_partial_;
    bool in_slots_ = false;
};

} // namespace

struct StrategyRuns::Impl {
    std::unique_ptr<AnyRuns> runs;
};

StrategyRuns::StrategyRuns(const Problem& problem, bool is_double) : impl_(std::make_unique<Impl>()) {
    if (is_double)
        impl_->runs = std::make_unique<Runs<double>>(problem);
    else
        impl_->runs = std::make_unique<Runs<float>>(problem);
}
StrategyRuns::StrategyRuns(StrategyRuns&&) noexcept = default;
StrategyRuns& StrategyRuns::operator=(StrategyRuns&&) noexcept = default;
StrategyRuns::~StrategyRuns() = default;

double StrategyRuns::run(Strategy strategy) { return impl_->runs->run(strategy); }
double StrategyRuns::run_indices() { return impl_->runs->run_indices(); }
std::vector<Moment> StrategyRuns::fetch() const { return impl_->runs->fetch(); }

} // namespace farfield::strategies
