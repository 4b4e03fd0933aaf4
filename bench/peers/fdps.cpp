// Fields of gravity by FDPS with Phantom-GRAPE, for bench/treecode_peers.py; needs both.
//     fdps POINTS OUT SOFTENING THETA LEAF GROUP REPEATS          (threads by OMP_NUM_THREADS)
// Files as bench_steps has them. Build, with FDPS' sources in $S and G5's library in $L:
//     g++ -std=c++17 -O3 -march=native -ffast-math -fopenmp -DPARTICLE_SIMULATOR_THREAD_PARALLEL -I$S -I$L
//     bench/peers/fdps.cpp $L/libpg5.a -o fdps
#include <particle_simulator.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

extern "C" {
#include <gp5util.h>
}

struct Force {
    PS::F64vec acc;
    PS::F64 pot;
    void clear() { acc = 0.0, pot = 0.0; }
};

struct Star {
    PS::S64 id;
    PS::F64 mass;
    PS::F64vec pos, acc;
    PS::F64vec getPos() const { return pos; }
    void setPos(const PS::F64vec& p) { pos = p; }
    PS::F64 getCharge() const { return mass; }
    void copyFromForce(const Force& force) { acc = force.acc; }
};

struct Target {
    PS::F64vec pos;
    PS::F64vec getPos() const { return pos; }
    void copyFromFP(const Star& star) { pos = star.pos; }
};

struct Source {
    PS::F64vec pos;
    PS::F64 mass;
    PS::F64vec getPos() const { return pos; }
    PS::F64 getCharge() const { return mass; }
    void setPos(const PS::F64vec& p) { pos = p; }
    void copyFromFP(const Star& star) { pos = star.pos, mass = star.mass; }
};

// Coordinates count from the first target, so that their rounding to float stays small.
template <class From>
void add_forces(const Target* targets, PS::S32 n, const From* sources, PS::S32 count, Force* forces) {
    static thread_local std::vector<double> x, a, phi, y, m;
    const PS::F64vec origin = targets[0].pos;
    const auto set = [&origin](std::vector<double>& to, int k, const PS::F64vec& at) {
        to[3 * k] = at.x - origin.x, to[3 * k + 1] = at.y - origin.y, to[3 * k + 2] = at.z - origin.z;
    };
    x.resize(3 * n), a.resize(3 * n), phi.resize(n), y.resize(3 * count), m.resize(count);
    for (int i = 0; i < n; ++i) set(x, i, targets[i].pos);
    for (int j = 0; j < count; ++j) set(y, j, sources[j].getPos()), m[j] = sources[j].getCharge();
    const int device = PS::Comm::getThreadNum();
    constexpr int most = JMEMSIZE - 8;
    for (int first = 0; first < count; first += most) {
        const int some = std::min(count - first, most);
        g5_set_xmjMC(device, 0, some, reinterpret_cast<double(*)[3]>(&y[3 * first]), &m[first]);
        g5_set_nMC(device, some);
        g5_calculate_force_on_xMC(device, reinterpret_cast<double(*)[3]>(x.data()),
                                  reinterpret_cast<double(*)[3]>(a.data()), phi.data(), n);
        for (int i = 0; i < n; ++i) {
            forces[i].acc += PS::F64vec(a[3 * i], a[3 * i + 1], a[3 * i + 2]);
            forces[i].pot -= phi[i];
        }
    }
}

int main(int argc, char** argv) {
    if (argc != 8) return 2;
    PS::Initialize(argc, argv);
    std::ifstream in(argv[1], std::ios::binary | std::ios::ate);
    const auto n = static_cast<std::size_t>(in.tellg()) / (4 * sizeof(double));
    std::vector<double> rows(4 * n);
    in.seekg(0);
    if (!in.read(reinterpret_cast<char*>(rows.data()), static_cast<std::streamsize>(32 * n))) return 2;
    PS::ParticleSystem<Star> system;
    system.initialize();
    system.setNumberOfParticleLocal(static_cast<int>(n));
    for (std::size_t i = 0; i < n; ++i) {
        system[i].id = static_cast<PS::S64>(i);
        system[i].pos = PS::F64vec(rows[4 * i], rows[4 * i + 1], rows[4 * i + 2]);
        system[i].mass = rows[4 * i + 3];
    }
    PS::DomainInfo domain;
    domain.initialize(0.3);
    domain.decomposeDomainAll(system);
    system.exchangeParticle(domain);
    g5_open();
    g5_set_eps_to_all(std::atof(argv[3]));
    PS::TreeForForceLong<Force, Target, Source>::Monopole tree;
    tree.initialize(n, static_cast<float>(std::atof(argv[4])), std::atoi(argv[5]), std::atoi(argv[6]));
    const char* before = "";
    std::printf("{\"seconds\": [");
    for (int k = 0; k <= std::atoi(argv[7]); ++k) { // the first one warms up
        const auto begin = std::chrono::steady_clock::now();
        tree.calcForceAllAndWriteBack(add_forces<Source>, add_forces<PS::SPJMonopole>, system, domain);
        const double taken = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (k == 0) continue;
        std::printf("%s%.6f", before, taken);
        before = ", ";
    }
    std::printf("]}\n");
    std::vector<double> fields(3 * n);
    for (std::size_t i = 0; i < n; ++i)
        for (int axis = 0; axis < 3; ++axis) fields[3 * system[i].id + axis] = system[i].acc[axis];
    std::ofstream(argv[2], std::ios::binary)
        .write(reinterpret_cast<const char*>(fields.data()), static_cast<std::streamsize>(24 * n));
    PS::Finalize();
    return 0;
}
