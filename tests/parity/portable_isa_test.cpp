// The portable functions give the same bits as scalars, as vectorised loops and as batches of every
// instruction set, and the bits that they gave when the hashes below were written down (on an Intel CPU, GCC
// 12).
#include "effort.h"
#include "parity/portable_cases.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

using namespace farfield;

#define FF_DECLARE(name)                                                                                     \
    extern "C" void name##_double(int, const double*, const double*, double*, std::size_t);                  \
    extern "C" void name##_float(int, const float*, const float*, float*, std::size_t);
FF_DECLARE(portable_loop_baseline)
FF_DECLARE(portable_loop_avx2)
FF_DECLARE(portable_loop_avx512)
FF_DECLARE(portable_batch_sse42)
FF_DECLARE(portable_batch_avx2)
FF_DECLARE(portable_batch_avx512)

namespace {

const std::size_t count = test::sized(std::size_t{1} << 20, std::size_t{1} << 16);
constexpr std::size_t hashed = 100000;

template <class T>
using Loop = void (*)(int, const T*, const T*, T*, std::size_t);

struct Build {
    const char* name;
    bool runs_here;
    Loop<double> of_double;
    Loop<float> of_float;
};

std::vector<Build> builds() {
    __builtin_cpu_init();
    const bool sse42 = __builtin_cpu_supports("sse4.2") != 0;
    const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    const bool avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
                        __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0;
    return {{"scalar, baseline", true, portable_loop_baseline_double, portable_loop_baseline_float},
            {"scalar, AVX2+FMA", avx2, portable_loop_avx2_double, portable_loop_avx2_float},
            {"scalar, AVX-512", avx512, portable_loop_avx512_double, portable_loop_avx512_float},
            {"batch, SSE4.2", sse42, portable_batch_sse42_double, portable_batch_sse42_float},
            {"batch, AVX2+FMA", avx2, portable_batch_avx2_double, portable_batch_avx2_float},
            {"batch, AVX-512", avx512, portable_batch_avx512_double, portable_batch_avx512_float}};
}

template <class T>
void compare(const Build& build, Loop<T> loop) {
    std::vector<T> x(count);
    std::vector<T> y(count);
    for (std::size_t i = 0; i < count; ++i) {
        x[i] = portable_cases::argument<T>(i, 1);
        y[i] = portable_cases::argument<T>(i, 2);
    }
    std::vector<T> got(count);
    for (int f = 0; f < portable_cases::functions; ++f) {
        loop(f, x.data(), y.data(), got.data(), count);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const T want = portable_cases::evaluate(f, x[i], y[i]);
            if (std::memcmp(&want, &got[i], sizeof want) != 0 && wrong++ == 0)
                ADD_FAILURE() << build.name << " " << portable_cases::names[f] << "(" << x[i] << ", " << y[i]
                              << ") = " << got[i] << ", scalar " << want;
        }
        EXPECT_EQ(wrong, 0U) << build.name << " " << portable_cases::names[f];
    }
}

template <class T>
std::uint64_t hash_of(int f) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < hashed; ++i) sum += portable_cases::share_of_case<T>(f, i);
    return sum;
}

class PortableIsa : public testing::TestWithParam<std::size_t> {};

} // namespace

TEST_P(PortableIsa, SameBitsAsScalar) {
    const Build build = builds()[GetParam()];
    if (!build.runs_here) GTEST_SKIP() << "this CPU lacks the instructions of: " << build.name;
    compare<double>(build, build.of_double);
    compare<float>(build, build.of_float);
}
INSTANTIATE_TEST_SUITE_P(EveryBuild, PortableIsa, testing::Range(std::size_t{0}, std::size_t{6}));

TEST(PortableGolden, BitsNeverMove) {
    const std::array<std::uint64_t, 7> of_double{
        0x43C00080DE6F452U,  0x99DCA17F01B5ABD5U, 0x1BEB28A96B17AF6EU, 0x666A2BB81AFE9990U,
        0x5CEBFCB91F1C2176U, 0x737A72D341A2C145U, 0x6448573E0175F18BU};
    const std::array<std::uint64_t, 7> of_float{0xD600FFAF047AC04DU, 0x5F7237B7E92F4533U, 0xFB59D0BFC0DD19D3U,
                                                0xEB3CE6BF79AEFE32U, 0x5D6230E34F4D07EEU, 0xD6E9DA061C51A70BU,
                                                0x76FDDECC655C3233U};
    for (int f = 0; f < portable_cases::functions; ++f) {
        EXPECT_EQ(hash_of<double>(f), of_double[static_cast<std::size_t>(f)])
            << "double " << portable_cases::names[f];
        EXPECT_EQ(hash_of<float>(f), of_float[static_cast<std::size_t>(f)])
            << "float " << portable_cases::names[f];
    }
}
