// Coulomb sums by FMM3D, for bench/fmm_peers.py; ACCURACY is the error asked for, and LEAF 0 its own choice.
// Build, with its sources in $S (there: make lib FAST_KER=ON OMP=ON):
//     g++ -std=c++17 -O3 -fopenmp bench/peers/fmm3d.cpp $S/lib-static/libfmm3d.a -lgfortran -o fmm3d
#include "fmm_points.h"

#include <cstdint>

using Int = std::int64_t;

extern "C" {
void lndiv_(double* eps, Int* sources, Int* targets, Int* charges, Int* dipoles, Int* at_sources,
            Int* at_targets, Int* leaf, Int* divide_by);
void lfmm3d_ndiv_(Int* vectors, double* eps, Int* sources, double* source, Int* charges, double* charge,
                  Int* dipoles, double* dipole, Int* periodic, Int* at_sources, double* potential,
                  double* gradient, double* hessian, Int* targets, double* target, Int* at_targets,
                  double* target_potential, double* target_gradient, double* target_hessian, Int* leaf,
                  Int* divide_by, Int* near, double* times, Int* error);
}

int main(int argc, char** argv) {
    const auto task = task_of(argc, argv);
    auto charges = charges_of(task);
    Int n = static_cast<Int>(charges.n), none = 0, one = 1, with_gradient = 2, leaf = task.leaf;
    Int divide_by = 0, error = 0;
    double eps = task.accuracy, unused[64] = {}, times[16] = {};
    if (leaf == 0) lndiv_(&eps, &n, &none, &one, &none, &with_gradient, &none, &leaf, &divide_by);
    std::vector<double> potential(charges.n), gradient(3 * charges.n);
    print_times(task, [&] {
        return seconds_of([&] {
            Int periodic = 0, near = 1;
            lfmm3d_ndiv_(&one, &eps, &n, charges.x.data(), &one, charges.q.data(), &none, unused, &periodic,
                         &with_gradient, potential.data(), gradient.data(), unused, &none, unused, &none,
                         unused, unused, unused, &leaf, &divide_by, &near, times, &error);
        });
    });
    if (error != 0) return 1;
    write_results(task, potential, gradient, four_pi);
}
