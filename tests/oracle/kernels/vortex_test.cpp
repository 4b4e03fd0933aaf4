// Sums of vortices by every method, precision and instruction set, against sums written here from the
// definitions in long double: u − iv = Σ Γ/(2πi(z − z_j)) in complex numbers, the vorticity of a blob within
// r, and E₁(x) = ∫ exp(−x eʷ) dw over w > 0 by quadrature.
#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <string>
#include <vector>

namespace farfield {
namespace {

using Values = std::vector<double>;
using Complex = std::complex<long double>;
constexpr long double pi = 3.14159265358979323846264338327950288L;

// Gauss-Legendre's five points in 120 parts: each is at most 0.4 wide, where the integrand is smooth.
long double exponential_integral(long double x) {
    if (x > 45.0L) return 0.0L;
    const long double end = std::log(46.0L / x);
    constexpr int parts = 120;
    const long double h = end / parts;
    const long double a = std::sqrt(5.0L - 2.0L * std::sqrt(10.0L / 7.0L)) / 3.0L;
    const long double b = std::sqrt(5.0L + 2.0L * std::sqrt(10.0L / 7.0L)) / 3.0L;
    const long double near = (322.0L + 13.0L * std::sqrt(70.0L)) / 900.0L;
    const long double far = (322.0L - 13.0L * std::sqrt(70.0L)) / 900.0L;
    const auto f = [&](long double w) { return std::exp(-x * std::exp(w)); };
    long double sum = 0.0L;
    for (int k = 0; k < parts; ++k) {
        const long double middle = (static_cast<long double>(k) + 0.5L) * h;
        const auto pair = [&](long double s) { return f(middle - 0.5L * s * h) + f(middle + 0.5L * s * h); };
        sum += 128.0L / 225.0L * f(middle) + near * pair(a) + far * pair(b);
    }
    return 0.5L * h * sum;
}

struct Expected {
    std::vector<long double> stream, velocity;
};

Expected expected_of(const Values& sources, const Values& circulations, const Values& targets, bool self,
                     long double sigma) {
    Expected out;
    for (std::size_t i = 0; i < targets.size() / 2; ++i) {
        const Complex z(targets[2 * i], targets[2 * i + 1]);
        Complex w = 0.0L; // u − iv
        long double stream = 0.0L;
        for (std::size_t j = 0; j < circulations.size(); ++j) {
            if (self && i == j) continue;
            const Complex d = z - Complex(sources[2 * j], sources[2 * j + 1]);
            const long double gamma = circulations[j];
            const long double x = sigma > 0.0L ? std::norm(d) / (2.0L * sigma * sigma) : 1e4L;
            w += -std::expm1(-x) * gamma / (Complex(0.0L, 2.0L * pi) * d);
            stream -= gamma / (2.0L * pi) * (std::log(std::abs(d)) + 0.5L * exponential_integral(x));
        }
        out.stream.push_back(stream);
        out.velocity.insert(out.velocity.end(), {w.real(), -w.imag()});
    }
    return out;
}

// Numbers that floats hold, so that every precision sees the same ones.
Values uniform(std::size_t n, unsigned seed, double half = 1.0) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> side(-half, half);
    Values values(n);
    for (double& value : values) value = static_cast<double>(static_cast<float>(side(engine)));
    return values;
}

ConstArrayView rows(const Values& values, int columns) {
    return matrix_view(std::span<const double>(values), columns);
}

void expect_near(const Values& got, const std::vector<long double>& expected, double tolerance) {
    ASSERT_EQ(got.size(), expected.size());
    long double largest = 0.0L;
    for (const auto value : expected) largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], static_cast<double>(expected[i]), tolerance * static_cast<double>(largest)) << i;
}

