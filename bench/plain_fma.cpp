// Ten chains side by side, as a core has two units that take four cycles or five. Vectors are those of the
// instruction set that this file is compiled for.
#include "plain_fma.h"

#define FF_JOIN(name, isa) name##_##isa
#define FF_JOIN_EXPANDED(name, isa) FF_JOIN(name, isa)

namespace {

#if defined(__AVX512F__)
constexpr int bytes = 64;
#elif defined(__AVX__)
constexpr int bytes = 32;
#else
constexpr int bytes = 16;
#endif

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
    using Type = float __attribute__((vector_size(bytes)));
};
template <>
struct VectorOf<double> {
    using Type = double __attribute__((vector_size(bytes)));
};

template <class T>
double multiply_adds(long rounds) {
    using Vector = typename VectorOf<T>::Type;
    constexpr int chains = 10;
    constexpr int lanes = bytes / static_cast<int>(sizeof(T));
    // the compiler is not to know the factors
    volatile T factor = static_cast<T>(0.75), addend = static_cast<T>(0.25);
    const Vector a = Vector{} + factor, b = Vector{} + addend;
    Vector sums[chains];
    for (int k = 0; k < chains; ++k) sums[k] = Vector{} + static_cast<T>(k);
    for (long round = 0; round < rounds; ++round)
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC unroll 10
#endif
        for (int k = 0; k < chains; ++k) sums[k] = sums[k] * a + b;
    for (int k = 1; k < chains; ++k) sums[0] += sums[k];
    volatile T used = sums[0][0];
    static_cast<void>(used);
    return 2.0 * chains * lanes * static_cast<double>(rounds);
}

} // namespace

extern "C" double FF_JOIN_EXPANDED(ff_plain_fma, FF_ISA)(long rounds, int is_double) {
    return is_double != 0 ? multiply_adds<double>(rounds) : multiply_adds<float>(rounds);
}
