// The target `cuda` of a build with CUDA: the machine is a GPU. Kernels are loaded through the driver, which
// the CUDA runtime has opened already.
#include "stencil/runtime/cuda/cuda_executor.h"

#include "backend/cuda/device_scope.h"
#include "backend/cuda/devices.h"
#include "backend/cuda/memory.h"
#include "backend/cuda/stream.h"
#include "backend/jit/nvrtc.h"
#include "stencil/runtime/cuda/device_code.h"
#include "stencil/runtime/cuda/device_executor.h"

#include <farfield/error.h>

#include <cuda.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace farfield::stencil::cuda {

namespace {

using farfield::cuda::DeviceScope;

// The driver's functions that load and launch code; the runtime has others only from CUDA 12.8 on.
struct Driver {
    decltype(&cuModuleLoadData) load = nullptr;
    decltype(&cuModuleUnload) unload = nullptr;
    decltype(&cuModuleGetFunction) function = nullptr;
    decltype(&cuFuncSetAttribute) set = nullptr;
    decltype(&cuLaunchKernel) launch = nullptr;
    decltype(&cuGetErrorString) text = nullptr;

    Driver() {
        void* library = dlopen("libcuda.so.1", RTLD_NOW);
        if (library == nullptr)
            throw BackendUnavailable("there is no NVIDIA driver: libcuda.so.1 was not found");
        const auto find = [library](auto& pointer, const char* name) {
            pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(dlsym(library, name));
            if (pointer == nullptr) throw BackendUnavailable(fmt::format("the NVIDIA driver lacks {}", name));
        };
        find(load, "cuModuleLoadData");
        find(unload, "cuModuleUnload");
        find(function, "cuModuleGetFunction");
        find(set, "cuFuncSetAttribute");
        find(launch, "cuLaunchKernel");
        find(text, "cuGetErrorString");
    }
    void check(CUresult status, std::string_view doing) const {
        if (status == CUDA_SUCCESS) return;
        const char* words = nullptr;
        text(status, &words);
        throw DeviceError(
            fmt::format("CUDA failed while {}: {}", doing, words == nullptr ? "unknown error" : words));
    }
    static const Driver& get() {
        static const Driver driver;
        return driver;
    }
};

class GpuMachine : public Machine {
public:
    explicit GpuMachine(int device) : device_(device) {
        const DeviceScope scope(device_);
        channel_ = std::make_unique<Channel>();
    }
    ~GpuMachine() override {
        int before = 0;
        cudaGetDevice(&before);
        cudaSetDevice(device_);
        cudaStreamSynchronize(channel_->stream.get());
        copiers_.clear();
        graphs_.clear();
        if (module_ != nullptr) Driver::get().unload(module_);
        cudaSetDevice(before);
    }