// A term is off by a few ulp, and the 599 terms of a sum add up to some 30 times the largest sum where signs
// differ: 4e-13 in double (599 · 4 · 2⁻⁵³ is 2.7e-13), 2e-5 in float, whose sums of 256 terms are short.
double tolerance_of(Precision precision) { return precision == Precision::float64 ? 4e-13 : 2e-5; }

struct Way {
    Method method;
    Precision precision;
    Isa isa;
};

std::vector<Way> ways() {
    std::vector<Way> out{{Method::reference, Precision::float64, Isa::automatic}};
    for (const auto isa : {Isa::scalar, Isa::sse42, Isa::avx2, Isa::avx512})
        for (const auto precision : {Precision::float64, Precision::float32, Precision::mixed})
            if (is_available(isa)) out.push_back({Method::direct, precision, isa});
    return out;
}

void compare(std::size_t sources, std::size_t targets, double sigma, double half = 1.0) {
    const auto points = uniform(2 * sources, 1, half);
    const auto circulations = uniform(sources, 2);
    const auto places = uniform(2 * targets, 3, half);
    const auto self = expected_of(points, circulations, points, true, sigma);
    const auto elsewhere = expected_of(points, circulations, places, false, sigma);
    for (const auto& way : ways()) {
        SCOPED_TRACE(std::string(name_of(way.method)) + " " + std::string(name_of(way.precision)) + " " +
                     std::string(name_of(way.isa)) + " sigma " + std::to_string(sigma));
        SumOptions options{.kernel = Kernel::vortex2d, .method = way.method, .sigma = sigma};
        options.precision = way.precision;
        options.isa = way.isa;
        const double tolerance = tolerance_of(way.precision);
        const auto here = sum(rows(points, 2), rows(circulations, 1), options);
        expect_near(here.potential, self.stream, tolerance);
        expect_near(here.field, self.velocity, tolerance);
        const auto there = sum(rows(points, 2), rows(places, 2), rows(circulations, 1), options);
        expect_near(there.potential, elsewhere.stream, tolerance);
        expect_near(there.field, elsewhere.velocity, tolerance);
    }
}

TEST(Vortex2d, Points) { compare(600, 37, 0.0); }

// From cores that hardly touch to one that holds all the others.
TEST(Vortex2d, Blobs) {
    for (const double sigma : {0.01, 0.25, 3.0, 1e3}) compare(90, 35, sigma);
}

TEST(Vortex2d, AnyScale) {
    compare(70, 5, 0.0, 1e20);
    compare(30, 5, 2e19, 1e20);
    compare(30, 5, 2e-21, 1e-20);
}

Values one_output(const Values& points, const Values& circulations, SumOptions options, bool velocity) {
    options.kernel = Kernel::vortex2d;
    const auto result = sum(rows(points, 2), rows(circulations, 1), options);
    return velocity ? result.field : result.potential;
}

// 1 − e^(−x) of a tiny x: the velocity Γr/(4πσ²) to a few roundings.
TEST(Vortex2d, BlobsKeepTheirDigitsNearTheirCentre) {
    for (const double r : {1e-9, 1e-5, 0.03, 0.2}) {
        const Values points{0.0, 0.0, r, 0.0};
        const auto expected = expected_of(points, {1.0, 2.0}, points, true, 0.125L);
        for (const auto method : {Method::reference, Method::direct}) {
            const auto got = one_output(points, {1.0, 2.0}, {.method = method, .sigma = 0.125}, true);
            for (std::size_t k = 0; k < 4; ++k)
                EXPECT_NEAR(got[k], static_cast<double>(expected.velocity[k]),
                            4e-15 * std::abs(static_cast<double>(expected.velocity[k])));
        }
    }
}

