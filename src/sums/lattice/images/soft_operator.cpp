#include "sums/lattice/images/soft_operator.h"

#include "backend/threads/parallel.h"
#include "base/last_made.h"
#include "sums/lattice/images/made_in_turn.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>
#include <utility>

namespace farfield {
namespace {

using Real = long double;
constexpr int most_points = 44;
/// Of tails, whose images lie tail_factor times as far away as their corners: (3.5·√3·2)^−14 = 1e-15.
constexpr int points_of_tails = 14;

std::size_t in_cube(int a, int b, int c, int n) {
    return (static_cast<std::size_t>(a * n) + static_cast<std::size_t>(b)) * static_cast<std::size_t>(n) +
           static_cast<std::size_t>(c);
}

/// n Chebyshev points of an axis, and how values there become coefficients of T_k.
struct Chebyshev {
    int n;
    std::vector<Real> point, weight; ///< n, n×n

    explicit Chebyshev(int count) : n(count) {
        for (int i = 0; i < n; ++i) point.push_back(std::cos(std::numbers::pi_v<Real> * (i + 0.5L) / n));
        for (int k = 0; k < n; ++k)
            for (int i = 0; i < n; ++i)
                weight.push_back((k == 0 ? 1.0L : 2.0L) / n *
                                 std::cos(std::numbers::pi_v<Real> * k * (i + 0.5L) / n));
    }

    /// Coefficients n×n×n of f(t), t in [−1, 1]³.
    template <class Function>
    [[nodiscard]] std::vector<Real> series(const Function& f) const {
        std::vector<Real> values, out;
        for (const Real x : point)
            for (const Real y : point)
                for (const Real z : point) values.push_back(f({x, y, z}));
        const auto rows = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
        const auto columns = static_cast<std::size_t>(n);
        for (int axis = 0; axis < 3; ++axis) { // the last axis becomes the first, three times
            out.assign(values.size(), 0.0L);
            for (std::size_t row = 0; row < rows; ++row)
                for (std::size_t k = 0; k < columns; ++k) {
                    Real sum = 0.0L;
                    for (std::size_t i = 0; i < columns; ++i)
                        sum += weight[k * columns + i] * values[row * columns + i];
                    out[k * rows + row] = sum;
                }
            values.swap(out);
        }
        return values;
    }
};

struct Series {
    int n = 0;
    std::vector<Real> c;
};

/// Adds the series of a function at t with other signs: bit k, of coordinate k.
void add_mirrored(const Series& from, int signs, Series& to) {
    for (int a = 0; a < from.n; ++a)
        for (int b = 0; b < from.n; ++b)
            for (int c = 0; c < from.n; ++c) {
                const int odd = ((a & signs) ^ (b & signs >> 1) ^ (c & signs >> 2)) & 1;
                const Real value = from.c[in_cube(a, b, c, from.n)];
                to.c[in_cube(a, b, c, to.n)] += odd != 0 ? -value : value;
            }
}

/// Points of an axis for images whose cells lie `apart` sides away: |z + √(z² − 1)|^−n with the singularity
/// z = apart + iε.
int points_for(double apart, double softening, double digits) {
    const std::complex<double> z(apart, softening);
    const double ratio = std::abs(z + std::sqrt(z * z - 1.0));
    return std::clamp(static_cast<int>(std::ceil(digits / std::log10(ratio))) + 3, 4, most_points);
}

/// The powers of T_k.
std::vector<std::vector<Real>> chebyshev_powers(int n) {
    std::vector<std::vector<Real>> out(static_cast<std::size_t>(n),
                                       std::vector<Real>(static_cast<std::size_t>(n), 0.0L));
    for (std::size_t k = 0; k < out.size(); ++k) {
        if (k < 2) {
            out[k][k] = 1.0L;
            continue;
        }
        for (std::size_t a = 0; a <= k; ++a)
            out[k][a] = (a > 0 ? 2.0L * out[k - 1][a - 1] : 0.0L) - out[k - 2][a];
    }
    return out;
}

/// Mean squares of what the terms of each total degree give.
struct Rests {
    std::vector<Real> value, gradient;

