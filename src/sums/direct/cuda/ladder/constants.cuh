// The parameters that the rungs from `constant` on keep in constant memory. They are copied when they change:
// once for a simulation, or for a plan that is executed again, as on the slides. Each object that includes
// this file has a constant memory of its own.
#pragma once

#include "sums/direct/cuda/launch.cuh"

#include <map>
#include <mutex>
#include <type_traits>

namespace farfield::cuda {

// What `constant` moves out of the kernels' parameter lists. One block a precision and GPU: sums of the rungs
// that use it must not overlap on different streams.
template <class Real>
struct Parameters {
    Arrays<Real> body;
    Vec4<Real>* sums;
    int n;
    Real softening2;
};
static __constant__ Parameters<float> parameters_float;
static __constant__ Parameters<double> parameters_double;

template <class Real>
__device__ __forceinline__ const Parameters<Real>& parameters() {
    if constexpr (sizeof(Real) == sizeof(float))
        return parameters_float;
    else
        return parameters_double;
}

namespace { // the constants are this object's, so what writes them must be as well

template <class Real>
bool is_same(const Parameters<Real>& a, const Parameters<Real>& b) {
    return a.body.x == b.body.x && a.body.y == b.body.y && a.body.z == b.body.z &&
           a.body.mass == b.body.mass && a.sums == b.sums && a.n == b.n && a.softening2 == b.softening2;
}

/// Brings the task's parameters to the current GPU, unless they are there.
template <class Real>
void set_parameters(const LadderTask<Real>& task, cudaStream_t stream) {
    static std::mutex mutex;
    static std::map<int, Parameters<Real>> held; // by GPU
    const Parameters<Real> values{task.arrays, task.sums, task.n, task.softening2};
    int device = 0;
    check(cudaGetDevice(&device), "finding the current GPU");
    const std::lock_guard lock(mutex);
    if (const auto place = held.find(device); place != held.end() && is_same(place->second, values)) return;
    held.erase(device); // not known where the copy fails
    void* symbol = nullptr;
    if constexpr (std::is_same_v<Real, float>)
        check(cudaGetSymbolAddress(&symbol, parameters_float), "finding the constant memory");
    else
        check(cudaGetSymbolAddress(&symbol, parameters_double), "finding the constant memory");
    check(cudaMemcpyAsync(symbol, &values, sizeof values, cudaMemcpyHostToDevice, stream),
          "setting parameters");
    check(cudaStreamSynchronize(stream), "setting parameters"); // the next sum may be on another stream
    held.insert({device, values});
}

} // namespace

} // namespace farfield::cuda
