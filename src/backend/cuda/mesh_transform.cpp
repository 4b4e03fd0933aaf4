#include "backend/cuda/mesh_transform.h"

#include "backend/jit/cuda_library.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace farfield::cuda {
namespace {

/// Of CUDA 13 and 12.
constexpr std::array names{"libcufft.so.12", "libcufft.so.11", "libcufft.so"};
constexpr int real_to_complex = 0x6a, complex_to_real = 0x6c; // CUFFT_D2Z and CUFFT_Z2D

struct Library {
    int (*create)(int*) = nullptr;
    int (*destroy)(int) = nullptr;
    int (*set_auto_allocation)(int, int) = nullptr;
    int (*make_plan)(int, int, int, int, int, std::size_t*) = nullptr;
    int (*set_work_area)(int, void*) = nullptr;
    int (*set_stream)(int, cudaStream_t) = nullptr;
    int (*forward)(int, double*, void*) = nullptr;
    int (*backward)(int, void*, double*) = nullptr;
    std::string problem; ///< why it cannot be used
};

template <class Function>
void find(void* handle, const char* name, Function*& function, std::string& problem) {
    function = jit::function_of<Function>(handle, name);
    if (function == nullptr && problem.empty()) problem = fmt::format("cuFFT lacks the function {}", name);
}

Library load() {
    Library library;
    void* const handle = jit::open_first(jit::cuda_library_paths("FARFIELD_CUFFT", names));
    if (handle == nullptr) {
        library.problem = "meshes cannot be transformed on a GPU: cuFFT (libcufft.so.12 or .11) was not "
                          "found; install the CUDA toolkit, name the file in FARFIELD_CUFFT, or compute on "
                          "the CPU";
        return library;
    }
    find(handle, "cufftCreate", library.create, library.problem);
    find(handle, "cufftDestroy", library.destroy, library.problem);
    find(handle, "cufftSetAutoAllocation", library.set_auto_allocation, library.problem);
    find(handle, "cufftMakePlan3d", library.make_plan, library.problem);
    find(handle, "cufftSetWorkArea", library.set_work_area, library.problem);
    find(handle, "cufftSetStream", library.set_stream, library.problem);
    find(handle, "cufftExecD2Z", library.forward, library.problem);
    find(handle, "cufftExecZ2D", library.backward, library.problem);
    return library;
}

const Library& usable() {
    static const Library loaded = load();
    if (!loaded.problem.empty()) throw BackendUnavailable(loaded.problem);
    return loaded;
}

void require_success(int status, const char* doing) {
    if (status == 0) return;
    constexpr int allocation_failed = 2; // CUFFT_ALLOC_FAILED
    check(status == allocation_failed ? cudaErrorMemoryAllocation : cudaGetLastError(), doing);
    throw DeviceError(fmt::format("cuFFT failed while {}: status {}", doing, status));
}

std::size_t make(int& plan, const std::array<std::int32_t, 3>& mesh, int type) {
    const auto& library = usable();
    require_success(library.create(&plan), "planning a transform");
    require_success(library.set_auto_allocation(plan, 0), "planning a transform");
    std::size_t bytes = 0;
    require_success(library.make_plan(plan, mesh[2], mesh[1], mesh[0], type, &bytes), "planning a transform");
    return bytes;
}

} // namespace

void MeshTransformOnGpu::require() { static_cast<void>(usable()); }

MeshTransformOnGpu::MeshTransformOnGpu(const std::array<std::int32_t, 3>& mesh)
    : waves_(static_cast<std::size_t>(mesh[0] / 2 + 1) * static_cast<std::size_t>(mesh[1]) *
             static_cast<std::size_t>(mesh[2])) {
    check(cudaGetDevice(&device_), "asking the GPU");
    try {
        const auto forth = make(forward_, mesh, real_to_complex),
                   back = make(backward_, mesh, complex_to_real);
        work_ = DeviceArray<std::byte>(std::max<std::size_t>(1, std::max(forth, back)));
        for (const int plan : {forward_, backward_})
            require_success(usable().set_work_area(plan, work_.data()), "planning a transform");
    } catch (...) {
        for (const int plan : {forward_, backward_})
            if (plan >= 0) usable().destroy(plan);
        throw;
    }
}

// On the GPU of its plans, whichever is current.
MeshTransformOnGpu::~MeshTransformOnGpu() {
    int before = device_;
    cudaGetDevice(&before);
    if (before != device_) cudaSetDevice(device_);
    for (const int plan : {forward_, backward_}) usable().destroy(plan);
    if (before != device_) cudaSetDevice(before);
}

void MeshTransformOnGpu::forward(double* mesh, double* spectrum, cudaStream_t stream) {
    require_success(usable().set_stream(forward_, stream), "transforming a mesh");
    require_success(usable().forward(forward_, mesh, spectrum), "transforming a mesh");
}

void MeshTransformOnGpu::backward(double* spectrum, double* mesh, cudaStream_t stream) {
    require_success(usable().set_stream(backward_, stream), "transforming a mesh");
    require_success(usable().backward(backward_, spectrum, mesh), "transforming a mesh");
}

} // namespace farfield::cuda
