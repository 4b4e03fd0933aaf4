// Correct OpenMP code, and with any argument a data race: shows that the ThreadSanitizer set-up tells them
// apart.
#include <cstdio>
#include <vector>

int main(int argc, char**) {
    std::vector<double> values(1000, 1.0);
    double sum = 0.0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic, 7)
        for (int i = 0; i < 1000; ++i) values[static_cast<std::size_t>(i)] += i;
#pragma omp for reduction(+ : sum) // the loop before ended in a barrier, so other threads' values may be read
        for (int i = 0; i < 1000; ++i) sum += values[static_cast<std::size_t>(999 - i)];
    }
    if (argc > 1) {
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < 1000; ++i) sum += values[static_cast<std::size_t>(i)];
    }
    std::printf("%g\n", sum);
}
