// The microdisk of examples/stencil/microdisk.ff, written in C++: a vacuum disk in metal, rung by a pulse.
// Build it against an installed Farfield: c++ -std=c++20 08_microdisk.cpp -lfarfield
#include <farfield/stencil_builder.h>

#include <cstdio>

int main() try {
    using namespace farfield::stencil_builder;
    Builder p("microdisk");
    const auto cells = p.param("cells", 256);
    const auto radius = p.param("radius", 100);
    const auto courant = p.param("courant", 0.5);
    p.grid("g", {{x, cells}, {y, cells}});
    const auto [Ex, Ey, Hz, energy] = p.fields({"Ex", "Ey", "Hz", "energy"});
    const auto disk =
        p.subdomain("disk", {x, y}, power(x - cells / 2, 2) + power(y - cells / 2, 2) < power(radius, 2));

    const auto electric = p.update("electric", interior,
                                   {Ex += courant * (Hz - Hz[y - 1]), //
                                    Ey += courant * (Hz[x - 1] - Hz)});
    const auto magnetic = p.update("magnetic", disk, {Hz += courant * (Ex[y + 1] - Ex + Ey - Ey[x + 1])});
    const auto dipole = p.source("dipole", {cells / 2 + 60, cells / 2},
                                 {Hz += exp(-power((t - 60) / 20, 2)) * sin(0.15 * t)});
    const auto accumulate = p.update("accumulate", disk, {energy += power(Hz, 2)});
    p.step({electric, magnetic, dipole, accumulate});
    p.record("total", energy, {.reduce = Reduce::sum, .on = disk, .every = 100});

    farfield::StencilRun run(p.program({{"radius", 90}}));
    std::printf("%s\n", run.description().c_str());
    run.advance(400);
    const auto total = run.series("total");
    for (std::size_t i = 0; i < total.times.size(); ++i)
        std::printf("t = %4.0f   sum of the energy %.6f\n", total.times[i], total.values[i]);
    const auto field = run.field("Hz");
    std::printf("Hz at the centre: %.6e\n", field(128, 128));
    return 0;
} catch (const farfield::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
