// Coulomb sums by exafmm-t, for bench/fmm_peers.py; ACCURACY is the order of its surfaces. Apart: its
// translation tables, which depend on the size of the box alone, and the filling of its arrays of bodies.
// Build, with its sources in $S, in float (-DFLOAT=1, -lfftw3f) or in double (-lfftw3):
//     g++ -std=c++14 -O3 -march=native -funroll-loops -fopenmp -I$S/include bench/peers/exafmm.cpp
//     -lfftw3 -lopenblas -o exafmm_double
#include <immintrin.h> // or exafmm-t includes it inside its namespace

#include "fmm_points.h"

#include "build_list.h"
#include "build_tree.h"
#include "laplace.h"

using namespace exafmm_t;

namespace {

Bodies<real_t> bodies_of(const Charges& charges) {
    Bodies<real_t> bodies(charges.n);
    for (std::size_t i = 0; i < charges.n; ++i) {
        bodies[i].ibody = static_cast<int>(i);
        bodies[i].q = static_cast<real_t>(charges.q[i]);
        for (int axis = 0; axis < 3; ++axis)
            bodies[i].X[axis] = static_cast<real_t>(charges.x[3 * i + static_cast<std::size_t>(axis)]);
    }
    return bodies;
}

void make_tables(LaplaceFmm& fmm, const Charges& charges, const std::string& file) {
    auto bodies = bodies_of(charges);
    get_bounds(bodies, bodies, fmm.x0, fmm.r0);
    init_rel_coord();
    fmm.depth = 1;
    fmm.precompute();
    std::remove(file.c_str());
}

} // namespace

int main(int argc, char** argv) {
    const auto task = task_of(argc, argv);
    const auto charges = charges_of(task);
    const std::string tables = task.out + ".tables";
    LaplaceFmm fmm(static_cast<int>(task.accuracy), task.leaf, tables);
    make_tables(fmm, charges, tables);
    std::vector<real_t> potential(charges.n), gradient(3 * charges.n);
    print_times(task, [&] {
        auto sources = bodies_of(charges), targets = bodies_of(charges);
        return seconds_of([&] {
            NodePtrs<real_t> leaves, parents;
            get_bounds(sources, targets, fmm.x0, fmm.r0);
            auto nodes = build_tree<real_t>(sources, targets, leaves, parents, fmm);
            build_list<real_t>(nodes, fmm);
            fmm.M2L_setup(parents);
            fmm.P2M(leaves);
#pragma omp parallel
#pragma omp single nowait
            fmm.M2M(&nodes[0]);
            fmm.P2L(nodes);
            fmm.M2P(leaves);
            fmm.P2P(leaves);
            fmm.M2L(nodes);
#pragma omp parallel
#pragma omp single nowait
            fmm.L2L(&nodes[0]);
            fmm.L2P(leaves);
#pragma omp parallel for schedule(static)
            for (std::size_t l = 0; l < leaves.size(); ++l)
                for (std::size_t j = 0; j < leaves[l]->itrgs.size(); ++j) {
                    const auto i = static_cast<std::size_t>(leaves[l]->itrgs[j]);
                    const real_t* const values = &leaves[l]->trg_value[4 * j];
                    potential[i] = values[0];
                    for (std::size_t axis = 0; axis < 3; ++axis) gradient[3 * i + axis] = values[1 + axis];
                }
        });
    });
    write_results(task, potential, gradient, four_pi);
}