    Rests(const Series& series, const Lengths& sides) {
        const auto n = std::size_t{3} * static_cast<std::size_t>(series.n);
        value.assign(n, 0.0L);
        gradient.assign(n, 0.0L);
        for (int a = 0; a < series.n; ++a)
            for (int b = 0; b < series.n; ++b)
                for (int c = 0; c < series.n; ++c) {
                    const Real x = series.c[in_cube(a, b, c, series.n)];
                    const int total = a + b + c;
                    const auto degree = static_cast<std::size_t>(total);
                    Real squares = 0.0L; // of a derivative of T_k, k³ about
                    const std::array powers{a, b, c};
                    for (std::size_t k = 0; k < 3; ++k)
                        squares += std::pow(Real(powers[k]), 3) / (Real(sides[k]) * sides[k]);
                    value[degree] += x * x;
                    gradient[degree] += squares * x * x;
                }
    }
    [[nodiscard]] int degree_for(const SoftGoal& goal) const {
        Real values = 0.0L, gradients = 0.0L;
        for (auto degree = value.size(); degree-- > 0;) {
            values += value[degree];
            gradients += gradient[degree];
            if (values > Real(goal.value) * goal.value || gradients > Real(goal.gradient) * goal.gradient)
                return static_cast<int>(degree);
        }
        return 0;
    }
};

/// In powers of t up to a degree, times their factorials.
std::vector<double> powers_of(Series series, const Powers& powers, const std::vector<std::vector<Real>>& of) {
    const int n = series.n;
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b)
            for (int c = 0; c < n; ++c)
                if (a + b + c > powers.degree()) series.c[in_cube(a, b, c, n)] = 0.0L;
    for (int axis = 0; axis < 3; ++axis) {
        Series next{n, std::vector<Real>(series.c.size(), 0.0L)};
        const auto size = static_cast<std::size_t>(n);
        for (std::size_t row = 0; row < size * size; ++row)
            for (int k = 0; k < n; ++k) {
                const Real value = series.c[row * size + static_cast<std::size_t>(k)];
                if (value == 0.0L) continue;
                for (int a = k & 1; a <= k; a += 2)
                    next.c[static_cast<std::size_t>(a) * size * size + row] +=
                        of[static_cast<std::size_t>(k)][static_cast<std::size_t>(a)] * value;
            }
        series = std::move(next);
    }
    std::vector<double> out(powers.size(), 0.0);
    const int most = std::min(n - 1, powers.degree());
    for (int a = 0; a <= most; ++a)
        for (int b = 0; b <= std::min(most, powers.degree() - a); ++b)
            for (int c = 0; c <= std::min(most, powers.degree() - a - b); ++c)
                out[powers.row(a, b) + static_cast<std::size_t>(c)] =
                    static_cast<double>(series.c[in_cube(a, b, c, n)] * std::tgamma(a + 1.0L) *
                                        std::tgamma(b + 1.0L) * std::tgamma(c + 1.0L));
    return out;
}

/// At the square of a distance.
Real value_of(const SoftKernel& kernel, Real r2) {
    const Real softening2 = Real(kernel.softening) * kernel.softening;
    const Real b = std::sqrt(r2 + softening2);
    if (!kernel.beside_harmonics) return 1.0L / b;
    const Real a = std::sqrt(r2); // 1/b − 1/a without cancellation
    return -softening2 / (a * b * (a + b));
}

/// Sums of far images over differences of cells, in the unit of the grid.
class Interpolation {
public:
    Interpolation(const ImageGrid& grid, const Lengths& sides, const SoftKernel& kernel, int points)
        : grid_(grid), sides_(sides), kernel_(kernel), fine_(points),
          coarse_(std::min(points, points_of_tails)) {
        for (std::size_t k = 0; k < 3; ++k) any_[k] = grid.near_for_any(k);
    }

