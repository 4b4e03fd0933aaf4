#include "sums/around/tighten.h"

#include "sums/method/refining.h"

#include <algorithm>
#include <cmath>

namespace farfield {

bool keeps(const SumOptions& asked, double error) {
    return error <= (asked.strategy == GaussStrategy::automatic ? kept_share : 1.0) * asked.tolerance;
}

bool tighten(SumOptions& inner, const SumOptions& asked, const SumReport& report, double error) {
    constexpr double least = 1e-14; // below, the fast methods have nothing to gain
    const bool was_float = report.precision != Precision::float64;
    if (was_float && asked.precision == Precision::automatic) inner.precision = Precision::float64;
    if (report.method != Method::fgt) return inner.precision == Precision::float64 && was_float;
    if (inner.tolerance <= least) {
        if (asked.method != Method::automatic || inner.method == Method::direct) return false;
        inner.method = Method::direct;
        return true;
    }
    inner.tolerance = std::max(least, inner.tolerance / refinement(error, asked.tolerance));
    return true;
}

double largest_error(std::span<const OutputError> errors) {
    double out = 0.0;
    for (const auto& error : errors) out = error.relative <= out ? out : error.relative;
    return std::isnan(out) ? HUGE_VAL : out;
}

} // namespace farfield
