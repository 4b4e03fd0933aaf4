// Random fast multipole sums in the plane with a tolerance against sums in long double. FARFIELD_RANDOM_SUMS
// says how many; a failure prints its number, and FARFIELD_RANDOM_SUM=number runs that one alone.
#include "effort.h"
#include "oracle/plane/plane_oracle.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

namespace farfield {
namespace {

using oracle::PlanePoints;
using oracle::PlaneRandom;
using oracle::relative_l2;

class RandomPlaneSum {
public:
    explicit RandomPlaneSum(int number) : random_(static_cast<std::uint64_t>(number) + 2000) {
        scale_ = random_.chance(0.2) ? std::pow(10.0, random_.uniform(-30.0, 30.0)) : 1.0;
        sources_ = cloud(static_cast<int>(std::pow(10.0, random_.uniform(0.31, 3.1)))); // 2 at least
        if (random_.chance(0.3))
            targets_ = cloud(static_cast<int>(std::pow(10.0, random_.uniform(0.0, 2.9)))).xy;
        options_.kernel = Kernel::laplace2d;
        options_.method = Method::fmm;
        options_.tolerance = std::pow(10.0, random_.uniform(-11.0, -1.0));
        options_.separation = random_.chance(0.25) ? 2 : 1;
        options_.leaf = static_cast<int>(std::pow(10.0, random_.uniform(0.0, 1.7)));
        options_.coincident = Coincident::skip;
        options_.threads = 1;
        if (options_.tolerance > 1e-4 && random_.chance(0.4)) options_.precision = Precision::mixed;
    }

    [[nodiscard]] const SumOptions& options() const { return options_; }
    [[nodiscard]] std::string text() const {
        std::ostringstream out;
        out << sources_.q.size() / 2 << " sources of cloud " << kind_ << ", " << targets_.size() / 2
            << " targets, scale " << scale_ << ", tolerance " << options_.tolerance << ", separation "
            << options_.separation << ", leaf " << options_.leaf << ", precision "
            << static_cast<int>(options_.precision);
        return out.str();
    }

    /// The worse of the errors of potential and field.
    [[nodiscard]] double error() const {
        const bool self = targets_.empty();
        const auto result = self ? sum(sources_.points(), sources_.strengths(), options_)
                                 : sum(sources_.points(), matrix_view(std::span<const double>(targets_), 2),
                                       sources_.strengths(), options_);
        const auto exact = oracle::plane_sums(sources_, self ? sources_.xy : targets_);
        return std::max(relative_l2(result.potential, exact.potential),
                        relative_l2(result.field, exact.field));
    }

private:
    PlanePoints cloud(int n) {
        kind_ = static_cast<int>(random_.uniform(0.0, 6.0));
        const bool positive = random_.chance(0.3);
        const bool is_complex = random_.chance(0.5);
        const double offset = random_.chance(0.2) ? 1e3 : 0.0;
        PlanePoints out;
        for (int i = 0; i < n; ++i) {
            for (const double x : place()) out.xy.push_back(scale_ * (x + offset));
            const double low = positive ? 0.5 : -1.0;
            out.q.push_back(random_.uniform(low, 1.5));
            out.q.push_back(is_complex ? random_.uniform(low, 1.5) : 0.0);
        }
        return out;
    }

    std::array<double, 2> place() {
        const double u = random_.uniform(0, 1);
        switch (kind_) {
        case 0: // a square
            return {u, random_.uniform(0, 1)};
        case 1: // ever denser towards a corner
            return {std::pow(u, 5), std::pow(random_.uniform(0, 1), 5)};
        case 2: // a circle
            return {std::cos(6.0 * u), std::sin(6.0 * u)};
        case 3: // two clusters
            return {(random_.chance(0.5) ? 1.0 : 0.0) + 1e-2 * random_.normal(), 1e-2 * random_.normal()};
        case 4: // points of a grid: some of them meet, and many lie on faces of cells
            return {std::floor(64.0 * u) / 64.0, std::floor(64.0 * random_.uniform(0, 1)) / 64.0};
        default: // a line
            return {0.25, u};
        }
    }

    PlaneRandom random_;
    double scale_ = 1.0;
    int kind_ = 0;
    PlanePoints sources_;
    std::vector<double> targets_;
    SumOptions options_;
};

int plane_number_in(const char* variable, int usual) {
    const char* value = std::getenv(variable);
    return value != nullptr ? std::atoi(value) : usual;
}

// Most of these sums are so small that all targets are compared before the sum is given; of more, a sample,
// whose error differs from that of all.
TEST(PlaneFmmRandom, SumsReachTheirTolerance) {
    const int only = plane_number_in("FARFIELD_RANDOM_SUM", -1);
    const int count = only >= 0 ? 1 : plane_number_in("FARFIELD_RANDOM_SUMS", test::fewer() ? 10 : 300);
    int above = 0;
    for (int k = 0; k < count; ++k) {
        const int number = only >= 0 ? only : k;
        const RandomPlaneSum random(number);
        SCOPED_TRACE("sum " + std::to_string(number) + ": " + random.text());
        try {
            const double error = random.error();
            const double tolerance = random.options().tolerance;
            if (error > tolerance) ++above;
            EXPECT_LE(error, 2.0 * tolerance);
        } catch (const ToleranceNotReached& refusal) {
            if (random.options().precision != Precision::mixed) ADD_FAILURE() << refusal.what();
        }
    }
    EXPECT_LE(above, 1 + count / 100);
}

} // namespace
} // namespace farfield
