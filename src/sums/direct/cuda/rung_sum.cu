// RungSum: the layouts of the rungs.
#include "base/spelling.h"
#include "sums/direct/cuda/rung_sum.cuh"

#include <farfield/error.h>

#include <string>
#include <type_traits>

namespace farfield::cuda {

namespace {

/// Room for n elements; keeps what is there if it is enough.
template <class T>
T* room(DeviceArray<T>& array, std::size_t n) {
    if (array.size() < n) {
        array = {}; // give the old block back first
        array = DeviceArray<T>(n);
    }
    return array.data();
}

template <class Layout>
void pack_into(DeviceArray<Layout>& array, std::size_t elements, const PackTask& task, cudaStream_t stream) {
    auto* out = room(array, elements);
    if (task.n == 0) return;
    pack_kernel<<<layout_blocks(task.n), layout_threads, 0, stream>>>(task, out);
    check_launch("laying out points");
}

template <class PointType>
class RungSumOf : public RungSum {
    using Real = typename PointType::real;

public:
    explicit RungSumOf(Rung rung) : rung_(rung) {}

    void pack(const RungInput& input, cudaStream_t stream) override {
        self_ = input.targets.points == nullptr;
        n_ = input.sources.n;
        n_targets_ = self_ ? n_ : input.targets.n;
        all_targets_ = input.all_targets;
        room(sums_, static_cast<std::size_t>(n_targets_));
        const auto n = static_cast<std::size_t>(n_);
        if (is_packed()) {
            pack_into(points_, n, input.sources, stream);
            if (!self_) pack_into(targets_, static_cast<std::size_t>(n_targets_), input.targets, stream);
        } else if constexpr (!std::is_same_v<PointType, MixedPoint>) {
            if (reads_bodies())
                pack_into(bodies_, n, input.sources, stream);
            else
                pack_into(arrays_, 4 * n, input.sources, stream);
        }
    }

    void* reserve_packed(int n) override {
        self_ = true;
        n_ = n_targets_ = n;
        const auto size = static_cast<std::size_t>(n);
        room(sums_, size);
        if (reads_bodies())
            room(bodies_, size);
        else if (!is_packed())
            room(arrays_, 4 * size);
        return room(points_, size);
    }

    void lay_out_packed(cudaStream_t stream) override {
        if constexpr (!std::is_same_v<PointType, MixedPoint>) {
            if (n_ == 0 || is_packed()) return;
            if (reads_bodies())
                relay_kernel<<<layout_blocks(n_), layout_threads, 0, stream>>>(points_.data(), n_,
                                                                               bodies_.data());
            else
                relay_kernel<<<layout_blocks(n_), layout_threads, 0, stream>>>(points_.data(), n_,
                                                                               arrays_.data());
            check_launch("laying out points");
        }
    }

    [[nodiscard]] const void* sums() const override { return sums_.data(); }

    void launch(double softening, int outputs, cudaStream_t stream) override {
        if (info_of(rung_).float_field && outputs != field_only)
            throw InvalidArgument(spelled("variant", info_of(rung_).name) +
                                  " computes the field alone; leave the potential out or use 'symmetric'");
        if (n_targets_ == 0) return;
        if (n_ == 0) {
            check(cudaMemsetAsync(sums_.data(), 0, n_targets_ * sizeof(Vec4<Real>), stream),
                  "clearing the sums");
            return;
        }
        const auto softening2 = static_cast<Real>(softening * softening);
        if (is_packed())
            launch_packed(softening2, outputs, stream);
        else if constexpr (!std::is_same_v<PointType, MixedPoint>) {
            const auto* x = arrays_.data();
            launch_ladder(rung_,
                          LadderTask<Real>{.bodies = bodies_.data(),
                                           .arrays = {x, x + n_, x + 2LL * n_, x + 3LL * n_},
                                           .sums = sums_.data(),
                                           .n = n_,
                                           .softening2 = softening2,
                                           .outputs = outputs},
                          stream);
        }
    }

    void finish(FinishTask task, cudaStream_t stream) const override {
        task.n = n_targets_;
        if (task.n == 0) return;
        finish_kernel<<<layout_blocks(task.n), layout_threads, 0, stream>>>(task, sums_.data());
        check_launch("finishing a direct sum");
    }

private:
    [[nodiscard]] bool reads_bodies() const { return rung_ == Rung::one_thread || rung_ == Rung::naive; }
    /// True for the rungs that read packed points: the Handbook's and the fast ones.
    [[nodiscard]] bool is_packed() const { return rung_ >= Rung::float4; }

    void launch_packed(Real softening2, int outputs, cudaStream_t stream) {
        const PointTask<PointType> task{.sources = points_.data(),
                                        .targets = self_ ? points_.data() : targets_.data(),
                                        .n_sources = n_,
                                        .n_targets = n_targets_,
                                        .softening2 = softening2,
                                        .outputs = outputs,
                                        .sums = sums_.data(),
                                        .all_targets = all_targets_};
        if (rung_ == Rung::symmetric)
            launch_symmetric(task, workspace_, stream);
        else if (rung_ == Rung::register_tile)
            launch_register_tile(task, workspace_, stream);
        else if constexpr (std::is_same_v<PointType, Point<float>>) {
            if (rung_ == Rung::tensor)
                launch_tensor(task, workspace_, stream);
            else
                launch_handbook(rung_, task, workspace_, stream);
        }
    }

    Rung rung_;
    bool self_ = true;
    int n_ = 0, n_targets_ = 0, all_targets_ = 0;
    DeviceArray<PointType> points_, targets_;
    DeviceArray<Body<Real>> bodies_;
    DeviceArray<Real> arrays_; ///< x, y, z, mass, n each
    DeviceArray<Vec4<Real>> sums_;
    Workspace workspace_;
};

} // namespace

int checked_count(std::size_t n) {
    constexpr std::size_t most = (std::size_t{1} << 31) - (std::size_t{1} << 20);
    if (n >= most)
        throw InvalidArgument("a direct sum on one GPU takes fewer than " + std::to_string(most) +
                              " points, not " + std::to_string(n) +
                              "; use a tree code or the fast multipole method");
    return static_cast<int>(n);
}

std::unique_ptr<RungSum> make_rung_sum(Rung rung, Precision precision) {
    if (precision == Precision::float32) return std::make_unique<RungSumOf<Point<float>>>(rung);
    if (info_of(rung).float_field)
        throw InvalidArgument(spelled("variant", info_of(rung).name) + " computes in " +
                              spelled("precision", "float") + " alone; use 'symmetric'");
    if (precision == Precision::float64) return std::make_unique<RungSumOf<Point<double>>>(rung);
    if (!info_of(rung).mixed)
        throw InvalidArgument(spelled("variant", info_of(rung).name) + " has no " +
                              spelled("precision", "mixed") + "; use 'symmetric' or 'register-tile'");
    return std::make_unique<RungSumOf<MixedPoint>>(rung);
}

} // namespace farfield::cuda
