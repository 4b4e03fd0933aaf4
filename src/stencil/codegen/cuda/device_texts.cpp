// Fixed text of generated CUDA C++: indices beyond the ends of a grid, pairs, and what the portable functions
// need.
#include "stencil/codegen/cuda/forms.h"

namespace farfield::stencil::codegen::cuda {

std::string_view device_prelude() {
    return R"(#define FF_HD __device__
namespace ff_std {
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
static inline FF_HD void memcpy(void* to, const void* from, unsigned long size) { ::memcpy(to, from, size); }
static inline FF_HD double sqrt(double x) { return ::sqrt(x); }
static inline FF_HD float sqrt(float x) { return ::sqrtf(x); }
} // namespace ff_std
)";
}

std::string_view device_helpers() {
    return R"(// Cells `count` from x on of the row (y, z).
struct Item {
    int x, count, y, z;
};

// An overlapped tile: its first cell, a bit for each kernel that has cells in it, and whether no test is needed.
struct Tile {
    int x, y, z;
    unsigned some;
    int plain;
};

template <class T>
struct alignas(2 * sizeof(T)) Pair {
    T first, second;
};
template <class T>
static __device__ __forceinline__ Pair<T> load_pair(const T* from) {
    return *reinterpret_cast<const Pair<T>*>(from);
}
template <class T>
static __device__ __forceinline__ void store_pair(T* to, T first, T second) {
    *reinterpret_cast<Pair<T>*>(to) = Pair<T>{first, second};
}

static __device__ __forceinline__ bool is_among(long long row, long long first, long long end) {
    return row >= first && row < end;
}

// Cells beyond the ends 0 and n of an axis.
template <int n>
static __device__ __forceinline__ bool inside(int i) {
    return i >= 0 && i < n;
}
template <int first, int end>
static __device__ __forceinline__ bool between(int i) {
    return i >= first && i < end;
}
template <int n> // not more than n away
static __device__ __forceinline__ int around(int i) {
    return i < 0 ? i + n : i >= n ? i - n : i;
}
template <int n> // from anywhere
static __device__ __forceinline__ int wrapped(int i) {
    const int rest = i % n;
    return rest < 0 ? rest + n : rest;
}
template <int n>
static __device__ __forceinline__ int nearest(int i) {
    return i < 0 ? 0 : i >= n ? n - 1 : i;
}
template <int n> // not more than n away
static __device__ __forceinline__ int reflected(int i) {
    return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
}

// Of equal values the first; a NaN stays.
static __device__ __forceinline__ double plus(double a, double b) { return a + b; }
static __device__ __forceinline__ double larger(double a, double b) { return a != a ? a : b != b || a < b ? b : a; }
static __device__ __forceinline__ double smaller(double a, double b) { return a != a ? a : b != b || b < a ? b : a; }
)";
}

} // namespace farfield::stencil::codegen::cuda