// A blob's own velocity is 0 and its own ψ is left out; at another's centre ψ = −Γ(ln 2σ² − γ)/4π.
TEST(Vortex2d, BlobsMayMeet) {
    const Values points{0.5, -2.0, 0.5, -2.0};
    const double euler = 0.57721566490153286061;
    const double at_centre = -(std::log(2.0 * 0.09) - euler) / (4.0 * static_cast<double>(pi));
    for (const auto method : {Method::reference, Method::direct}) {
        const SumOptions options{.method = method, .sigma = 0.3};
        EXPECT_EQ(one_output(points, {1.0, 2.0}, options, true), (Values{0.0, 0.0, 0.0, 0.0}));
        const auto stream = one_output(points, {1.0, 2.0}, options, false);
        EXPECT_NEAR(stream[0], 2.0 * at_centre, 1e-15);
        EXPECT_NEAR(stream[1], 1.0 * at_centre, 1e-15);
    }
}

TEST(Vortex2d, PointsMayNotMeetUnlessTheyAreSkipped) {
    const Values points{0.5, -2.0, 0.5, -2.0, 1.5, -2.0};
    const Values circulations{1.0, 2.0, 3.0};
    for (const auto method : {Method::reference, Method::direct}) {
        SumOptions options{.method = method};
        EXPECT_THROW(one_output(points, circulations, options, true), InvalidArgument);
        options.coincident = Coincident::skip;
        const auto velocity = one_output(points, circulations, options, true);
        const double third = 3.0 / (2.0 * static_cast<double>(pi)); // at distance 1 to the right
        EXPECT_NEAR(velocity[1], -third, 1e-15);
        EXPECT_NEAR(velocity[5], third, 1e-15);
        EXPECT_EQ(one_output(points, circulations, options, false)[0], 0.0); // ln 1
    }
}

// Two vortices of one sign turn about each other counter-clockwise where Γ > 0.
TEST(Vortex2d, TurnsCounterClockwise) {
    const Values points{0.0, 0.0, 1.0, 0.0};
    for (const auto method : {Method::reference, Method::direct})
        EXPECT_GT(one_output(points, {1.0, 1.0}, {.method = method}, true)[3], 0.0);
}

TEST(Vortex2d, ResultsDoNotDependOnThreads) {
    const auto points = uniform(2 * 3000, 4);
    const auto circulations = uniform(3000, 5);
    for (const double sigma : {0.0, 0.02}) {
        SumOptions options{.sigma = sigma, .threads = 1};
        const auto one = one_output(points, circulations, options, true);
        options.threads = 3;
        EXPECT_EQ(one_output(points, circulations, options, true), one);
    }
}

// ln r of vortices at the distance 1 is 0 but for rounding: beside that no error would be small.
TEST(Vortex2d, APotentialThatVanishesByItsUnitMeetsATolerance) {
    SumOptions options{.kernel = Kernel::vortex2d, .tolerance = 1e-12, .precision = Precision::float64};
    for (const auto& points : {Values{0.1, 0.7, 0.9, 1.3}, Values{0.0, 0.0, 1.0, 0.0}}) {
        const auto result = sum(rows(points, 2), rows({1.0, -1.0}, 1), options);
        ASSERT_EQ(result.report.errors.size(), 2U);
        for (const auto& error : result.report.errors) EXPECT_LE(error.relative, 1e-15);
    }
}

std::string refused(const SumOptions& wanted, const Values& points = {0.0, 0.0, 1.0, 0.0}, int columns = 2) {
    auto options = wanted;
    options.kernel = Kernel::vortex2d;
    try {
        (void)sum(rows(points, columns), rows({1.0, 1.0}, 1), options);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return {};
}

TEST(Vortex2d, RefusesWhatItCannotDo) {
    EXPECT_NE(refused({.sigma = -1.0}).find("sigma"), std::string::npos);
    EXPECT_NE(refused({.softening = 0.1}).find("has no softening"), std::string::npos);
    EXPECT_NE(refused({.variant = Variant::naive}).find("simd"), std::string::npos);
    EXPECT_NE(refused({}, {0.0, 0.0, 0.0, 1.0, 1.0, 1.0}, 3).find("sources"), std::string::npos);
}

} // namespace
} // namespace farfield
