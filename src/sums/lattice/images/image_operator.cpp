#include "sums/lattice/images/image_operator.h"

#include "backend/threads/parallel.h"
#include "sums/expansions/operators.h"
#include "sums/lattice/images/lattice_tail.h"
#include "sums/lattice/images/made_in_turn.h"

#include <algorithm>
#include <cmath>
#include <complex>
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

void add(const SolidHarmonics& from, int degree, ComplexExpansion& to) {
    for (int l = 0; l <= degree; ++l)
        for (int m = -l; m <= l; ++m) {
            const auto place = ComplexExpansion::place(l, m);
            to.real[place] += from.real(l, m);
            to.imag[place] += from.imag(l, m);
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

/// Adds those of a point with other signs: bit k, of coordinate k.
void add_mirrored(const ComplexExpansion& from, int degree, int signs, ComplexExpansion& to) {
    const bool conjugate = ((signs & 1) != 0) != ((signs & 2) != 0);
    for (int l = 0; l <= degree; ++l)
        for (int m = -l; m <= l; ++m) {
            const bool odd = ((signs & 1) != 0 && (m & 1) != 0) != ((signs & 4) != 0 && ((l + m) & 1) != 0);
            const double sign = odd ? -1.0 : 1.0;
            const auto place = ComplexExpansion::place(l, m);
            to.real[place] += sign * from.real[place];
            to.imag[place] += (conjugate ? -sign : sign) * from.imag[place];
        }
}

/// Points on a sphere of radius 1 with weights that sum to 1, and R_l^m there.
struct Sphere {
    std::vector<Lengths> points;
    std::vector<double> weights;
    std::vector<ComplexExpansion> harmonics;

    Sphere() {
        const int rings = tail_degree + 1, of_ring = 2 * tail_degree + 2;
        const GaussLegendre rule(rings);
        const auto angle_of = [&](int j) { return 2.0 * std::numbers::pi * (j + 0.5) / of_ring; };
        std::vector<std::vector<std::complex<double>>> turn; // e^(imφ), by point of a ring and m
        for (int j = 0; j < of_ring; ++j) {
            auto& of = turn.emplace_back();
            for (int m = 0; m <= tail_degree; ++m) of.push_back(std::polar(1.0, m * angle_of(j)));
        }
        for (std::size_t i = 0; i < rule.node.size(); ++i) {
            const double z = rule.node[i], side = std::sqrt(1.0 - z * z);
            const auto first = SolidHarmonics::regular(tail_degree, {side, 0.0, z});
            for (int j = 0; j < of_ring; ++j) {
                points.push_back({side * std::cos(angle_of(j)), side * std::sin(angle_of(j)), z});
                weights.push_back(rule.weight[i] / (2.0 * of_ring));
                auto& here = harmonics.emplace_back(tail_degree);
                for (int l = 0; l <= tail_degree; ++l)
                    for (int m = 0; m <= l; ++m) {
                        const auto value =
                            first.real(l, m) * turn[static_cast<std::size_t>(j)][static_cast<std::size_t>(m)];
                        here.real[ComplexExpansion::place(l, m)] = value.real();
                        here.imag[ComplexExpansion::place(l, m)] = value.imag();
                    }
                here.mirror(tail_degree);
            }
        }
    }
};

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

// Mirror images of an offset have the same sums but for signs: those of outer images are made for offsets
// without signs, and so is each image between the rim and them; then each kind of pairs takes what it needs.
ImageOperator::ImageOperator(const ImageGrid& grid, int order, int threads, comm::Transport* ranks)
    : grid_(grid), order_(order) {
    const int degree = 2 * order;
    Lengths diagonal{};
    for (std::size_t k = 0; k < 3; ++k) {
        period_[k] = grid.period[k] / grid.width;
        diagonal[k] = grid.side(k) / grid.width;
    }
    reach_ = length_of(diagonal);
    struct Kind {
        Whole offset{}, apart{}; ///< cells: by their nearest images, and in the box
        std::array<ImageGrid::Range, 3> near{};
        ComplexExpansion* sums = nullptr;
    };
    std::array<ImageGrid::Range, 3> any;
    for (std::size_t k = 0; k < 3; ++k) any[k] = grid.near_for_any(k);
    std::map<Whole, FarImage> inner;
    std::map<Whole, ComplexExpansion> outer;
    std::vector<Kind> kinds;
    const auto each_inner = [&](const Kind& kind, const auto& visit) {
        each_in(any, [&](const Whole& n) {
            if (is_in(kind.near, n)) return;
            Whole from = kind.offset;
            for (std::size_t k = 0; k < 3; ++k) from[k] -= n[k] * grid.cells[k];
            visit(without_signs(from));
        });
    };
    for (int target = 0; target < grid.count(); ++target)
        for (int source = 0; source < grid.count(); ++source) {
            const auto [at, is_new] = sums_.try_emplace(key(target, source));
            if (!is_new) continue;
            const auto to = grid.cell_of(target), from = grid.cell_of(source);
            Kind kind{.offset = grid.offset(to, from), .sums = &at->second};
            for (std::size_t k = 0; k < 3; ++k) {
                kind.apart[k] = to[k] - from[k];
                kind.near[k] = grid.near(from[k] + kind.offset[k], from[k], k);
            }
            outer.try_emplace(without_signs(kind.offset).first);
            each_inner(kind, [&](const auto& place) { inner.try_emplace(place.first); });
            kinds.push_back(kind);
        }
    make_outer_sums(outer, threads, ranks);
    std::vector<std::pair<const Whole, FarImage>*> places;
    places.reserve(inner.size());
    for (auto& place : inner) places.push_back(&place);
    parallel_for(threads, static_cast<std::int64_t>(places.size()), [&](std::int64_t number) {
        auto& [offset, image] = *places[static_cast<std::size_t>(number)];
        image = far_image(offset);
    });
    parallel_for(threads, static_cast<std::int64_t>(kinds.size()), [&](std::int64_t number) {
        const auto& kind = kinds[static_cast<std::size_t>(number)];
        *kind.sums = ComplexExpansion(degree);
        const auto [offset, signs] = without_signs(kind.offset);
        add_mirrored(outer.at(offset), degree, signs, *kind.sums);
        each_inner(kind, [&](const auto& place) {
            const auto& image = inner.at(place.first);
            add_mirrored(image.harmonics, image.degree, place.second, *kind.sums);
        });
        if (kind.apart != kind.offset) add_periods(kind.offset, kind.apart, *kind.sums);
    });
}

void ImageOperator::make_outer_sums(std::map<Whole, ComplexExpansion>& outer, int threads,
                                    comm::Transport* ranks) const {
    std::vector<std::pair<const Whole, ComplexExpansion>*> offsets;
    offsets.reserve(outer.size());
    for (auto& of : outer) offsets.push_back(&of);
    const auto half = ComplexExpansion(2 * order_).real.size();
    const auto numbers = made_in_turn<double>(
        ranks, std::ssize(offsets), 2 * half, threads, [&](std::int64_t number, std::span<double> to) {
            const auto sums = sums_of_outer(offsets[static_cast<std::size_t>(number)]->first);
            std::copy(sums.real.begin(), sums.real.end(), to.begin());
            std::copy(sums.imag.begin(), sums.imag.end(), to.begin() + static_cast<std::ptrdiff_t>(half));
        });
    for (std::size_t number = 0; number < offsets.size(); ++number) {
        auto& sums = offsets[number]->second = ComplexExpansion(2 * order_);
        const auto from = numbers.begin() + static_cast<std::ptrdiff_t>(2 * half * number);
        std::copy_n(from, half, sums.real.begin());
        std::copy_n(from + static_cast<std::ptrdiff_t>(half), half, sums.imag.begin());
    }
}

auto ImageOperator::far_image(const Whole& offset) const -> FarImage {
    const auto at = place_of(offset);
    FarImage image{.degree = degree_of(length_of(at), reach_, 2 * order_), .harmonics = {}};
    image.harmonics = ComplexExpansion(image.degree);
    farfield::add(SolidHarmonics::irregular(image.degree, at), image.degree, image.harmonics);
    return image;
}

Lengths ImageOperator::place_of(const Whole& offset) const {
    Lengths out{};
    for (std::size_t k = 0; k < 3; ++k) out[k] = offset[k] * grid_.side(k) / grid_.width;
    return out;
}

std::uint64_t ImageOperator::key(int target, int source) const { return grid_.kind(target, source); }

ComplexExpansion ImageOperator::sums_of_outer(const Whole& offset) const {
    const int degree = 2 * order_;
    std::array<ImageGrid::Range, 3> any;
    for (std::size_t k = 0; k < 3; ++k) any[k] = grid_.near_for_any(k);
    const LatticeTail tail(period_, place_of(offset), reach_, any);
    ComplexExpansion sums(degree);
    std::map<Whole, FarImage> found; // but for signs
    for (const auto& image : tail.left_out()) {
        if (is_in(any, image.n)) continue;
        Whole from = offset;
        for (std::size_t k = 0; k < 3; ++k) from[k] -= image.n[k] * grid_.cells[k];
        const auto [place, signs] = without_signs(from);
        const auto [at, is_new] = found.try_emplace(place);
        if (is_new) at->second = far_image(place);
        add_mirrored(at->second.harmonics, at->second.degree, signs, sums);
    }
    add_tail(tail, sums);
    return sums;
}

// The sum over growing spheres is a periodic function less (2π/3V) x² (lattice_tail.h). With u and v for the
// offsets, it is larger at v + d than at u + d by (2π/3V)(u² − v² + 2 (u − v)·d), and −d has the harmonics
// R_1^0 = z and R_1^1 = (x + iy)/2.
void ImageOperator::add_periods(const Whole& nearest, const Whole& apart, ComplexExpansion& sums) const {
    const auto u = place_of(nearest), v = place_of(apart);
    const double factor = 2.0 * std::numbers::pi / (3.0 * period_[0] * period_[1] * period_[2]);
    Lengths slope{};
    double step = 0.0;
    for (std::size_t k = 0; k < 3; ++k) {
        step += factor * (u[k] * u[k] - v[k] * v[k]);
        slope[k] = 2.0 * factor * (u[k] - v[k]);
    }
    sums.real[ComplexExpansion::place(0, 0)] += step;
    if (order_ == 0) return;
    sums.real[ComplexExpansion::place(1, 0)] -= slope[2];
    sums.real[ComplexExpansion::place(1, 1)] -= slope[0];
    sums.imag[ComplexExpansion::place(1, 1)] -= slope[1];
    sums.real[ComplexExpansion::place(1, -1)] += slope[0];
    sums.imag[ComplexExpansion::place(1, -1)] -= slope[1];
}

// With H(d) = Σ (−1)^l conj(R_l^m(d)) S_l^m, and ∫ |R_l^m|² over the sphere |d| = ρ:
//   S_l^m = (−1)^l (2l + 1)(l + m)!(l − m)!/(4π ρ^l) ∫ H R_l^m(d/ρ) dΩ.
void ImageOperator::add_tail(const LatticeTail& tail, ComplexExpansion& sums) const {
    static const Sphere sphere;
    const int degree = std::min(tail_degree, 2 * order_);
    const HarmonicScales scales(degree);
    ComplexExpansion integrals(degree);
    for (std::size_t i = 0; i < sphere.points.size(); ++i) {
        auto d = sphere.points[i];
        for (auto& component : d) component *= reach_;
        const double value = sphere.weights[i] * tail.at(d);
        for (std::size_t place = 0; place < integrals.real.size(); ++place) {
            integrals.real[place] += value * sphere.harmonics[i].real[place];
            integrals.imag[place] += value * sphere.harmonics[i].imag[place];
        }
    }
    for (int l = 0; l <= degree; ++l) {
        const double sign = (l & 1) != 0 ? -1.0 : 1.0;
        const double factor = sign * (2.0 * l + 1.0) / std::pow(reach_, l);
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

std::shared_ptr<const ImageOperator> image_operator(const ImageGrid& grid, int order, int threads,
                                                    comm::Transport* ranks) {
    struct Key {
        ImageGrid grid;
        int order = 0;
        bool operator==(const Key&) const = default;
    };
    static LastMade<Key, ImageOperator> kept;
    auto anywhere = grid;
    anywhere.low = {};
    return kept_or_made(kept, Key{anywhere, order}, ranks,
                        [&] { return ImageOperator(anywhere, order, threads, ranks); });
}

} // namespace farfield
