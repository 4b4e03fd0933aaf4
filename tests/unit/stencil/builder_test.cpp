// Programs built in C++ against the same programs read from text: the trees must be the same, node by node.
#include "lang/lexer.h"
#include "stencil/front_end/syntax/parser.h"
#include "stencil/front_end/syntax/printer.h"
#include "stencil/front_end/syntax/words.h"

#include <farfield/stencil_builder.h>

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace sb = farfield::stencil_builder;
using farfield::stencil::Program;

Program parsed(const std::string& text) {
    const farfield::lang::SourceText source("test", text);
    farfield::lang::Diagnostics diagnostics(source);
    const auto tokens = farfield::lang::tokenize(source, farfield::stencil::statement_words(), diagnostics);
    auto program = farfield::stencil::parse_program(tokens, diagnostics);
    EXPECT_FALSE(diagnostics.has_errors()) << to_text(diagnostics);
    return program;
}

// With every bracket written, two programs have one text exactly where they have one tree.
std::string tree(const std::string& text) { return to_text(parsed(text), farfield::lang::Brackets::all); }

std::string file(const std::string& name) {
    std::ifstream stream(FARFIELD_EXAMPLES "/stencil/" + name);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

sb::Builder microdisk() {
    using namespace sb;
    Builder p("microdisk");
    const auto cells = p.param("cells", 512);
    const auto radius = p.param("radius", 200);
    const auto courant = p.param("courant", 0.5);
    p.grid("g", {{x, cells}, {y, cells}});
    p.time({.steps = 2000});
    const auto [Ex, Ey, Hz, energy] = p.fields({"Ex", "Ey", "Hz", "energy"}, {.grid = "g"});
    const auto disk =
        p.subdomain("disk", {x, y}, power(x - cells / 2, 2) + power(y - cells / 2, 2) < power(radius, 2));
    const auto electric =
        p.update("electric", interior, {Ex += courant * (Hz - Hz[y - 1]), Ey += courant * (Hz[x - 1] - Hz)});
    const auto magnetic = p.update("magnetic", disk, {Hz += courant * (Ex[y + 1] - Ex + Ey - Ey[x + 1])});
    const auto dipole = p.source("dipole", {cells / 2 + 60, cells / 2},
                                 {Hz += exp(-power((t - 60) / 20, 2)) * sin(0.15 * t)});
    const auto accumulate = p.update("accumulate", disk, {energy += power(Hz, 2)});
    p.step({electric, magnetic, dipole, accumulate});
    p.output({energy}, {.at_end = true});
    return p;
}

TEST(StencilBuilder, MicrodiskIsTheFile) {
    EXPECT_EQ(tree(microdisk().text()), tree(file("microdisk.ff")));
    const auto program = microdisk().program({{"cells", 256}, {"radius", 100}});
    EXPECT_EQ(program.name(), "microdisk");
    EXPECT_EQ(program.fields(), (std::vector<std::string>{"Ex", "Ey", "Hz", "energy"}));
}

TEST(StencilBuilder, EveryStatement) {
    using namespace sb;
    Builder p;
    const auto n = p.param("n", 16);
    const auto k = p.let("k", 2 * pi / 20);
    const auto g = p.grid("g", {{x, 10}, {z, -4, 4}}, n);
    p.time({.dt = 0.5 * dx, .end = 100});
    const auto shade =
        p.field("shade", {.at = {x + 1 / Expr(2), z}, .read_only = true, .initial = image("a.png")});
    const auto u = p.field("u", {.grid = "g", .single_precision = true, .double_buffered = true});
    const auto damping = p.array("damping", x, exp(-X), {.at = {x + 0.5}});
    const auto left = p.subdomain("left", {x, Z}, X < 3 && !(Z >= 1 || z == 2));
    const auto right = p.subdomain("right", {}, !left);
    const auto eps = p.coefficient("eps", {{left, 12.1}, {{}, -1}}, {.grid = "g"});
    p.boundary({u}, {{Rule::periodic, {"x"}}, {Rule::mirror, {"z"}}});
    const Let lap("lap", u[x - 1] - 2 * u + u(x + 1, z - 2));
    const auto spread =
        p.update("spread", {}, {lap, u.set(where(left, lap / eps, min(u, damping)) + shade % 2)});
    const auto glow = p.source_on("glow", right,
                                  {
                                      u *= cos(k * t),
                                  });
    const auto bar = p.source("bar", {Range(1, 3), z}, {u -= floor_divide(step, 3)});
    p.record("mean_u", abs(u), {.reduce = Reduce::mean, .on = left, .every = 10});
    p.record("probe", u, {.at = {2, 0}});
    p.step({spread, {glow, 2}, bar});
    p.output({u}, {.every = 100, .at_start = true});
    EXPECT_EQ(tree(p.text()), tree(R"(param n = 16
let k = 2 * pi / 20
grid g[x: 10, z: -4 to 4] sampling n
time dt = 0.5*dx, end = 100
field shade at (x + 1/2, z) : double, read-only = image("a.png")
field u on g : float, double-buffered
array damping[x] at (x + 0.5) = exp(-X)
subdomain left(x, Z) = X < 3 and not (Z >= 1 or z == 2)
subdomain right = not left
coefficient eps on g:
    left: 12.1
    elsewhere: -1
boundary u: periodic in x, mirror in z
update spread:
    let lap = u[x-1] - 2*u + u[x+1, z-2]
    u = where(left, lap/eps, min(u, damping)) + shade % 2
source glow on right: u *= cos(k*t)
source bar at (1 to 3, z): u -= step // 3
record mean_u = mean of abs(u) on left every 10
record probe = u at (2, 0)
step: spread, glow every 2, bar
output u at start, every 100
)"));
    (void)g;
}

TEST(StencilBuilder, NumbersAndNamesThatAreNone) {
    using namespace sb;
    Builder p;
    EXPECT_THROW(p.param("2n", 1), farfield::InvalidArgument);
    EXPECT_THROW(p.param("a\nstep: b", 1), farfield::InvalidArgument);
    EXPECT_THROW(p.param("n", std::nan("")), farfield::InvalidArgument);
    EXPECT_THROW(p.param("n", std::numeric_limits<double>::infinity()), farfield::InvalidArgument);
    EXPECT_THROW(p.param("n", {}), farfield::InvalidArgument);
    EXPECT_THROW(p.time({}), farfield::InvalidArgument);
    Expr deep = 1;
    EXPECT_THROW(for (int i = 0; i < 2000; ++i) deep = -deep, farfield::InvalidArgument);
}

TEST(StencilBuilder, MistakesShowTheirLine) {
    using namespace sb;
    Builder p("wrong");
    p.grid("g", {{x, 8}});
    const auto u = p.field("u");
    p.step({p.update("move", everywhere, {u.set(u[x - 1])})});
    try {
        (void)p.program();
        FAIL() << "a neighbour of a field that is written was read";
    } catch (const farfield::StencilError& error) {
        EXPECT_NE(error.messages().find("    u = u[x - 1]"), std::string::npos) << error.what();
        EXPECT_NE(error.summary().find("1 error"), std::string::npos);
    }
}

} // namespace
