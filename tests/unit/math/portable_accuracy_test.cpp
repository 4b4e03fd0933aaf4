// The portable functions against the C library's in long double (64-bit mantissa, error below 1 ulp of it, so
// the oracle is off by at most 2^-11 ulp of a double). Bounds are what README.md of math/portable promises;
// the worst argument is printed.
#include "math/portable/functions.h"

#include "base/random.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace farfield;

namespace {

constexpr std::uint64_t seed = 20240229;
constexpr int count = 200000;

// |got − want| in units of the last place that `T` has at `want`.
template <class T>
double ulps(T got, long double want) {
    using Limits = std::numeric_limits<T>;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    if (std::isnan(want)) return std::isnan(got) ? 0.0 : infinite;
    const T nearest = static_cast<T>(want);
    if (std::isinf(nearest) || std::isinf(got)) return got == nearest ? 0.0 : infinite;
    if (std::isnan(got)) return infinite;
    const int exponent =
        want == 0.0L ? Limits::min_exponent : std::max(std::ilogb(want) + 1, Limits::min_exponent);
    const long double ulp = std::ldexp(1.0L, exponent - Limits::digits);
    return static_cast<double>(std::abs(static_cast<long double>(got) - want) / ulp);
}

template <class T>
T any_bits(RandomStream& random) {
    using Bits = typename portable::Format<T>::Bits;
    const auto bits = static_cast<Bits>(random.next_bits() >> (64 - 8 * sizeof(Bits)));
    T x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

struct Range {
    double low;
    double high;
};

template <class T>
class Sweep {
public:
    Sweep(std::string name, double bound) : name_(std::move(name)), bound_(bound) {}
    ~Sweep() {
        fmt::print("{}<{}>: {:.3f} ulp at {}\n", name_, sizeof(T) == 8 ? "double" : "float", worst_, where_);
        EXPECT_LE(worst_, bound_) << name_ << " at " << where_ << ", seed " << seed;
    }
    Sweep(const Sweep&) = delete;
    Sweep& operator=(const Sweep&) = delete;

    void check(T x, T y, T got, long double want) {
        const double error = ulps(got, want);
        if (error <= worst_) return;
        worst_ = error;
        where_ = fmt::format("({}, {})", x, y);
    }

private:
    std::string name_;
    double bound_;
    double worst_ = 0.0;
    std::string where_ = "nowhere";
};

// Over all bit patterns and over the ranges where the function is not trivial.
template <class T, class F, class G>
void sweep(const char* name, double bound, std::initializer_list<Range> ranges, F function, G oracle) {
    Sweep<T> result(name, bound);
    RandomStream random(seed, 0, 0);
    const auto check = [&](T x) { result.check(x, T(0), function(x), oracle(static_cast<long double>(x))); };
    for (int i = 0; i < count; ++i) check(any_bits<T>(random));
    for (const Range& range : ranges)
        for (int i = 0; i < count; ++i)
            check(static_cast<T>(range.low + (range.high - range.low) * random.next_uniform()));
}

template <class T>
class PortableMath : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(PortableMath, Types);

template <class T>
constexpr double exponent_limit = sizeof(T) == 8 ? 746.0 : 104.5;

} // namespace

TYPED_TEST(PortableMath, Exp) {
    using T = TypeParam;
    const double limit = exponent_limit<T>;
    sweep<T>(
        "exp", 1.0, {{-limit, limit}, {-1, 1}, {-limit, -0.95 * limit}}, [](T x) { return portable::exp(x); },
        [](long double x) { return std::exp(x); });
}

TYPED_TEST(PortableMath, Log) {
    using T = TypeParam;
    sweep<T>(
        "log", 1.0, {{0.5, 2}, {0.99, 1.01}, {0, 100}}, [](T x) { return portable::log(x); },
        [](long double x) { return std::log(x); });
}

TYPED_TEST(PortableMath, SinCos) {
    using T = TypeParam;
    const auto ranges = {Range{-7, 7}, Range{-2000, 2000}, Range{-2e6, 2e6}};
    sweep<T>(
        "sin", 1.0, ranges, [](T x) { return portable::sin(x); }, [](long double x) { return std::sin(x); });
    sweep<T>(
        "cos", 1.0, ranges, [](T x) { return portable::cos(x); }, [](long double x) { return std::cos(x); });
}

TYPED_TEST(PortableMath, SinCosNearMultiplesOfHalfPi) {
    using T = TypeParam;
    Sweep<T> sine("sin near kπ/2", 1.0);
    Sweep<T> cosine("cos near kπ/2", 1.0);
    const auto check = [&](T x) {
        sine.check(x, T(0), portable::sin(x), std::sin(static_cast<long double>(x)));
        cosine.check(x, T(0), portable::cos(x), std::cos(static_cast<long double>(x)));
    };
    RandomStream random(seed, 1, 0);
    for (int i = 0; i < count; ++i) {
        const double k = std::floor(std::exp2(40.0 * random.next_uniform()));
        check(static_cast<T>(static_cast<long double>(k) * 1.57079632679489661923132169163975144L));
    }
    // The double and the float closest to a multiple of π/2 (Muller, Elementary Functions): within 2^-60.9,
    // 2^-29.2.
    check(static_cast<T>(std::ldexp(6381956970095103.0, 797)));
    check(static_cast<T>(std::ldexp(16367173.0, 72)));
}

TYPED_TEST(PortableMath, Tanh) {
    using T = TypeParam;
    sweep<T>(
        "tanh", 1.5, {{-2, 2}, {0.6, 0.65}, {-25, 25}}, [](T x) { return portable::tanh(x); },
        [](long double x) { return std::tanh(x); });
}

TYPED_TEST(PortableMath, Cbrt) {
    using T = TypeParam;
    sweep<T>(
        "cbrt", 1.0, {{-8, 8}, {1, 8}}, [](T x) { return portable::cbrt(x); },
        [](long double x) { return std::cbrt(x); });
}

TYPED_TEST(PortableMath, Pow) {
    using T = TypeParam;
    const double limit = exponent_limit<T>;
    Sweep<T> result("pow", 1.1);
    RandomStream random(seed, 2, 0);
    const auto check = [&](T x, T y) {
        result.check(x, y, portable::pow(x, y),
                     std::pow(static_cast<long double>(x), static_cast<long double>(y)));
    };
    const auto symmetric = [&](double size) { return size * (2.0 * random.next_uniform() - 1.0); };
    for (int i = 0; i < count; ++i) check(any_bits<T>(random), any_bits<T>(random));
    for (int i = 0; i < count; ++i) { // every base, results over the whole range
        const T x = static_cast<T>(std::exp(symmetric(limit)));
        check(x, static_cast<T>(symmetric(limit) / std::log(static_cast<double>(x))));
    }
    for (int i = 0; i < count; ++i) { // bases near 1, where the logarithm loses digits
        const T x = static_cast<T>(0.7 + 0.8 * random.next_uniform());
        check(x, static_cast<T>(symmetric(limit) / std::log(static_cast<double>(x))));
    }
    for (int i = 0; i < count; ++i)
        check(static_cast<T>(symmetric(30)), static_cast<T>(std::round(symmetric(40))));
}

// Zeros with their signs, infinities, NaN, and the corners between them, as C's Annex F has them.
TYPED_TEST(PortableMath, SpecialValues) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    const std::vector<T> values{T(0),
                                -T(0),
                                T(1),
                                -T(1),
                                T(0.5),
                                -T(0.5),
                                T(2),
                                -T(2),
                                T(3),
                                -T(3),
                                T(1.5),
                                -T(1.5),
                                T(8388607),
                                -T(8388607),
                                T(16777215),
                                -T(16777217),
                                T(9007199254740991.0),
                                -T(9007199254740991.0),
                                T(1e30),
                                -T(1e30),
                                Limits::max(),
                                Limits::lowest(),
                                Limits::min(),
                                -Limits::min(),
                                Limits::denorm_min(),
                                -Limits::denorm_min(),
                                T(1) + Limits::epsilon(),
                                T(1) - Limits::epsilon(),
                                Limits::infinity(),
                                -Limits::infinity(),
                                Limits::quiet_NaN(),
                                -Limits::quiet_NaN()};
    const auto same = [](T got, long double want) {
        return ulps(got, want) <= 1.5 &&
               (std::isnan(want) || std::signbit(got) == std::signbit(static_cast<T>(want)));
    };
    for (const T x : values) {
        const auto wide = static_cast<long double>(x);
        EXPECT_TRUE(same(portable::exp(x), std::exp(wide))) << "exp " << x;
        EXPECT_TRUE(same(portable::log(x), std::log(wide))) << "log " << x;
        EXPECT_TRUE(same(portable::sin(x), std::sin(wide))) << "sin " << x;
        EXPECT_TRUE(same(portable::cos(x), std::cos(wide))) << "cos " << x;
        EXPECT_TRUE(same(portable::tanh(x), std::tanh(wide))) << "tanh " << x;
        EXPECT_TRUE(same(portable::cbrt(x), std::cbrt(wide))) << "cbrt " << x;
        for (const T y : values)
            EXPECT_TRUE(same(portable::pow(x, y), std::pow(wide, static_cast<long double>(y))))
                << "pow " << x << " " << y << " = " << portable::pow(x, y);
    }
}

// A NaN has one bit pattern, whatever went in: machines differ in the ones they make.
TYPED_TEST(PortableMath, OneNaN) {
    using T = TypeParam;
    using L = portable::Lanes<T>;
    const T nan = -std::numeric_limits<T>::quiet_NaN();
    const auto expected = portable::Format<T>::quiet_nan;
    for (const T got : {portable::exp(nan), portable::log(nan), portable::log(T(-1)), portable::sin(nan),
                        portable::cos(std::numeric_limits<T>::infinity()), portable::tanh(nan),
                        portable::cbrt(nan), portable::pow(nan, T(2)), portable::pow(T(-2), T(0.5))})
        EXPECT_EQ(L::bits(got), expected);
}
