#include "sums/lattice/images/image_operator.h"

#include "backend/threads/parallel.h"
#include "sums/expansions/operators.h"
#include "sums/lattice/images/lattice_tail.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>
#include <utility>

namespace farfield {
namespace {

/// The degree beyond which an image at a distance changes nothing within the reach.
int degree_of(double distance, double reach, int most) {
    constexpr double digits = 40.0; // e^−40
    if (distance <= reach) return most;
    return std::min(most, static_cast<int>(std::ceil(digits / std::log(distance / reach))));
}

void add(const SolidHarmonics& from, int degree, double factor, ComplexExpansion& to) {
    for (int l = 0; l <= degree; ++l)
        for (int m = -l; m <= l; ++m) {
            const auto place = ComplexExpansion::place(l, m);
            to.real[place] += factor * from.real(l, m);
            to.imag[place] += factor * from.imag(l, m);
        }
}

/// Nodes and weights of ∫₋₁¹.
struct GaussLegendre {
    std::vector<double> node, weight;

    explicit GaussLegendre(int n) {
        for (int i = 0; i < n; ++i) {
            long double x = std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1.0L;
            for (int step = 0; step < 8; ++step) { // Newton's on P_n
                long double before = 1.0L, now = x;
                for (int k = 1; k < n; ++k)
                    before = std::exchange(now, ((2 * k + 1) * x * now - k * before) / (k + 1));
                slope = n * (x * now - before) / (x * x - 1.0L);
                x -= now / slope;
            }
            node.push_back(static_cast<double>(x));
            weight.push_back(static_cast<double>(2.0L / ((1.0L - x * x) * slope * slope)));
        }
    }
};

/// Away from the rim on either side all cells share their near images.
int kind_of(int cell, int cells, int rim) {
    return rim * 2 >= cells || cell < rim ? cell : cell >= cells - rim ? cell - cells + 2 * rim + 1 : rim;
}

} // namespace

void ComplexExpansion::mirror(int degree) {
    for (int l = 0; l <= degree; ++l)
        for (int m = 1; m <= l; ++m) {
            const double sign = (m & 1) != 0 ? -1.0 : 1.0;
            real[place(l, -m)] = sign * real[place(l, m)];
            imag[place(l, -m)] = -sign * imag[place(l, m)];
        }
}

double image_work_of_a_pair(int order) {
    const double p = order + 1.0;
    return 2.0 * p * p * p * p;
}

double image_numbers_of_a_pair(int order) { return 2.0 * (2.0 * order + 1.0) * (2.0 * order + 1.0); }

ImageOperator::ImageOperator(const ImageGrid& grid, int order, int threads) : grid_(grid), order_(order) {
    Lengths diagonal{};
    for (std::size_t k = 0; k < 3; ++k) {
        period_[k] = grid.period[k] / grid.width;
        diagonal[k] = grid.side(k) / grid.width;
    }
    reach_ = length_of(diagonal);
    struct Kind {
        Whole offset{}, source{};
        ComplexExpansion* sums = nullptr;
    };
    std::vector<Kind> kinds;
    for (int target = 0; target < grid.count(); ++target)
        for (int source = 0; source < grid.count(); ++source) {
            const auto [at, is_new] = sums_.try_emplace(key(target, source));
            if (!is_new) continue;
            const auto from = grid.cell_of(source);
            auto offset = grid.cell_of(target);
            for (std::size_t k = 0; k < 3; ++k) offset[k] -= from[k];
            kinds.push_back({offset, from, &at->second});
        }
    parallel_for(threads, static_cast<std::int64_t>(kinds.size()), [&](std::int64_t number) {
        const auto& kind = kinds[static_cast<std::size_t>(number)];
        *kind.sums = sums_of_far(kind.offset, kind.source);
    });
}

std::uint64_t ImageOperator::key(int target, int source) const {
    const auto to = grid_.cell_of(target), from = grid_.cell_of(source);
    std::uint64_t key = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        const int kind = grid_.is_periodic(k) ? kind_of(from[k], grid_.cells[k], grid_.rim[k]) : 0;
        key = key << 11 | static_cast<std::uint64_t>(to[k] - from[k] + grid_.cells[k]);
        key = key << 10 | static_cast<std::uint64_t>(kind);
    }
    return key;
}

