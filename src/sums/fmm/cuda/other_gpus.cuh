// The GPUs beside the first one of a fast multipole sum: each has copies of the caller's arrays and a share
// of the targets.
#pragma once

#include "backend/cuda/device_scope.h"
#include "backend/cuda/stream.h"
#include "backend/threads/crew.h"
#include "base/arrays.h"
#include "sums/direct/cuda/several/exchange.cuh"
#include "sums/fmm/cuda/fmm_part.cuh"

#include <farfield/sum_options.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace farfield::cuda {

/// Made, and used, with it current.
struct OtherGpu {
    OtherGpu(int device, TreeShare share) : device(device), part(share) {}

    int device;
    Stream stream, early; ///< for sums; for copies of those that need not wait for all
    Signal done;
    DeviceArray<double> sources, targets, strengths, dipoles; ///< as the caller gave them, in double
    FmmPart part;

    /// An array without rows, which may be null, is an array, too.
    void copy_to(DeviceArray<double>& to, const double* from, std::size_t count) {
        make_room(to, std::max<std::size_t>(1, count));
        if (from != nullptr) copy(to.data(), from, count, stream.get());
    }
};

class OtherGpus {
public:
    /// @param devices  the first one has the caller's arrays, and is not among the others
    OtherGpus(const std::vector<int>& devices, const SumOptions& options) : first_(devices.front()) {
        const int count = static_cast<int>(devices.size());
        if (count == 1) return;
        if (options.exchange == Exchange::automatic || options.exchange == Exchange::peer)
            usable_exchange(options.exchange, devices); // otherwise copies go by the host
        for (int k = 1; k < count; ++k) {
            const auto device = devices[static_cast<std::size_t>(k)];
            const DeviceScope scope(device);
            gpus_.push_back(std::make_unique<OtherGpu>(device, TreeShare{k, count}));
        }
        if (options.multi_gpu == MultiGpu::threads) crew_ = std::make_unique<Crew>(count);
    }

    [[nodiscard]] bool empty() const { return gpus_.empty(); }
    template <class Use>
    void for_each(const Use& use) const {
        for (const auto& gpu : gpus_) use(*gpu);
    }

    /// Calls first(), and other(gpu) for each of these, with their GPUs current, side by side or in turn;
    /// returns when all have.
    template <class First, class Other>
    void run_with_first(const First& first, const Other& other) {
        const auto with_device = [&](int k) {
            if (k == 0) {
                const DeviceScope scope(first_);
                return first();
            }
            auto& gpu = *gpus_[static_cast<std::size_t>(k - 1)];
            const DeviceScope scope(gpu.device);
            other(gpu);
        };
        if (crew_) return crew_->run(with_device);
        for (int k = static_cast<int>(gpus_.size()); k >= 0; --k) with_device(k);
    }

    /// These copy an array of the caller's as it is once `stream` has come here; false, and nothing is done,
    /// unless it is in double, contiguous, and on the first GPU.
    bool send(const ConstArrayView& view, std::int64_t rows, int columns, DeviceArray<double> OtherGpu::*to,
              cudaStream_t stream) {
        const bool plain = view.device.type == DeviceType::cuda && view.device.index == first_ &&
                           view.dtype == DType::float64 && is_contiguous(view, rows, columns);
        if (!plain || empty()) return false;
        arrays_there_.record(stream);
        for_each([&](OtherGpu& gpu) {
            const DeviceScope scope(gpu.device);
            arrays_there_.hold(gpu.stream.get());
            gpu.copy_to(gpu.*to, static_cast<const double*>(view.data),
                        static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns));
        });
        return true;
    }

    /// Calls call(); if that throws, waits for all that GPUs still do: with arrays that the caller may then
    /// give up, and with what the next call makes anew.
    template <class Call>
    void wait_if_refused(const Call& call) const {
        try {
            call();
        } catch (...) {
            const auto wait = [](int device) {
                if (cudaSetDevice(device) == cudaSuccess) cudaDeviceSynchronize();
            };
            for_each([&](const OtherGpu& gpu) { wait(gpu.device); });
            if (!empty()) wait(first_); // and leaves it current
            throw;
        }
    }

private:
    int first_;
    Signal arrays_there_;
    std::vector<std::unique_ptr<OtherGpu>> gpus_;
    std::unique_ptr<Crew> crew_; ///< a thread for each GPU
};

} // namespace farfield::cuda
