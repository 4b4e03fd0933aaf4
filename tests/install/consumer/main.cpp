// Two unit masses one length apart: each feels the potential −1 and is pulled to the other with field 1.
#include <farfield/farfield.h>

#include <iostream>

int main() {
    const std::vector<double> points{0, 0, 0, 1, 0, 0};
    const std::vector<double> masses{1, 1};
    const auto result =
        farfield::sum(farfield::matrix_view(std::span(points), 3), std::span<const double>(masses));
    std::cout << "farfield " << farfield::version() << ": " << result.potential[0] << " " << result.field[0]
              << "\n";
    return result.potential[0] == -1.0 && result.field[0] == 1.0 ? 0 : 1;
}