    double load(const codegen::cuda::Plan& plan) override {
        const DeviceScope scope(device_);
        const auto all = farfield::cuda::devices();
        const auto& info = all.at(static_cast<std::size_t>(device_));
        description_ = fmt::format("{}, NVRTC {}", info.name, jit::nvrtc_version());
        const auto code = code_for(plan.source, fmt::format("sm_{}{}", info.major, info.minor));
        farfield::cuda::check(cudaFree(nullptr), "starting the GPU");
        Driver::get().check(Driver::get().load(&module_, code.image.data()), "loading kernels");
        for (const auto& pass : plan.passes)
            for (const auto& launch : pass.launches) find(launch);
        for (const auto& record : plan.records)
            for (const auto& launch : record.launches) find(launch);
        return code.seconds;
    }
    std::string description() const override { return description_; }
    void* allocate(std::size_t bytes) override {
        const DeviceScope scope(device_);
        memory_.emplace_back(bytes);
        return memory_.back().data();
    }
    void clear(void* memory, std::size_t bytes) override {
        const DeviceScope scope(device_);
        farfield::cuda::check(cudaMemsetAsync(memory, 0, bytes, channel_->stream.get()), "clearing memory");
    }
    void upload(void* to, const void* from, std::size_t bytes) override {
        const DeviceScope scope(device_);
        for (std::size_t at = 0; at < bytes; at += staging_bytes) {
            const auto piece = std::min(staging_bytes, bytes - at);
            channel_->stream.synchronize(); // what staged before has arrived
            std::memcpy(channel_->staging.data(), static_cast<const char*>(from) + at, piece);
            farfield::cuda::copy(static_cast<char*>(to) + at,
                                 static_cast<const char*>(channel_->staging.data()), piece,
                                 channel_->stream.get());
        }
    }
    void download(void* to, const void* from, std::size_t bytes) override {
        const DeviceScope scope(device_);
        for (std::size_t at = 0; at < bytes; at += staging_bytes) {
            const auto piece = std::min(staging_bytes, bytes - at);
            farfield::cuda::copy(channel_->staging.data(), static_cast<const char*>(from) + at, piece,
                                 channel_->stream.get());
            channel_->stream.synchronize();
            std::memcpy(static_cast<char*>(to) + at, channel_->staging.data(), piece);
        }
    }
    void upload_rows(void* to, const void* from, const PitchedRows& rows) override {
        if (rows.width > staging_bytes) { // a row is sent in pieces
            for (std::size_t row = 0; row < static_cast<std::size_t>(rows.count); ++row)
                upload(static_cast<char*>(to) + row * rows.pitch,
                       static_cast<const char*>(from) + row * rows.width, rows.width);
            return;
        }
        const DeviceScope scope(device_);
        each_staged(rows, [&](std::size_t row, std::size_t count) {
            channel_->stream.synchronize(); // what staged before has arrived
            std::memcpy(channel_->staging.data(), static_cast<const char*>(from) + row * rows.width,
                        count * rows.width);
            copy_rows(static_cast<char*>(to) + row * rows.pitch, rows.pitch, channel_->staging.data(),
                      rows.width, rows.width, count);
        });
    }
    void download_rows(void* to, const void* from, const PitchedRows& rows) override {
        if (rows.width > staging_bytes) {
            for (std::size_t row = 0; row < static_cast<std::size_t>(rows.count); ++row)
                download(static_cast<char*>(to) + row * rows.width,
                         static_cast<const char*>(from) + row * rows.pitch, rows.width);
            return;
        }
        const DeviceScope scope(device_);
        each_staged(rows, [&](std::size_t row, std::size_t count) {
            copy_rows(channel_->staging.data(), rows.width, static_cast<const char*>(from) + row * rows.pitch,
                      rows.pitch, rows.width, count);
            channel_->stream.synchronize();
            std::memcpy(static_cast<char*>(to) + row * rows.width, channel_->staging.data(),
                        count * rows.width);
        });
    }
    void copy(void* to, const void* from, std::size_t bytes) override {
        const DeviceScope scope(device_);
        constexpr std::size_t most_copiers = 6; // each copy waits some microseconds for its start
        if (copiers_.size() < most_copiers) copiers_.emplace_back();
        farfield::cuda::copy(static_cast<char*>(to), static_cast<const char*>(from), bytes,
                             copiers_[next_copier_++ % copiers_.size()].get());
    }
    std::vector<std::byte> handle_of(void* memory) override {
        const DeviceScope scope(device_);
        Handle handle{.process = ::getpid()};
        if (!succeeded(cudaIpcGetMemHandle(&handle.memory, memory))) return {};
        const auto bytes = std::as_bytes(std::span(&handle, 1));
        return {bytes.begin(), bytes.end()};
    }
    void* open(std::span<const std::byte> bytes) override {
        const DeviceScope scope(device_);
        Handle handle;
        std::memcpy(&handle, bytes.data(), sizeof handle);
        // threads that play ranks have one memory, which no handle opens
        if (handle.process == ::getpid()) return nullptr;
        void* memory = nullptr;
        return succeeded(cudaIpcOpenMemHandle(&memory, handle.memory, cudaIpcMemLazyEnablePeerAccess))
                   ? memory
                   : nullptr;
    }
    void close(void* memory) noexcept override {
        int before = 0;
        cudaGetDevice(&before);
        cudaSetDevice(device_);
        succeeded(cudaIpcCloseMemHandle(memory));
        cudaSetDevice(before);
    }
    void run(const std::vector<BoundLaunch>& launches, bool repeats) override {
        const DeviceScope scope(device_);
        if (!repeats || launches.size() < 2) {
            for (const auto& launch : launches) start(launch);
            return;
        }
        // The executor keeps lists that repeat, so their address names them.
        auto found = graphs_.find(&launches);
        if (found == graphs_.end())
            found = graphs_
                        .emplace(&launches, farfield::cuda::Graph(channel_->stream,
                                                                  [&] {
                                                                      for (const auto& launch : launches)
                                                                          start(launch);
                                                                  }))
                        .first;
        found->second.launch(channel_->stream);
    }
    void synchronize() override {
        const DeviceScope scope(device_);
        channel_->stream.synchronize();
        for (; next_copier_ > 0; --next_copier_)
            if (next_copier_ <= copiers_.size()) copiers_[next_copier_ - 1].synchronize();
    }

private:
    static constexpr std::size_t staging_bytes = std::size_t{32} << 20;
    struct Handle {
        pid_t process = 0;
        cudaIpcMemHandle_t memory{};
    };
    /// Calls visit(first row, rows) for as many rows at a time as can be staged. @pre width ≤ staging_bytes
    template <class Visit>
    static void each_staged(const PitchedRows& rows, const Visit& visit) {
        const auto all = static_cast<std::size_t>(rows.count);
        const auto most = staging_bytes / std::max<std::size_t>(1, rows.width);
        for (std::size_t row = 0; row < all; row += most) visit(row, std::min(most, all - row));
    }
    void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t count) {
        if (width == 0) return;
        farfield::cuda::check(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, count,
                                                cudaMemcpyDefault, channel_->stream.get()),
                              "copying rows of a field");
    }
    static bool succeeded(cudaError_t status) {
        if (status == cudaSuccess) return true;
        cudaGetLastError(); // another way is taken
        return false;
    }
    /// What must be made while the device is current.
    struct Channel {
        farfield::cuda::Stream stream;
        farfield::cuda::PinnedArray<char> staging{staging_bytes};
    };

    void find(const codegen::cuda::Launch& launch) {
        CUfunction function = nullptr;
        Driver::get().check(Driver::get().function(&function, module_, launch.function.c_str()),
                            "finding a kernel");
        Driver::get().check(
            Driver::get().set(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.shared_bytes),
            fmt::format("asking for {} bytes of shared memory", launch.shared_bytes));
        functions_[launch.function] = function;
    }
    void start(const BoundLaunch& bound) {
        const auto& launch = *bound.launch;
        std::vector<void*> parameters;
        for (const auto& value : bound.values) parameters.push_back(const_cast<std::uint64_t*>(&value));
        const auto side = [&](std::size_t a) { return static_cast<unsigned>(launch.threads[a]); };
        Driver::get().check(Driver::get().launch(functions_.at(launch.function),
                                                 static_cast<unsigned>(launch.blocks), 1, 1, side(0), side(1),
                                                 side(2), static_cast<unsigned>(launch.shared_bytes),
                                                 channel_->stream.get(), parameters.data(), nullptr),
                            fmt::format("launching {}", launch.function));
    }

    int device_;
    std::unique_ptr<Channel> channel_;
    std::vector<farfield::cuda::Stream> copiers_; ///< of copies from other GPUs, beside each other
    std::size_t next_copier_ = 0;                 ///< copies since they were waited for
    std::vector<farfield::cuda::DeviceArray<char>> memory_;
    std::map<const void*, farfield::cuda::Graph> graphs_;
    std::map<std::string, CUfunction> functions_;
    CUmodule module_ = nullptr;
    std::string description_;
};

} // namespace

bool is_usable() { return farfield::cuda::why_no_device().empty() && jit::why_no_nvrtc().empty(); }

std::unique_ptr<Executor> make_cuda_executor(std::shared_ptr<const ir::Program> program,
                                             const ExecutorOptions& options) {
    if (auto reason = jit::why_no_nvrtc(); !reason.empty()) throw BackendUnavailable(reason);
    return std::make_unique<DeviceExecutor>(std::move(program), options,
                                            std::make_unique<GpuMachine>(options.device));
}

} // namespace farfield::stencil::cuda
