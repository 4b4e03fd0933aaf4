// Drives the persistent kernel (persistent.cuh).
#include "backend/cuda/devices.h"
#include "dynamics/cuda/persistent.cuh"
#include "dynamics/cuda/stepper.cuh"

#include <algorithm>
#include <array>

namespace farfield::cuda {

namespace {

constexpr std::uint64_t most_steps_a_launch = 1U << 18;
constexpr unsigned last_stamp = ~0U - 3 * (1U << 18); // a launch of most steps still ends before 0

template <class PointType>
class Persistent final : public Stepper {
    using Real = typename PointType::real;

public:
    explicit Persistent(const MotionInput& input)
        : shape_(persistent_shape(input.n())), substeps_(input.setup->substeps),
          pieces_(static_cast<std::size_t>(shape_.padded) * pieces_of<PointType>) {
        parts_.emplace_back(input, input.setup->devices.front(), 0, input.n(), stream_.get());
        set_resting(input);
        const std::size_t sent = static_cast<std::size_t>(input.n()) * pieces_of<PointType>;
        sent_ = DeviceArray<uint4>(2 * sent);
        check(cudaMemsetAsync(sent_.data(), 0, sent_.bytes(), stream_.get()), "clearing the stamps");
        auto& part = parts_.front();
        task_ = {.x = part.x.data(),
                 .v = part.v.data(),
                 .a = part.a.data(),
                 .factor = part.factor.data(),
                 .sent = {sent_.data(), sent_.data() + sent},
                 .resting = resting_.data(),
                 .control = part.control.data(),
                 .n = input.n(),
                 .shape = shape_,
                 .stamp = 1,
                 .moves = false,
                 .evaluations = 1,
                 .substeps = static_cast<int>(substeps_.size()),
                 .kick = {},
                 .drift = {},
                 .unscale = input.unscale,
                 .frame_scale = input.frame_scale,
                 .frame_unscale = 1.0 / input.frame_scale,
                 .softening2 = static_cast<Real>(input.frame_softening * input.frame_softening)};
    }

    /// True where all blocks can run at the same time, which the barrier needs.
    [[nodiscard]] bool fits() const {
        int device = 0, cooperative = 0, multiprocessors = 0, most_shared = 0, resident = 0;
        check(cudaGetDevice(&device), "asking for the GPU");
        check(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device), "asking the GPU");
        check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
              "asking the GPU");
        check(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
              "asking the GPU");
        if (cooperative == 0 || shared_bytes() > most_shared - 1024) return false;
        check(cudaFuncSetAttribute(persistent_kernel<PointType>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   shared_bytes()),
              "preparing the persistent kernel");
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, persistent_kernel<PointType>,
                                                            persistent_threads<PointType>,
                                                            static_cast<std::size_t>(shared_bytes())),
              "asking the GPU");
        return resident * multiprocessors >= shape_.blocks;
    }

    void evaluate() override {
        task_.moves = false;
        launch(1);
    }

    void steps(std::uint64_t count, double dt) override {
        task_.moves = true;
        for (std::size_t k = 0; k < substeps_.size(); ++k) {
            task_.drift[k] = substeps_[k] * dt;
            task_.kick[k] = 0.5 * task_.drift[k];
        }
        while (count > 0) {
            const auto now = std::min(count, most_steps_a_launch);
            launch(static_cast<int>(now * substeps_.size()));
            count -= now;
        }
    }

private:
    [[nodiscard]] int shared_bytes() const { return persistent_shared_bytes<PointType>(shape_); }

    void launch(int evaluations) {
        check(cudaSetDevice(parts_.front().device), "selecting a GPU");
        if (task_.stamp > last_stamp) restart_stamps();
        task_.evaluations = evaluations;
        void* arguments[] = {&task_};
        check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&persistent_kernel<PointType>),
                                          dim3(static_cast<unsigned>(shape_.blocks)),
                                          dim3(persistent_threads<PointType>), arguments,
                                          static_cast<std::size_t>(shared_bytes()), stream_.get()),
              "launching the persistent kernel");
        task_.stamp += static_cast<unsigned>(evaluations);
    }

    // Stamps begin again before they come to 0, which cleared buffers have.
    void restart_stamps() {
        check(cudaMemsetAsync(sent_.data(), 0, sent_.bytes(), stream_.get()), "clearing the stamps");
        task_.stamp = 1;
    }

    // Strengths, and points without strength beyond the last body, too far off to pull or meet.
    void set_resting(const MotionInput& input) {
        constexpr int in_piece = 16 / static_cast<int>(sizeof(Real));
        constexpr Real far_off = Real(1e18);
        std::vector<Real> host(pieces_ * in_piece, Real(0));
        const auto at = [&](int j, int axis) -> Real& {
            return host[static_cast<std::size_t>(((axis / in_piece) * shape_.padded + j) * in_piece +
                                                 axis % in_piece)];
        };
        for (int j = 0; j < shape_.padded; ++j) {
            for (int axis = 0; axis < 3; ++axis) at(j, axis) = j < input.n() ? Real(0) : far_off;
            at(j, 3) =
                j < input.n() ? static_cast<Real>(input.strength[static_cast<std::size_t>(j)]) : Real(0);
        }
        resting_ = DeviceArray<uint4>(pieces_);
        copy(resting_.data(), reinterpret_cast<const uint4*>(host.data()), pieces_, stream_.get());
        stream_.synchronize();
    }

    Stream stream_;
    PersistentShape shape_;
    std::vector<double> substeps_;
    std::size_t pieces_; ///< of 16 bytes, in shared memory
    DeviceArray<uint4> sent_, resting_;
    PersistentTask<PointType> task_{};
};

template <class PointType>
std::unique_ptr<Stepper> persistent_or_null(const MotionInput& input) {
    auto stepper = std::make_unique<Persistent<PointType>>(input);
    return stepper->fits() ? std::move(stepper) : nullptr;
}

} // namespace

std::unique_ptr<Stepper> make_persistent(const MotionInput& input) {
    use_device(input.setup->devices.front());
    switch (input.setup->precision) {
    case Precision::float32:
        return persistent_or_null<Point<float>>(input);
    case Precision::mixed:
        return persistent_or_null<MixedPoint>(input);
    default:
        return persistent_or_null<Point<double>>(input);
    }
}

} // namespace farfield::cuda
