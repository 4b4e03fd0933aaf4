#include "sums/direct/gauss/gauss_points.h"

#include "backend/threads/parallel.h"
#include "base/spelling.h"
#include "sums/points/ordered_rows.h"
#include "sums/points/power_of_two.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace farfield {
namespace {

void widen(GaussExtent& extent, const GaussExtent& by) {
    for (std::size_t k = 0; k < most_dimensions; ++k) {
        extent.low[k] = std::min(extent.low[k], by.low[k]);
        extent.high[k] = std::max(extent.high[k], by.high[k]);
    }
}

GaussExtent no_extent() {
    GaussExtent out;
    out.low.fill(HUGE_VAL);
    out.high.fill(-HUGE_VAL);
    return out;
}

/// n numbers that are still to be written, and zeros behind them.
template <class T>
void take_padded(RawVector<T>& out, std::size_t n) {
    out.resize(n + gauss_padding);
    std::fill_n(out.data() + n, gauss_padding, T(0));
}

} // namespace

GaussExtent gauss_extent(std::span<const double> sources, std::span<const double> targets, int dimension,
                         int threads) {
    const auto d = static_cast<std::size_t>(dimension);
    auto all = no_extent();
    for (const auto points : {sources, targets})
        for (const auto& part :
             parallel_results(threads, points.size() / d, [&](std::size_t begin, std::size_t end) {
                 auto extent = no_extent();
                 for (auto i = begin; i < end; ++i)
                     for (std::size_t k = 0; k < d; ++k) {
                         extent.low[k] = std::min(extent.low[k], points[d * i + k]);
                         extent.high[k] = std::max(extent.high[k], points[d * i + k]);
                     }
                 return extent;
             }))
            widen(all, part);
    for (std::size_t k = 0; k < most_dimensions; ++k)
        if (all.low[k] > all.high[k]) all.low[k] = all.high[k] = 0.0;
    return all;
}

GaussFrame choose_gauss_frame(const SumProblem& problem, const GaussExtent& extent) {
    const bool wide = is_wide(problem.precision);
    GaussFrame frame;
    int exponent = 0;
    frame.sigma = std::frexp(problem.sigma, &exponent);
    frame.exponent = -exponent;
    double reach = 0.0;
    for (std::size_t k = 0; k < most_dimensions; ++k) {
        const double low = extent.low[k], high = extent.high[k];
        const bool far_off = std::min(std::abs(low), std::abs(high)) > 4.0 * (high - low);
        frame.centre[k] = wide ? (far_off ? low : 0.0) : 0.5 * low + 0.5 * high;
        reach = std::max({reach, extent.high[k] - frame.centre[k], frame.centre[k] - extent.low[k]});
    }
    const int most = wide ? 400 : 60; // products with weights of next to nothing stay next to nothing
    if (!(std::ldexp(reach, std::max(frame.exponent, -1000)) < std::ldexp(1.0, most)))
        throw InvalidArgument(
            fmt::format("{} is so small beside coordinates of {:.3g} that precision '{}' has no number for "
                        "their ratio; use {}",
                        spelled("sigma", fmt::format("{}", problem.sigma)), reach,
                        name_of(wide ? Precision::float64 : problem.precision),
                        wide ? "a larger one" : spelled("precision", "double")));
    return frame;
}

void check_gpu_frame(const SumProblem& problem, const GaussFrame& frame) {
    constexpr int most = 1000;
    if (std::abs(frame.exponent) > most)
        throw InvalidArgument(fmt::format("{} is beyond the range that a GPU sums in; use {}, or other units",
                                          spelled("sigma", fmt::format("{}", problem.sigma)),
                                          spelled("device", "cpu")));
}

template <class T>
void GaussPoints<T>::set(std::span<const double> points, int dimension, const GaussFrame& frame,
                         std::span<const std::int32_t> order, bool with_low, int threads) {
    const auto d = static_cast<std::size_t>(dimension);
    const auto n = points.size() / d;
    for (std::size_t k = 0; k < d; ++k) {
        take_padded(high_[k], n);
        with_low ? take_padded(low_[k], n) : low_[k].clear();
    }
    const PowerOfTwo scale(frame.exponent);
    const OrderedRows rows(points, d, order);
    parallel_parts(threads, n, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            const double* row = rows.at(i, end);
            for (std::size_t k = 0; k < d; ++k) {
                const double x = scale.product(row[k] - frame.centre[k]);
                high_[k][i] = static_cast<T>(x);
                if (with_low) low_[k][i] = static_cast<T>(x - static_cast<double>(high_[k][i]));
            }
        }
    });
}

template <class T>
GaussTilePoints GaussPoints<T>::view() const {
    GaussTilePoints out;
    for (std::size_t k = 0; k < most_dimensions; ++k) {
        out.high[k] = high_[k].data();
        out.low[k] = low_[k].data();
    }
    return out;
}

template <class T>
std::vector<RawVector<T>> gauss_strengths(std::span<const double> strengths, std::int64_t vectors,
                                          int exponent, std::span<const std::int32_t> order, int threads) {
    const auto columns = static_cast<std::size_t>(vectors);
    const auto n = strengths.size() / columns;
    std::vector<RawVector<T>> out(columns);
    for (auto& column : out) take_padded(column, n);
    const PowerOfTwo scale(exponent);
    const OrderedRows rows(strengths, columns, order);
    parallel_parts(threads, n, [&](std::size_t begin, std::size_t end) {
        for (auto i = begin; i < end; ++i) {
            const double* row = rows.at(i, end);
            for (std::size_t v = 0; v < columns; ++v) out[v][i] = static_cast<T>(scale.product(row[v]));
        }
    });
    return out;
}

template class GaussPoints<float>;
template class GaussPoints<double>;
template std::vector<RawVector<float>> gauss_strengths(std::span<const double>, std::int64_t, int,
                                                       std::span<const std::int32_t>, int);
template std::vector<RawVector<double>> gauss_strengths(std::span<const double>, std::int64_t, int,
                                                        std::span<const std::int32_t>, int);

} // namespace farfield
