#include "sums/lattice/images/image_operator.h"

#include "backend/threads/parallel.h"
#include "sums/expansions/operators.h"
#include "sums/lattice/images/lattice_tail.h"
#include "sums/lattice/images/made_in_turn.h"

#include <algorithm>
#include <cmath>
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
        for (std::size_t i = 0; i < rule.node.size(); ++i)
            for (int j = 0; j < of_ring; ++j) {
                const double z = rule.node[i], side = std::sqrt(1.0 - z * z);
                const double angle = 2.0 * std::numbers::pi * (j + 0.5) / of_ring;
                points.push_back({side * std::cos(angle), side * std::sin(angle), z});
                weights.push_back(rule.weight[i] / (2.0 * of_ring));
                harmonics.emplace_back(tail_degree);
                farfield::add(SolidHarmonics::regular(tail_degree, points.back()), tail_degree,
                              harmonics.back());
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
    const auto outer = outer_sums(threads, ranks);
    struct Kind {
        Whole offset{};
        std::array<ImageGrid::Range, 3> near{};
        ComplexExpansion* sums = nullptr;
    };
    std::array<ImageGrid::Range, 3> any;
    for (std::size_t k = 0; k < 3; ++k) any[k] = grid.near_for_any(k);
    struct Inner {
        int degree = 0;
        ComplexExpansion harmonics;
    };
    std::map<Whole, Inner> inner;
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
            const auto from = grid.cell_of(source);
            Kind kind{.offset = grid.cell_of(target), .sums = &at->second};
            for (std::size_t k = 0; k < 3; ++k) {
                kind.offset[k] -= from[k];
                kind.near[k] = grid.near(from[k], k);
            }
            each_inner(kind, [&](const auto& place) { inner.try_emplace(place.first); });
            kinds.push_back(kind);
        }
    std::vector<std::pair<const Whole, Inner>*> places;
    places.reserve(inner.size());
    for (auto& place : inner) places.push_back(&place);
    parallel_for(threads, static_cast<std::int64_t>(places.size()), [&](std::int64_t number) {
        auto& [offset, image] = *places[static_cast<std::size_t>(number)];
        const auto at = place_of(offset);
        image.degree = degree_of(length_of(at), reach_, degree);
        image.harmonics = ComplexExpansion(image.degree);
        farfield::add(SolidHarmonics::irregular(image.degree, at), image.degree, image.harmonics);
    });
    parallel_for(threads, static_cast<std::int64_t>(kinds.size()), [&](std::int64_t number) {
        const auto& kind = kinds[static_cast<std::size_t>(number)];
        *kind.sums = ComplexExpansion(degree);
        const auto [offset, signs] = without_signs(kind.offset);
        add_mirrored(outer[static_cast<std::size_t>(grid.number_of(offset))], degree, signs, *kind.sums);
        each_inner(kind, [&](const auto& place) {
            const auto& image = inner.at(place.first);
            add_mirrored(image.harmonics, image.degree, place.second, *kind.sums);
        });
    });
}

std::vector<ComplexExpansion> ImageOperator::outer_sums(int threads, comm::Transport* ranks) const {
    std::vector<ComplexExpansion> out(static_cast<std::size_t>(grid_.count()), ComplexExpansion(2 * order_));
    const auto half = out.front().real.size();
    const auto numbers = made_in_turn<double>(
        ranks, grid_.count(), 2 * half, threads, [&](std::int64_t number, std::span<double> to) {
            const auto sums = sums_of_outer(grid_.cell_of(static_cast<int>(number)));
            std::copy(sums.real.begin(), sums.real.end(), to.begin());
            std::copy(sums.imag.begin(), sums.imag.end(), to.begin() + static_cast<std::ptrdiff_t>(half));
        });
    for (std::size_t number = 0; number < out.size(); ++number) {
        const auto from = numbers.begin() + static_cast<std::ptrdiff_t>(2 * half * number);
        std::copy_n(from, half, out[number].real.begin());
        std::copy_n(from + static_cast<std::ptrdiff_t>(half), half, out[number].imag.begin());
    }
    return out;
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
    for (const auto& image : tail.left_out()) {
        if (is_in(any, image.n)) continue;
        const int most = degree_of(length_of(image.at), reach_, degree);
        farfield::add(SolidHarmonics::irregular(most, image.at), most, sums);
    }
    add_tail(tail, sums);
    return sums;
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
