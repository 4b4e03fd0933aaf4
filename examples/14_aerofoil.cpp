// Flow about a Joukowski aerofoil at an angle of attack: vortex panels, whose dense system GMRES solves with
// sums of vortices as its operator; the lift beside that of conformal mapping.
//
// The surface is a sheet of vorticity g on N straight panels. The stream function of sheet and stream
// together is one number C on the body: Σ_j g_j ∫_j −ln|z_i − s|/2π ds + Im(z_i e^(−ia)) = C at the middle
// z_i of each panel. The Kutta condition, g_1 + g_N = 0, makes the flow leave at the trailing edge. The lift
// of a stream of speed 1 and density 1 is −Γ, Γ = Σ g_j h_j (Kutta and Joukowski). It converges with N⁻².
//
// Build it against an installed Farfield and Eigen: c++ -std=c++20 -I /usr/include/eigen3 14_aerofoil.cpp
// -lfarfield
#include <farfield/error.h>
#include <farfield/sum.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <unsupported/Eigen/IterativeSolvers>

#include <cmath>
#include <complex>
#include <cstdio>
#include <span>
#include <vector>

using Complex = std::complex<double>;
using Eigen::VectorXd;
constexpr double pi = 3.14159265358979323846;
constexpr double angle_of_attack = 5.0 * pi / 180.0;
const Complex centre(-0.1, 0.1); // of the circle that w = z + 1/z makes an aerofoil of; it passes through 1
const double radius = std::abs(1.0 - centre);
const double trailing = std::asin(centre.imag() / radius); // the edge is at this angle below the axis

class Aerofoil;
template <>
struct Eigen::internal::traits<Aerofoil> : traits<SparseMatrix<double>> {
}; // to Eigen a matrix without entries

/// ∫ ln|z − s| ds over the straight panel from a to b.
double log_integral(Complex z, Complex a, Complex b) {
    const double h = std::abs(b - a);
    const Complex local = (z - a) * h / (b - a); // the panel lies on the axis, from 0 to h
    const double y = local.imag();
    const auto primitive = [y](double x) {
        const double r2 = x * x + y * y;
        return (r2 > 0.0 ? 0.5 * x * std::log(r2) : 0.0) - x + (y != 0.0 ? y * std::atan2(x, y) : 0.0);
    };
    return primitive(local.real()) - primitive(local.real() - h);
}

/// The panels, and the operator of the unknown Γ_j = g_j h_j and C.
class Aerofoil : public Eigen::EigenBase<Aerofoil> {
public:
    // What Eigen's solvers ask of a matrix.
    using Scalar = double;
    using RealScalar = double;
    using StorageIndex = int;
    enum { ColsAtCompileTime = Eigen::Dynamic, MaxColsAtCompileTime = Eigen::Dynamic, IsRowMajor = false };
    [[nodiscard]] Eigen::Index rows() const { return n_ + 1; }
    [[nodiscard]] Eigen::Index cols() const { return n_ + 1; }
    template <class Vector>
    Eigen::Product<Aerofoil, Vector, Eigen::AliasFreeProduct>
    operator*(const Eigen::MatrixBase<Vector>& x) const {
        return {*this, x.derived()};
    }

    explicit Aerofoil(int n)
        : n_(n), ends_(corners(n)), sources_(quadrature()), middles_(middles()),
          plan_(matrix_view(sources_), matrix_view(middles_), {.kernel = farfield::Kernel::vortex2d}) {
        for (int i = 0; i < n_; ++i)
            for (int j = 0; j < n_; ++j)
                if (is_near(i, j)) near_.push_back({i, j, exact(i, j) - by_points(i, j)});
    }

    [[nodiscard]] int panels() const { return n_; }
    [[nodiscard]] double length(int j) const { return std::abs(end(j + 1) - end(j)); }
    [[nodiscard]] Complex middle(int i) const { return 0.5 * (end(i) + end(i + 1)); }

    /// Far panels act by the points of Gauss' rule, in one sum of vortices; near ones by their integral.
    [[nodiscard]] VectorXd apply(const VectorXd& x) const {
        std::vector<double> circulations, stream(static_cast<std::size_t>(n_));
        for (int j = 0; j < n_; ++j) circulations.insert(circulations.end(), {0.5 * x[j], 0.5 * x[j]});
        plan_.execute(farfield::matrix_view(std::span<const double>(circulations), 1),
                      {.potential = std::span<double>(stream)});
        VectorXd out(n_ + 1);
        for (int i = 0; i < n_; ++i) out[i] = stream[static_cast<std::size_t>(i)] - x[n_];
        for (const auto& [i, j, change] : near_) out[i] += change * x[j];
        out[n_] = x[0] / length(0) + x[n_ - 1] / length(n_ - 1);
        return out;
    }

private:
    static constexpr double places[] = {-0.5773502691896258, 0.5773502691896258}; // Gauss
    struct Near {
        int i, j;
        double change;
    };

