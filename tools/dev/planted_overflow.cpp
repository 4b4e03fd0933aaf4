// A loop over numbers on the heap, and with any argument one that reads a number too many: shows that
// AddressSanitizer sees it.
#include <cstdio>
#include <vector>

int main(int argc, char**) {
    const std::vector<double> values(1000, 1.0);
    const double* first = values.data();
    const int count = argc > 1 ? 1001 : 1000;
    double sum = 0.0;
    for (int i = 0; i < count; ++i) sum += first[i];
    std::printf("%g\n", sum);
}
