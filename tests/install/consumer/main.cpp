// Two unit masses one length apart: each feels the potential −1 and is pulled to the other with field 1.
// Then runs that write their files, so that everything the library links is needed.
#include <farfield/farfield.h>

#include <cmath>
#include <iostream>

int main(int, char** arguments) {
    const std::vector<double> points{0, 0, 0, 1, 0, 0}, masses{1, 1};
    const auto pair = farfield::sum(farfield::matrix_view(std::span(points), 3), std::span(masses));
    std::cout << farfield::version() << ": " << pair.potential[0] << " " << pair.field[0] << "\n";
    const auto density = farfield::density({.points = farfield::matrix_view(std::span(points), 3)},
                                           {.bandwidth = farfield::BandwidthRule::sigma,
                                            .sum = {.kernel = farfield::Kernel::gauss, .sigma = 0.1}});
    std::cout << "density " << density.density[0] << "\n";
    farfield::Case simulation_case;
    simulation_case.initial.n = 64;
    simulation_case.time = {.step = 0.125, .end = 0.25};
    const auto run = farfield::run_case(simulation_case, {.out = arguments[1]});
    const auto program = farfield::StencilProgram::from_text(
        "grid g[x: 8]\nfield u on g = x\nupdate add: u += 1\nstep: add\ntime dt = 1, steps = 2\n");
    const auto stencil =
        farfield::run_stencil(program, {.out = std::filesystem::path(arguments[1]) / "stencil",
                                        .options = {.target = "interpreter"}});
    return run.finished && stencil.finished && std::hypot(pair.potential[0] + 1, pair.field[0] - 1) < 1e-14
               ? 0
               : 1;
}