    static std::vector<Complex> corners(int n) {
        std::vector<Complex> out;
        for (int k = 0; k <= n; ++k) {
            const Complex z = centre + std::polar(radius, 2.0 * pi * k / n - trailing);
            out.push_back(k == 0 || k == n ? Complex(2.0, 0.0) : z + 1.0 / z);
        }
        return out;
    }
    [[nodiscard]] Complex end(int k) const { return ends_[static_cast<std::size_t>(k)]; }
    [[nodiscard]] Complex point(int j, double place) const {
        return middle(j) + 0.5 * place * (end(j + 1) - end(j));
    }
    [[nodiscard]] std::vector<double> quadrature() const {
        std::vector<double> out;
        for (int j = 0; j < n_; ++j)
            for (const double place : places)
                out.insert(out.end(), {point(j, place).real(), point(j, place).imag()});
        return out;
    }
    [[nodiscard]] std::vector<double> middles() const {
        std::vector<double> out;
        for (int i = 0; i < n_; ++i) out.insert(out.end(), {middle(i).real(), middle(i).imag()});
        return out;
    }
    static farfield::ConstArrayView matrix_view(const std::vector<double>& points) {
        return farfield::matrix_view(std::span<const double>(points), 2);
    }
    [[nodiscard]] bool is_near(int i, int j) const {
        return std::abs(middle(i) - middle(j)) < 6.0 * length(j);
    }
    [[nodiscard]] double exact(int i, int j) const {
        return -log_integral(middle(i), end(j), end(j + 1)) / (2.0 * pi * length(j));
    }
    [[nodiscard]] double by_points(int i, int j) const {
        const double first = std::log(std::abs(middle(i) - point(j, places[0])));
        const double second = std::log(std::abs(middle(i) - point(j, places[1])));
        return -0.5 * (first + second) / (2.0 * pi);
    }

    int n_;
    std::vector<Complex> ends_;
    std::vector<double> sources_, middles_;
    mutable farfield::SumPlan plan_;
    std::vector<Near> near_;
};

namespace Eigen::internal {
template <class Vector>
struct generic_product_impl<Aerofoil, Vector, SparseShape, DenseShape, GemvProduct>
    : generic_product_impl_base<Aerofoil, Vector, generic_product_impl<Aerofoil, Vector>> {
    template <class Result>
    static void scaleAndAddTo(Result& out, const Aerofoil& aerofoil, const Vector& x, double factor) {
        out += factor * aerofoil.apply(x);
    }
};
} // namespace Eigen::internal

/// Solves for the circle instead of the aerofoil, to which conformal mapping takes it: what is left is well
/// conditioned.
class Circle {
public:
    Circle() = default;
    template <class Matrix>
    Circle& analyzePattern(const Matrix& /*matrix*/) {
        return *this;
    }
    template <class Matrix>
    Circle& factorize(const Matrix& aerofoil) {
        return compute(aerofoil);
    }
    Circle& compute(const Aerofoil& aerofoil) {
        const int n = aerofoil.panels();
        Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n + 1, n + 1);
        for (int i = 0; i < n; ++i) {
            for (int j = 0; j < n; ++j)
                matrix(i, j) = -log_integral(at(i + 0.5, n), at(j, n), at(j + 1, n)) /
                               (2.0 * pi * std::abs(at(1, n) - at(0, n)));
            matrix(i, n) = -1.0;
        }
        matrix(n, 0) = 1.0 / aerofoil.length(0);
        matrix(n, n - 1) = 1.0 / aerofoil.length(n - 1);
        solver_.compute(matrix);
        return *this;
    }
    template <class Vector>
    [[nodiscard]] VectorXd solve(const Eigen::MatrixBase<Vector>& b) const {
        return solver_.solve(b.derived());
    }
    static Eigen::ComputationInfo info() { return Eigen::Success; }

private:
    static Complex at(double k, int n) { return std::polar(radius, 2.0 * pi * k / n); }
    Eigen::PartialPivLU<Eigen::MatrixXd> solver_;
};

int main() try {
    const double exact = 4.0 * pi * radius * std::sin(angle_of_attack + trailing);
    std::printf("panels   lift       error      order   iterations\n");
    double before = NAN;
    for (const int n : {50, 100, 200, 400}) {
        const Aerofoil aerofoil(n);
        VectorXd right = VectorXd::Zero(n + 1);
        for (int i = 0; i < n; ++i)
            right[i] = -(aerofoil.middle(i) * std::polar(1.0, -angle_of_attack)).imag();
        Eigen::GMRES<Aerofoil, Circle> solver;
        solver.compute(aerofoil);
        solver.set_restart(n);
        solver.setTolerance(1e-7);
        const VectorXd x = solver.solve(right);
        const double lift = -x.head(n).sum();
        const double error = std::abs(lift / exact - 1.0);
        std::printf("%6d   %.6f   %.2e   %5.2f   %d\n", n, lift, error, std::log2(before / error),
                    static_cast<int>(solver.iterations()));
        before = error;
    }
    std::printf("exact    %.6f\n", exact);
    return 0;
} catch (const farfield::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
