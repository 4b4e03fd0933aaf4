// What the programs of bench/fmm_peers.py share: their arguments, points, results and times.
//     PROGRAM POINTS OUT ACCURACY LEAF REPEATS          (threads by OMP_NUM_THREADS)
// POINTS has N×4 doubles, coordinates and charge; OUT gets Σ q/r and Σ q (x − y)/r³, N×4 doubles. The line
// that is printed is JSON.
#pragma once

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

struct Task {
    std::string points, out;
    double accuracy = 0.0; ///< an order, or the error asked for
    int leaf = 0, repeats = 1;
};

inline Task task_of(int argc, char** argv) {
    if (argc != 6) {
        std::fprintf(stderr, "usage: %s POINTS OUT ACCURACY LEAF REPEATS\n", argv[0]);
        std::exit(2);
    }
    return {argv[1], argv[2], std::atof(argv[3]), std::atoi(argv[4]), std::atoi(argv[5])};
}

struct Charges {
    std::size_t n = 0;
    std::vector<double> x, q; ///< N×3 and N
};

inline Charges charges_of(const Task& task) {
    std::ifstream file(task.points, std::ios::binary | std::ios::ate);
    const auto numbers = static_cast<std::size_t>(file.tellg()) / sizeof(double);
    std::vector<double> all(numbers);
    file.seekg(0);
    file.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(numbers * sizeof(double)));
    Charges out;
    out.n = numbers / 4;
    for (std::size_t i = 0; i < out.n; ++i) {
        out.x.insert(out.x.end(), {all[4 * i], all[4 * i + 1], all[4 * i + 2]});
        out.q.push_back(all[4 * i + 3]);
    }
    return out;
}

/// Calls once() `repeats` times and prints the seconds of each; once() may leave out what it says is apart.
template <class Once>
void print_times(const Task& task, const Once& once) {
    std::string line;
    for (int repeat = 0; repeat < task.repeats; ++repeat)
        line += (repeat > 0 ? ", " : "") + std::to_string(once());
    std::printf("{\"seconds\": [%s]}\n", line.c_str());
}

template <class F>
double seconds_of(const F& f) {
    const auto start = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Of potentials and their gradients, times `factor`.
template <class T>
void write_results(const Task& task, const std::vector<T>& potential, const std::vector<T>& gradient,
                   double factor) {
    std::ofstream file(task.out, std::ios::binary);
    for (std::size_t i = 0; i < potential.size(); ++i) {
        const double row[4] = {factor * static_cast<double>(potential[i]),
                               -factor * static_cast<double>(gradient[3 * i]),
                               -factor * static_cast<double>(gradient[3 * i + 1]),
                               -factor * static_cast<double>(gradient[3 * i + 2])};
        file.write(reinterpret_cast<const char*>(row), sizeof row);
    }
}

constexpr double four_pi = 12.566370614359172954; ///< kernels of these codes are 1/(4πr)
