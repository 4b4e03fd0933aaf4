// Coulomb sums by PVFMM, for bench/fmm_peers.py; ACCURACY is m. Its tables are apart; the first repeat makes
// its buffers. Build, with its sources in $S and its objects, made with the same flags, in $O; in float with
// -DPVREAL=float:
//     mpicxx -std=c++17 -O3 -march=native -funroll-loops -fopenmp -DNDEBUG -DHAVE_CONFIG_H
//     -DSCTL_QUAD_T=__float128 -DSCTL_HAVE_BLAS -DSCTL_HAVE_LAPACK -DSCTL_HAVE_FFTW -DPVREAL=double -I$O
//     -I$S/include -I$S/SCTL/include bench/peers/pvfmm.cpp $O/*.o -lfftw3 -lfftw3f -llapack -lopenblas
//     -o pvfmm_double
#include <pvfmm.hpp>

#include "fmm_points.h"

using Real = PVREAL;

namespace {

/// Potential and field of a charge in one, with PVFMM's reciprocal square roots.
struct WithField {
    static const int FLOPS = 20;
    template <class R>
    static R ScaleFactor() {
        return 1 / (4 * sctl::const_pi<R>());
    }
    template <class V, int digits>
    static void uKerEval(V (&u)[4], const V (&r)[3], const V (&q)[1], const void* /*context*/) {
        const V r2 = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        const V inverse = sctl::approx_rsqrt<digits>(r2, r2 > V::Zero());
        const V potential = inverse * q[0];
        const V field = inverse * inverse * potential;
        u[0] = u[0] + potential;
        for (int axis = 0; axis < 3; ++axis) u[1 + axis] = FMA(r[axis], field, u[1 + axis]);
    }
};
struct FieldKernel : public pvfmm::GenericKernel<WithField> {};

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const auto task = task_of(argc, argv);
    const auto charges = charges_of(task);
    const std::vector<Real> x(charges.x.begin(), charges.x.end()), q(charges.q.begin(), charges.q.end());
    const auto only_potential =
        pvfmm::BuildKernel<Real, pvfmm::laplace_poten, pvfmm::laplace_dbl_poten>("laplace", 3, {1, 1});
    const auto kernel = pvfmm::BuildKernel<Real, FieldKernel>(
        "laplace_pg", 3, {1, 4}, &only_potential, &only_potential, nullptr, &only_potential, &only_potential,
        nullptr, &only_potential, nullptr);
    pvfmm::mem::MemoryManager memory(10000000);
    pvfmm::PtFMM<Real> tables(&memory);
    tables.Initialize(static_cast<int>(task.accuracy), MPI_COMM_WORLD, &kernel);
    std::vector<Real> values;
    print_times(task, [&] {
        pvfmm::PtFMM_Tree<Real>* tree = nullptr;
        const double seconds = seconds_of([&] {
            tree = PtFMM_CreateTree(x, q, x, MPI_COMM_WORLD, task.leaf, pvfmm::FreeSpace);
            tree->SetupFMM(&tables);
            PtFMM_Evaluate(tree, values, charges.n);
        });
        delete tree;
        return seconds;
    });
    std::vector<Real> potential, gradient;
    for (std::size_t i = 0; i < charges.n; ++i) {
        potential.push_back(values[4 * i]);
        for (std::size_t axis = 1; axis < 4; ++axis) gradient.push_back(-values[4 * i + axis]);
    }
    write_results(task, potential, gradient, four_pi);
    MPI_Finalize();
}
