// The texts that stand above generated code: operations that C++ has no operator for, and what the portable
// functions need of a compiler that reads no headers.
#include "stencil/codegen/expressions.h"

namespace farfield::stencil::codegen {

std::string_view operation_functions() {
    return R"(// Operations that C++ has no operator for. Whole numbers wrap around.
template <class T>
FF_HD inline T minimum(T a, T b) {
    return b < a ? b : a;
}
template <class T>
FF_HD inline T maximum(T a, T b) {
    return a < b ? b : a;
}
FF_HD inline long long wrapping_add(long long a, long long b) {
    return (long long)((unsigned long long)a + (unsigned long long)b);
}
FF_HD inline long long wrapping_subtract(long long a, long long b) {
    return (long long)((unsigned long long)a - (unsigned long long)b);
}
FF_HD inline long long wrapping_multiply(long long a, long long b) {
    return (long long)((unsigned long long)a * (unsigned long long)b);
}
FF_HD inline long long wrapping_negate(long long a) { return wrapping_subtract(0, a); }
FF_HD inline long long wrapping_abs(long long a) { return a < 0 ? wrapping_negate(a) : a; }
// GCC makes -fma(a, b, c) an fma of -a, b and -c, which differs where the sum is 0: this is the negative of either 0.
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
inline double negated(double x) {
    unsigned long long bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    bits ^= 0x8000000000000000ull;
    __builtin_memcpy(&x, &bits, sizeof(bits));
    return x;
}
inline float negated(float x) {
    unsigned int bits;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    bits ^= 0x80000000u;
    __builtin_memcpy(&x, &bits, sizeof(bits));
    return x;
}
#else
template <class T>
FF_HD inline T negated(T x) {
    return -x;
}
#endif
// Rounds down; 0 where b is 0.
FF_HD inline long long floor_divide(long long a, long long b) {
    if (b == 0) return 0;
    if (b == -1) return wrapping_negate(a);
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}
// Has the sign of b; 0 where b is 0.
FF_HD inline long long floor_remainder(long long a, long long b) {
    if (b == 0 || b == -1) return 0;
    const long long r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
)";
}

std::string_view host_prelude() {
    return R"(#define FF_HD
namespace ff_std {
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
inline void memcpy(void* to, const void* from, __SIZE_TYPE__ size) { __builtin_memcpy(to, from, size); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
} // namespace ff_std
)";
}

} // namespace farfield::stencil::codegen
