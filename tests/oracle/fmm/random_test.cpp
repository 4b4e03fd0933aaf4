// Random fast multipole sums with a tolerance against sums in long double. FARFIELD_RANDOM_SUMS says how
// many; a failure prints its number, and FARFIELD_RANDOM_SUM=number runs that one alone.
#include "effort.h"
#include "oracle/direct/oracle.h"

#include <farfield/error.h>
#include <farfield/sum.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace farfield {
namespace {

using oracle::Points;

class RandomSum {
public:
    explicit RandomSum(int number) : engine_(static_cast<std::uint64_t>(number) + 1000) {
        sources_ = cloud(static_cast<int>(std::pow(10.0, uniform(0.31, 3.3)))); // 2 at least
        if (chance(0.3)) targets_ = cloud(static_cast<int>(std::pow(10.0, uniform(0.0, 3.0)))).xyz;
        options_.kernel = chance(0.5) ? Kernel::gravity : Kernel::coulomb;
        options_.method = Method::fmm;
        // many digits of softened kernels take seconds a sum
        options_.softening = chance(0.5) ? 0.0 : scale_ * std::pow(10.0, uniform(-4.0, 1.0));
        options_.tolerance = std::pow(10.0, uniform(options_.softening > 0.0 ? -6.0 : -10.0, -1.0));
        options_.separation = chance(0.25) ? 2 : 1;
        options_.leaf = static_cast<int>(std::pow(10.0, uniform(0.3, 2.0)));
        options_.coincident = Coincident::skip;
        options_.threads = 1;
        if (options_.tolerance > 1e-4 && chance(0.4)) options_.precision = Precision::mixed;
        constexpr M2L ways[] = {M2L::automatic, M2L::mirrored, M2L::rotation, M2L::matrix};
        options_.m2l = ways[static_cast<int>(uniform(0.0, 4.0))];
    }

    [[nodiscard]] const SumOptions& options() const { return options_; }
    [[nodiscard]] std::size_t targets() const {
        return (targets_.empty() ? sources_.xyz.size() : targets_.size()) / 3;
    }
    [[nodiscard]] std::string text() const {
        std::ostringstream out;
        out << sources_.q.size() << " sources of cloud " << kind_ << ", " << targets_.size() / 3
            << " targets, tolerance " << options_.tolerance << ", softening " << options_.softening / scale_
            << " of the scale, separation " << options_.separation << ", " << name_of(options_.m2l)
            << ", leaf " << options_.leaf << ", precision " << static_cast<int>(options_.precision);
        return out.str();
    }

    /// The worse of the errors of potential and field.
    [[nodiscard]] double error() const {
        const auto view = [](const std::vector<double>& xyz) {
            return matrix_view(std::span<const double>(xyz), 3);
        };
        const ConstArrayView strengths(std::span<const double>{sources_.q});
        const bool self = targets_.empty();
        const auto result = self ? sum(view(sources_.xyz), strengths, options_)
                                 : sum(view(sources_.xyz), view(targets_), strengths, options_);
        const long double sign = options_.kernel == Kernel::gravity ? -1.0L : 1.0L;
        const auto exact = self ? oracle::direct_self(sources_, options_.softening, sign)
                                : oracle::direct(sources_, targets_, options_.softening, sign);
        return std::max(oracle::relative_l2(result.potential, exact.potential),
                        oracle::relative_l2(result.field, exact.field));
    }

private:
    double uniform(double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(engine_);
    }
    bool chance(double share) { return uniform(0.0, 1.0) < share; }

    Points cloud(int n) {
        kind_ = static_cast<int>(uniform(0.0, 6.0));
        const bool masses = chance(0.5);
        const double offset = chance(0.2) ? 1e3 * scale_ : 0.0;
        Points out;
        for (int i = 0; i < n; ++i) {
            const auto x = place();
            for (const double component : x) out.xyz.push_back(scale_ * component + offset);
            out.q.push_back(masses ? uniform(0.5, 1.5) : uniform(-1.0, 1.0));
        }
        return out;
    }

    std::array<double, 3> place() {
        std::normal_distribution<double> normal;
        switch (kind_) {
        case 0: // a cube
            return {uniform(0, 1), uniform(0, 1), uniform(0, 1)};
        case 1: // ever denser towards a corner
            return {std::pow(uniform(0, 1), 4), std::pow(uniform(0, 1), 4), std::pow(uniform(0, 1), 4)};
        case 2: { // a sphere's surface
            const double x = normal(engine_), y = normal(engine_), z = normal(engine_);
            const double r = std::hypot(x, y, z);
            return {x / r, y / r, z / r};
        }
        case 3: // two clusters
            return {(chance(0.5) ? 1.0 : 0.0) + 1e-2 * normal(engine_), 1e-2 * normal(engine_),
                    1e-2 * normal(engine_)};
        case 4: // a plane
            return {uniform(0, 1), uniform(0, 1), 0.5};
        default: // a line
            return {0.25, uniform(0, 1), 0.5};
        }
    }

    std::mt19937_64 engine_;
    double scale_ = 1.0;
    int kind_ = 0;
    Points sources_;
    std::vector<double> targets_;
    SumOptions options_;
};

int number_in(const char* variable, int usual) {
    const char* value = std::getenv(variable);
    return value != nullptr ? std::atoi(value) : usual;
}

// Up to 256 targets all are compared before the sum is given; of more, a sample, whose error differs from
// that of all.
TEST(FmmRandom, SumsReachTheirTolerance) {
    const int only = number_in("FARFIELD_RANDOM_SUM", -1);
    const int count = only >= 0 ? 1 : number_in("FARFIELD_RANDOM_SUMS", test::fewer() ? 10 : 300);
    int above = 0;
    for (int k = 0; k < count; ++k) {
        const int number = only >= 0 ? only : k;
        const RandomSum random(number);
        SCOPED_TRACE("sum " + std::to_string(number) + ": " + random.text());
        try {
            const double error = random.error();
            const double tolerance = random.options().tolerance;
            if (error > tolerance) ++above;
            if (error > tolerance) std::printf("above: %d %g %s\n", number, error, random.text().c_str());
            if (random.targets() <= 256) {
                EXPECT_LE(error, tolerance);
            }
            EXPECT_LE(error, 2.0 * tolerance);
        } catch (const ToleranceNotReached& refusal) {
            std::printf("refused: %d %s %s\n", number, random.text().c_str(), refusal.what());
            if (random.options().precision == Precision::float64) ADD_FAILURE() << refusal.what();
        }
    }
    EXPECT_LE(above, 1 + count / 100);
}

} // namespace
} // namespace farfield