    [[nodiscard]] int points() const { return fine_.n; }
    [[nodiscard]] const std::array<ImageGrid::Range, 3>& any() const { return any_; }

    /// One image at −`at` from the point around which.
    [[nodiscard]] Series of_image(const Lengths& at) const {
        return {fine_.n, fine_.series([&](const std::array<Real, 3>& t) {
                    Real square = 0.0L;
                    for (std::size_t k = 0; k < 3; ++k) {
                        const Real x = at[k] + sides_[k] * t[k];
                        square += x * x;
                    }
                    return value_of(kernel_, square);
                })};
    }

    /// All that are near for no cell.
    [[nodiscard]] Series of_outer(const Whole& offset) const {
        const auto centre = place_of(offset);
        const LatticeTail tail(grid_.period, centre, length_of(sides_), any_, kernel_.softening);
        std::optional<LatticeTail> of_harmonics; // which leaves out the same images
        if (kernel_.beside_harmonics) of_harmonics.emplace(grid_.period, centre, length_of(sides_), any_);
        Series out{fine_.n, {}};
        out.c.assign(in_cube(fine_.n, 0, 0, fine_.n), 0.0L);
        add_mirrored({coarse_.n, coarse_.series([&](const std::array<Real, 3>& t) {
                          Lengths d{};
                          for (std::size_t k = 0; k < 3; ++k) d[k] = static_cast<double>(sides_[k] * t[k]);
                          return of_harmonics ? tail.value(d) - of_harmonics->value(d) - tin_foil(centre, d)
                                              : tail.value(d);
                      })},
                     0, out);
        for (const auto& image : tail.left_out())
            if (!is_in(any_, image.n)) add_mirrored(of_image(image.at), 0, out);
        return out;
    }

    [[nodiscard]] Lengths place_of(const Whole& offset) const {
        Lengths out{};
        for (std::size_t k = 0; k < 3; ++k) out[k] = offset[k] * grid_.side(k);
        return out;
    }

private:
    /// What it adds to harmonics along three axes.
    [[nodiscard]] Real tin_foil(const Lengths& centre, const Lengths& d) const {
        Real square = 0.0L, volume = 1.0L;
        for (std::size_t k = 0; k < 3; ++k) {
            square += Real(centre[k] + d[k]) * (centre[k] + d[k]);
            volume *= grid_.period[k];
        }
        return volume > 0.0L ? 2.0L * std::numbers::pi_v<Real> / 3.0L / volume * square : 0.0L;
    }

    ImageGrid grid_;
    Lengths sides_;
    SoftKernel kernel_;
    Chebyshev fine_, coarse_;
    std::array<ImageGrid::Range, 3> any_{};
};

/// Those of images that are far from all cells, for cells as far apart as each is from the first one.
std::vector<Series> outer_series(const ImageGrid& grid, const Interpolation& interpolation, int threads,
                                 comm::Transport* ranks) {
    const int n = interpolation.points();
    const auto width = in_cube(n, 0, 0, n);
    const auto numbers =
        made_in_turn<Real>(ranks, grid.count(), width, threads, [&](std::int64_t number, std::span<Real> to) {
            const auto series = interpolation.of_outer(grid.cell_of(static_cast<int>(number)));
            std::copy(series.c.begin(), series.c.end(), to.begin());
        });
    std::vector<Series> out;
    for (auto from = numbers.begin(); from != numbers.end(); from += static_cast<std::ptrdiff_t>(width))
        out.push_back({n, {from, from + static_cast<std::ptrdiff_t>(width)}});
    return out;
}

} // namespace