ComplexExpansion ImageOperator::sums_of_far(const Whole& offset, const Whole& source) const {
    const int degree = 2 * order_;
    Lengths centre{};
    std::array<ImageGrid::Range, 3> near, always;
    for (std::size_t k = 0; k < 3; ++k) {
        centre[k] = offset[k] * grid_.side(k) / grid_.width;
        near[k] = grid_.near(source[k], k);
        always[k] = grid_.near_for_any(k);
    }
    const LatticeTail tail(period_, centre, reach_, always);
    ComplexExpansion sums(degree);
    for (const auto& image : tail.left_out()) {
        bool is_near = true;
        for (std::size_t k = 0; k < 3; ++k)
            is_near = is_near && image.n[k] >= near[k].first && image.n[k] <= near[k].last;
        if (is_near) continue;
        const int most = degree_of(length_of(image.at), reach_, degree);
        farfield::add(SolidHarmonics::irregular(most, image.at), most, 1.0, sums);
    }
    add_tail(tail, sums);
    return sums;
}

// With H(d) = Σ (−1)^l conj(R_l^m(d)) S_l^m, and ∫ |R_l^m|² over the sphere |d| = ρ:
//   S_l^m = (−1)^l (2l + 1)(l + m)!(l − m)!/(4π ρ^2l) ∫ H R_l^m dΩ.
void ImageOperator::add_tail(const LatticeTail& tail, ComplexExpansion& sums) const {
    const int degree = std::min(tail_degree, 2 * order_);
    const HarmonicScales scales(degree);
    const int rings = tail_degree + 1, of_ring = 2 * tail_degree + 2;
    const GaussLegendre rule(rings);
    ComplexExpansion integrals(degree);
    for (int i = 0; i < rings; ++i)
        for (int j = 0; j < of_ring; ++j) {
            const double z = rule.node[static_cast<std::size_t>(i)], side = std::sqrt(1.0 - z * z);
            const double angle = 2.0 * std::numbers::pi * (j + 0.5) / of_ring;
            const Lengths d{reach_ * side * std::cos(angle), reach_ * side * std::sin(angle), reach_ * z};
            const double weight = rule.weight[static_cast<std::size_t>(i)] / (2.0 * of_ring); // of 4π
            farfield::add(SolidHarmonics::regular(degree, d), degree, weight * tail.at(d), integrals);
        }
    for (int l = 0; l <= degree; ++l) {
        const double sign = (l & 1) != 0 ? -1.0 : 1.0;
        const double factor = sign * (2.0 * l + 1.0) / std::pow(reach_, 2 * l);
        for (int m = -l; m <= l; ++m) {
            const int order = std::abs(m);
            const double scale = scales.of({l, order, false}) * (order == 0 ? std::sqrt(2.0) : 1.0);
            const auto place = ComplexExpansion::place(l, m);
            sums.real[place] += factor * scale * scale * integrals.real[place];
            sums.imag[place] += factor * scale * scale * integrals.imag[place];
        }
    }
}

void ImageOperator::add(int target, int source, const ComplexExpansion& multipole,
                        ComplexExpansion& local) const {
    const auto& sums = sums_.at(key(target, source));
    for (int l = 0; l <= order_; ++l) {
        const double sign = (l & 1) != 0 ? -1.0 : 1.0;
        double* const to_real = &local.real[ComplexExpansion::place(l, 0)];
        double* const to_imag = &local.imag[ComplexExpansion::place(l, 0)];
        for (int j = 0; j <= order_; ++j)
            for (int k = -j; k <= j; ++k) {
                const double a = sign * multipole.real[ComplexExpansion::place(j, k)];
                const double b = -sign * multipole.imag[ComplexExpansion::place(j, k)];
                const double* const s_real = &sums.real[ComplexExpansion::place(l + j, k)];
                const double* const s_imag = &sums.imag[ComplexExpansion::place(l + j, k)];
                for (int m = 0; m <= l; ++m) {
                    to_real[m] += a * s_real[m] - b * s_imag[m];
                    to_imag[m] += a * s_imag[m] + b * s_real[m];
                }
            }
    }
}

double ImageOperator::work() const {
    return static_cast<double>(grid_.count()) * grid_.count() * image_work_of_a_pair(order_);
}

std::shared_ptr<const ImageOperator> image_operator(const ImageGrid& grid, int order, int threads) {
    constexpr std::size_t most = 4;
    static std::mutex mutex;
    static std::vector<std::shared_ptr<const ImageOperator>> kept;
    auto anywhere = grid;
    anywhere.low = {};
    const auto is_it = [&](const auto& made) { return made->grid() == anywhere && made->order() == order; };
    {
        const std::lock_guard lock(mutex);
        const auto found = std::find_if(kept.begin(), kept.end(), is_it);
        if (found != kept.end()) return *found;
    }
    auto made = std::make_shared<const ImageOperator>(anywhere, order, threads);
    const std::lock_guard lock(mutex);
    if (kept.size() == most) kept.erase(kept.begin());
    kept.push_back(made);
    return made;
}

} // namespace farfield
