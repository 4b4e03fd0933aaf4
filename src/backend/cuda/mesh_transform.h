// Fourier transforms of real meshes on a GPU, by cuFFT. It is loaded when the first is made, so that programs
// start without it; its few functions are declared here, so that no header of it is needed.
#pragma once

#include "backend/cuda/memory.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace farfield::cuda {

/// Of meshes [z][y][x]; spectra are [z][y][x] for 0 ≤ x ≤ n_x/2. None is scaled: forward and backward give
/// the number of mesh points times what was there. The same mesh has the same bits each time.
class MeshTransformOnGpu {
public:
    /// n_x, n_y and n_z, on the current GPU. @throws BackendUnavailable without cuFFT; DeviceError.
    explicit MeshTransformOnGpu(const std::array<std::int32_t, 3>& mesh);
    MeshTransformOnGpu(const MeshTransformOnGpu&) = delete;
    MeshTransformOnGpu& operator=(const MeshTransformOnGpu&) = delete;
    ~MeshTransformOnGpu();

    /// Complex numbers of a spectrum.
    [[nodiscard]] std::size_t waves() const { return waves_; }

    /// Real and imaginary parts side by side. Σ x e^(−ik·r)
    void forward(double* mesh, double* spectrum, cudaStream_t stream);
    /// Σ x e^(+ik·r); the spectrum is overwritten.
    void backward(double* spectrum, double* mesh, cudaStream_t stream);

    /// @throws BackendUnavailable without cuFFT.
    static void require();

private:
    std::size_t waves_;
    int device_ = 0;
    int forward_ = -1, backward_ = -1;
    DeviceArray<std::byte> work_;
};

} // namespace farfield::cuda