Powers::Powers(int degree)
    : degree_(degree), rows_(static_cast<std::size_t>((degree + 1) * (degree + 1)), 0) {
    for (int a = 0; a <= degree; ++a)
        for (int b = 0; b <= degree - a; ++b) {
            const int place = a * (degree + 1) + b;
            rows_[static_cast<std::size_t>(place)] = size_;
            size_ += static_cast<std::size_t>(degree - a - b + 1);
        }
}

double soft_work_of_a_pair(int degree) {
    double product = 1.0; // (K + 6 over 6)
    for (int k = 1; k <= 6; ++k) product *= (degree + k) / static_cast<double>(k);
    return product;
}

double nearest_far_image(const ImageGrid& grid) {
    double nearest = HUGE_VAL;
    for (std::size_t k = 0; k < 3; ++k)
        if (grid.is_periodic(k)) nearest = std::min(nearest, grid.rim[k] * grid.side(k));
    return nearest;
}

// The difference falls off as r^−3, so that its gradient is three times as large beside it.
double digits_of(const SoftGoal& goal, const ImageGrid& grid, const SoftKernel& kernel) {
    const double nearest = nearest_far_image(grid);
    const auto size = static_cast<double>(std::abs(value_of(kernel, Real(nearest) * nearest)));
    const double slope = (kernel.beside_harmonics ? 3.0 : 1.0) * size / nearest;
    return 1.0 + std::max(std::log10(size / goal.value), std::log10(slope / goal.gradient));
}

double soft_powers(int degree) { return (degree + 1.0) * (degree + 2.0) * (degree + 3.0) / 6.0; }

int soft_degree(double goal, int separation) {
    const double per_digit = separation > 1 ? 3.0 : 4.0;
    return static_cast<int>(std::max(1.0, 6.0 - per_digit * std::log10(goal)));
}

// Functions of lattices along three axes have the most terms; interpolants grow with the degree.
double soft_operator_seconds(const ImageGrid& grid, int degree) {
    constexpr double usual_degree = 26.0, seconds_a_kind = 5e-3;
    const bool is_closed = grid.is_periodic(0) && grid.is_periodic(1) && grid.is_periodic(2);
    const double seconds_an_offset = is_closed ? 0.6 : 0.2;
    const double longer = std::pow(degree / usual_degree, 2);
    return longer * (grid.count() * seconds_an_offset + longer * grid.operators() * seconds_a_kind);
}

