// Two unit masses one length apart: each feels the potential −1 and is pulled to the other with field 1.
// Then a run that writes its files, so that everything the library links is needed.
#include <farfield/farfield.h>

#include <cmath>
#include <iostream>

int main(int, char** arguments) {
    const std::vector<double> points{0, 0, 0, 1, 0, 0}, masses{1, 1};
    const auto pair = farfield::sum(farfield::matrix_view(std::span(points), 3), std::span(masses));
    std::cout << farfield::version() << ": " << pair.potential[0] << " " << pair.field[0] << "\n";
    farfield::Case the_case;
    the_case.initial.n = 64;
    the_case.time = {.step = 0.125, .end = 0.25};
    const auto run = farfield::run_case(the_case, {.out = arguments[1]});
    return run.finished && std::hypot(pair.potential[0] + 1, pair.field[0] - 1) < 1e-14 ? 0 : 1;
}
