#include "sums/expansions/rotated_offsets.h"

#include "backend/threads/parallel.h"
#include "sums/expansions/operators.h"
#include "sums/expansions/rotations.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numeric>
#include <type_traits>
#include <utility>

namespace farfield {
namespace {

int length2(const std::array<int, 3>& d) { return d[0] * d[0] + d[1] * d[1] + d[2] * d[2]; }

/// cos² and sin² of the polar angle of an offset or its opposite, as the smallest whole numbers of that
/// ratio.
std::array<int, 2> polar_angle(const std::array<int, 3>& d) {
    const int along = d[2] * d[2];
    const int across = length2(d) - along;
    const int common = std::gcd(along, across);
    return {along / common, across / common};
}

/// The matrices that offsets share, each with the highest degree that one of them needs.
struct SharedMatrices {
    std::map<std::array<int, 2>, int> polar; ///< by angle
    std::map<int, int> along;                ///< by length²

    explicit SharedMatrices(const std::vector<RotatedOffset>& offsets) {
        for (const auto& of : offsets) {
            auto& degree = polar[polar_angle(of.offset)];
            degree = std::max(degree, of.degree);
            along[length2(of.offset)] = of.degree;
        }
    }
};

double polar_numbers(int degree) { return (degree + 1.0) * (2.0 * std::pow(degree + 1.0, 2) + 1.0) / 3.0; }
double along_numbers(int degree) { return (degree + 1.0) * (degree + 2.0) * (2.0 * degree + 3.0) / 6.0; }

template <class Map>
std::size_t number_in(const Map& map, const typename Map::key_type& key) {
    return static_cast<std::size_t>(std::distance(map.begin(), map.find(key)));
}

} // namespace

template <class T>
RotatedOffsets<T>::RotatedOffsets(const HarmonicBasis& basis, std::vector<RotatedOffset> offsets, int threads)
    : basis_(basis), offsets_(std::move(offsets)) {
    for (int l = 0; l <= basis.order(); ++l)
        for (int m = 0; m <= l; ++m) {
            places_.push_back(basis.place(l, m, false));
            places_.push_back(basis.place(l, m, m > 0));
        }
    for (int l = 0; l <= basis.order(); ++l) {
        auto& counts = class_counts_.emplace_back();
        for (int parity = 0; parity < parities; ++parity)
            counts[static_cast<std::size_t>(parity)] = basis.class_count(parity, l);
    }
    make(threads);
}

template <class T>
void RotatedOffsets<T>::make(int threads) {
    const SharedMatrices shared(offsets_);
    for (const auto& of : offsets_) {
        polar_of_.push_back(number_in(shared.polar, polar_angle(of.offset)));
        along_of_.push_back(number_in(shared.along, length2(of.offset)));
    }
    azimuths_.resize(offsets_.size());
    polars_.resize(shared.polar.size());
    alongs_.resize(shared.along.size());
    for (std::size_t n = 0; n < offsets_.size(); ++n) make_azimuth(n);
    const std::vector polars(shared.polar.begin(), shared.polar.end());
    const std::vector alongs(shared.along.begin(), shared.along.end());
    parallel_for(threads, static_cast<std::int64_t>(polars.size() + alongs.size()), [&](std::int64_t task) {
        auto n = static_cast<std::size_t>(task);
        if (n < polars.size()) return make_polar(n, polars[n].first, polars[n].second);
        n -= polars.size();
        make_along(n, alongs[n].first, alongs[n].second);
    });
}

// Powers of e^iφ; of the opposite offset where z < 0.
template <class T>
void RotatedOffsets<T>::make_azimuth(std::size_t number) {
    const auto& [d, degree] = offsets_[number];
    const long double side = d[2] < 0 ? -1.0L : 1.0L;
    const long double across = std::sqrt(static_cast<long double>(d[0] * d[0] + d[1] * d[1]));
    const auto turn =
        across > 0.0L ? std::complex<long double>(side * d[0] / across, side * d[1] / across) : 1.0L;
    std::complex<long double> power = 1.0L;
    for (int m = 0; m <= degree; ++m, power *= turn)
        azimuths_[number].insert(azimuths_[number].end(),
                                 {static_cast<T>(power.real()), static_cast<T>(power.imag())});
}

template <class T>
void RotatedOffsets<T>::make_polar(std::size_t number, const std::array<int, 2>& angle, int degree) {
    const auto [cosine2, sine2] = angle;
    if (sine2 == 0) return;
    const long double length = cosine2 + sine2;
    const PolarRotation rotation(degree, std::sqrt(cosine2 / length), -std::sqrt(sine2 / length));
    auto& out = polars_[number];
    out.reserve(static_cast<std::size_t>(polar_numbers(degree)));
    for (int l = 0; l <= degree; ++l)
        for (const bool sine : {false, true})
            for (int k = sine ? 1 : 0; k <= l; ++k)
                for (int m = sine ? 1 : 0; m <= l; ++m)
                    out.push_back(static_cast<T>(rotation(l, m, k, sine)));
}

template <class T>
void RotatedOffsets<T>::make_along(std::size_t number, int squared, int degree) {
    const MultipoleToLocal entry(degree, {0.0, 0.0, std::sqrt(static_cast<double>(squared))});
    auto& out = alongs_[number];
    out.reserve(static_cast<std::size_t>(along_numbers(degree)));
    for (int m = 0; m <= degree; ++m)
        for (int from = m; from <= degree; ++from)
            for (int to = m; to <= degree; ++to) {
                const double value = entry({to, m, false}, {from, m, false});
                out.push_back(static_cast<T>((m & 1) != 0 ? -value : value));
            }
}

template <class T>
RotateTask RotatedOffsets<T>::task(std::size_t number) const {
    const auto& [d, degree] = offsets_[number];
    const auto& polar = polars_[polar_of_[number]];
    RotateTask task{.wide = std::is_same_v<T, double>,
                    .behind = d[2] < 0,
                    .degree = degree,
                    .size = basis_.size(),
                    .places = places_.data(),
                    .azimuth = azimuths_[number].data(),
                    .polar = polar.empty() ? nullptr : polar.data(),
                    .along = alongs_[along_of_[number]].data()};
    const auto& counts = class_counts_[static_cast<std::size_t>(degree)];
    std::copy(counts.begin(), counts.end(), task.class_count);
    for (int parity = 0; parity <= parities; ++parity) task.class_begin[parity] = basis_.class_begin(parity);
    return task;
}

// Two rotations about y, a translation of cosines and sines, two rotations about z; to bring a coefficient to
// its lane takes as long as some multiply-adds.
double rotated_work(int degree) {
    constexpr double to_gather = 12.0;
    return 2.0 * polar_numbers(degree) + 2.0 * along_numbers(degree) +
           (4.0 + to_gather) * std::pow(degree + 1.0, 2);
}

double rotated_numbers(const std::vector<RotatedOffset>& offsets) {
    const SharedMatrices shared(offsets);
    double sum = 0.0;
    for (const auto& [angle, degree] : shared.polar) sum += polar_numbers(degree);
    for (const auto& [length, degree] : shared.along) sum += along_numbers(degree);
    for (const auto& of : offsets) sum += 2.0 * (of.degree + 1.0);
    return sum;
}

template class RotatedOffsets<float>;
template class RotatedOffsets<double>;

} // namespace farfield