// As ImageOperator's constructor: outer images by offsets without signs, those between the rim and them one
// by one, and for each kind of pairs what it needs.
SoftOperator::SoftOperator(const ImageGrid& grid, const SoftKernel& kernel, const SoftGoal& goal, int threads,
                           comm::Transport* ranks)
    : grid_(grid) {
    constexpr double least_side = 0.1; // of a cell's width: flat cells have derivatives across, too
    int points = 0;
    for (std::size_t k = 0; k < 3; ++k) {
        sides_[k] = std::max(grid.side(k), least_side * grid.width);
    }
    const double digits = digits_of(goal, grid, kernel);
    const double smooth = kernel.beside_harmonics ? 0.0 : kernel.softening;
    for (std::size_t k = 0; k < 3; ++k)
        if (grid.is_periodic(k))
            points = std::max(points, points_for(grid.rim[k] + 1.0, smooth / grid.side(k), digits));
    const Interpolation interpolation(grid, sides_, kernel, points);
    const auto outer = outer_series(grid, interpolation, threads, ranks);
    struct Kind {
        Whole offset{};
        std::array<ImageGrid::Range, 3> near{};
        std::vector<double>* series = nullptr;
    };
    std::vector<Kind> kinds;
    std::map<Whole, Series> inner;
    const auto each_inner = [&](const Kind& kind, const auto& visit) {
        each_in(interpolation.any(), [&](const Whole& n) {
            if (is_in(kind.near, n)) return;
            Whole from = kind.offset;
            for (std::size_t k = 0; k < 3; ++k) from[k] -= n[k] * grid.cells[k];
            visit(without_signs(from));
        });
    };
    for (int target = 0; target < grid.count(); ++target)
        for (int source = 0; source < grid.count(); ++source) {
            const auto [at, is_new] = series_.try_emplace(grid.kind(target, source));
            if (!is_new) continue;
            const auto from = grid.cell_of(source);
            Kind kind{.offset = grid.cell_of(target), .series = &at->second};
            for (std::size_t k = 0; k < 3; ++k) {
                kind.offset[k] -= from[k];
                kind.near[k] = grid.near(from[k], k);
            }
            each_inner(kind, [&](const auto& place) { inner.try_emplace(place.first); });
            kinds.push_back(kind);
        }
    std::vector<std::pair<const Whole, Series>*> places;
    places.reserve(inner.size());
    for (auto& place : inner) places.push_back(&place);
    parallel_for(threads, static_cast<std::int64_t>(places.size()), [&](std::int64_t number) {
        auto& [offset, series] = *places[static_cast<std::size_t>(number)];
        series = interpolation.of_image(interpolation.place_of(offset));
    });
    const auto all_of = [&](const Kind& kind) {
        const int n = interpolation.points();
        Series all{n, std::vector<Real>(in_cube(n, 0, 0, n), 0.0L)};
        const auto [offset, signs] = without_signs(kind.offset);
        add_mirrored(outer[static_cast<std::size_t>(grid.number_of(offset))], signs, all);
        each_inner(kind, [&](const auto& place) { add_mirrored(inner.at(place.first), place.second, all); });
        return all;
    };
    std::vector<int> degrees(kinds.size());
    parallel_for(threads, static_cast<std::int64_t>(kinds.size()), [&](std::int64_t number) {
        const auto at = static_cast<std::size_t>(number);
        degrees[at] = Rests(all_of(kinds[at]), sides_).degree_for(goal);
    });
    powers_ = Powers(std::max(1, *std::max_element(degrees.begin(), degrees.end())));
    const auto of = chebyshev_powers(interpolation.points());
    parallel_for(threads, static_cast<std::int64_t>(kinds.size()), [&](std::int64_t number) {
        const auto& kind = kinds[static_cast<std::size_t>(number)];
        *kind.series = powers_of(all_of(kind), powers_, of);
    });
}

double SoftOperator::work() const {
    return static_cast<double>(grid_.count()) * grid_.count() * soft_work_of_a_pair(powers_.degree());
}

void SoftOperator::add(int target, int source, std::span<const double> moments,
                       std::span<double> local) const {
    const auto& of_pair = series(target, source);
    const int most = powers_.degree();
    for (int ax = 0; ax <= most; ++ax)
        for (int ay = 0; ay <= most - ax; ++ay) {
            double* const to = &local[powers_.row(ax, ay)];
            for (int bx = 0; bx <= most - ax - ay; ++bx)
                for (int by = 0; by <= most - ax - ay - bx; ++by) {
                    const int rest = most - ax - ay - bx - by;
                    const double* const c = &of_pair[powers_.row(ax + bx, ay + by)];
                    const double* const m = &moments[powers_.row(bx, by)];
                    for (int bz = 0; bz <= rest; ++bz)
                        for (int az = 0; az <= rest - bz; ++az) to[az] += c[az + bz] * m[bz];
                }
        }
}

std::shared_ptr<const SoftOperator> soft_operator(const ImageGrid& grid, const SoftKernel& kernel,
                                                  const SoftGoal& goal, int threads, comm::Transport* ranks) {
    struct Key {
        ImageGrid grid;
        SoftKernel kernel;
        SoftGoal goal;
        bool operator==(const Key&) const = default;
    };
    static LastMade<Key, SoftOperator> kept;
    auto anywhere = grid;
    anywhere.low = {};
    return kept_or_made(kept, Key{anywhere, kernel, goal}, ranks,
                        [&] { return SoftOperator(anywhere, kernel, goal, threads, ranks); });
}

} // namespace farfield
