#include "backend/simd/isa.h"

#include "base/spelling.h"

#include <farfield/error.h>

#include <fmt/core.h>

#include <string>

namespace farfield {

// A build may leave sets out (FARFIELD_LOOP_ISAS), which are then available nowhere.
// __builtin_cpu_supports also asks the operating system (XGETBV) whether it saves the wide registers.
bool is_available(Isa isa) {
    switch (isa) {
    case Isa::automatic:
    case Isa::scalar:
        return true;
#if defined(__x86_64__)
#if !defined(FF_WITHOUT_SSE42)
    case Isa::sse42:
        return __builtin_cpu_supports("sse4.2");
#endif
#if !defined(FF_WITHOUT_AVX2)
    case Isa::avx2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
#if !defined(FF_WITHOUT_AVX512)
    case Isa::avx512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma");
#endif
#endif
    default:
        return false;
    }
}

Isa best_isa() {
    for (auto isa : {Isa::avx512, Isa::avx2, Isa::sse42})
        if (is_available(isa)) return isa;
    return Isa::scalar;
}

Isa resolve_isa(Isa wanted) {
    if (wanted == Isa::automatic) return best_isa();
    if (is_available(wanted)) return wanted;
    std::string found;
    for (auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        if (is_available(isa)) found += fmt::format("{}{}", found.empty() ? "" : ", ", name_of(isa));
    throw BackendUnavailable(
        fmt::format("{} is not available on this machine, which has {}; use one of them or 'auto'",
                    spelled("isa", name_of(wanted)), found));
}

} // namespace farfield
