// What passes do to programs: that they find what they are for, and leave alone what would change a bit. That
// results stay the same is tested on random programs (tests/property/stencil_programs_test.cpp).
#include "compiled.h"

#include "stencil/ir/dump.h"
#include "stencil/passes/dependences.h"
#include "stencil/passes/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

using namespace farfield::stencil;
using farfield::testing::Compiled;

std::string after(const std::string& text, std::string_view wanted) {
    std::string out;
    CompileOptions options;
    options.allow_unstable = true;
    options.after_pass = [&](std::string_view pass, const ir::Program& program) {
        if (pass == wanted) out = to_text(program);
    };
    const Compiled program(text, options);
    return out;
}

// The lines of the code of one kernel.
std::string kernel(const std::string& dump, const std::string& name) {
    const auto begin = dump.find("kernel " + name + " on");
    EXPECT_NE(begin, std::string::npos) << name << " in\n" << dump;
    const auto code = dump.find("  do\n", begin) + 5;
    return dump.substr(code, std::min(dump.find("\nkernel", code), dump.find("\nrecord", code)) - code);
}

TEST(Fold, ComputesConstantsAndKeepsTheSignOfZero) {
    const auto dump = after(
        "let k = 3\ngrid g[x: 4]\nfield u, v on g = 0\n"
        "update a: u = v*(k - 2) + 0\nupdate b: u = (v - 0)/4\nupdate c: u = v^(k - 1)/3\nstep: a, b, c\n",
        "cse");
    // v·1 is v; v + 0 is not v for v = −0
    EXPECT_EQ(
        kernel(dump, "a"),
        "    %0 = load.float64 v\n    %1 = constant.float64 0.0\n    %2 = add.float64 %0 %1\n    u = %2");
    EXPECT_EQ(kernel(dump, "b"), "    %0 = load.float64 v\n    %1 = constant.float64 0.25\n    %2 = "
                                 "multiply.float64 %0 %1\n    u = %2");
    EXPECT_EQ(kernel(dump, "c"),
              "    %0 = load.float64 v\n    %1 = multiply.float64 %0 %0\n    %2 = constant.float64 3.0\n"
              "    %3 = divide.float64 %1 %2\n    u = %3\n");
}

TEST(Hoist, TakesWhatIsTheSameInAllCells) {
    const auto dump = after("grid g[x: 4]\nfield u on g : float = 0\n"
                            "update a: u += sin(t)*u + (if step % 2 == 0 and sin(t) > 0 then 1 else 2)*u\n"
                            "update b: u = u*sin(t)\nstep: a, b\n",
                            "hoist");
    EXPECT_EQ(dump.find("sin.float32"), std::string::npos) << dump;
    // sin t, once for both kernels and rounded where it is used, and the choice
    EXPECT_NE(dump.find("uniform 1\n"), std::string::npos) << dump;
    EXPECT_EQ(dump.find("uniform 2\n"), std::string::npos) << dump;
    EXPECT_EQ(
        kernel(dump, "b"),
        "    %0 = load.float32 u\n    %1 = uniform.float32 0\n    %2 = multiply.float32 %0 %1\n    u = %2\n");
}

// The source's name or expression of each constant that generated code prints, and the uniforms' names.
TEST(Name, CallsValuesAsTheSourceDoes) {
    CompileOptions options;
    options.allow_unstable = true;
    const Compiled compiled(
        "param c = 0.5, same = 0.5, int = 3.0, NAN = 7.0\nlet half = c/2\n"
        "grid g[x: 2.0] sampling 4.0\ntime dt = 0.125\nfield u, v on g = 0\nboundary: zero\n"
        "update a:\n    let drive = sin(c*t)\n    let bent = u*u + v\n"
        "    u = c*bent + (1 - half)*v*drive - dt/dx*(u + int*v)\n"
        "    v = same*bent + NAN*exp(-t)*u + -(c + same)^2*2*v + 0.5*u\nstep: a\n",
        options);
    std::string names;
    for (const auto& [name, value] : compiled.program()->constants)
        names += fmt::format("{} is {}; ", name, *value.text);
    for (const auto* part : {"c is c; ", "one_minus_half is 1 - half; ", "minus_dt_over_dx is -(dt/dx); ",
                             "int_2 is int; ", "same is same; ", "NAN_value is NAN; "})
        EXPECT_NE(names.find(part), std::string::npos) << part << " in " << names;
    EXPECT_NE(names.find("(c + same)^2"), std::string::npos) << names;
    EXPECT_EQ(names.find("0.5"), std::string::npos) << "a literal has no name: " << names;
    EXPECT_EQ(compiled.program()->uniform_names, (std::vector<std::string>{"drive", "NAN_times_exp_minus_t"}))
        << "and so have values of a step";
    const auto& nodes = compiled.program()->kernels.at(0).code.nodes;
    EXPECT_EQ(
        std::count_if(nodes.begin(), nodes.end(),
                      [](const ir::Node& node) { return node.text != nullptr && *node.text == "bent"; }),
        1);
}

std::size_t kernels_after_fusing(const std::string& updates,
                                 const std::string& fields = "field u, v, w on g = 0\n") {
    CompileOptions options;
    options.allow_unstable = true;
    return Compiled("grid g[x: 9, y: 5]\nsubdomain left(x) = x < 4\n" + fields + updates, options)
        .program()
        ->kernels.size();
}

TEST(Fuse, JoinsKernelsThatShareNoMoreThanACell) {
    EXPECT_EQ(
        kernels_after_fusing("update a: u = w[x-1]\nupdate b: v = u + w[y+1]\nboundary: clamp\nstep: a, b\n"),
        1U);
    // a neighbour of what the other writes
    EXPECT_EQ(kernels_after_fusing("boundary: clamp\nupdate a: u = w\nupdate b: v = u[x-1]\nstep: a, b\n"),
              2U);
    EXPECT_EQ(kernels_after_fusing("boundary: clamp\nupdate a: v = u[x-1]\nupdate b: u = w\nstep: a, b\n"),
              2U);
    // other cells, other steps
    EXPECT_EQ(kernels_after_fusing("update a: u = w\nupdate b on left: v = u\nstep: a, b\n"), 2U);
    EXPECT_EQ(kernels_after_fusing("update a: u = w\nupdate b: v = u\nstep: a, b every 2\n"), 2U);
    // a source between them: out of the way, or in it
    EXPECT_EQ(
        kernels_after_fusing("update a: u = w\nsource s at (1, 1): w2 += t\nupdate b: v = u\nstep: a, s, b\n",
                             "field u, v, w, w2 on g = 0\n"),
        2U);
    EXPECT_EQ(
        kernels_after_fusing("update a: u = w\nsource s at (1, 1): u += t\nupdate b: v = u\nstep: a, s, b\n"),
        3U);
    // with two copies the new value of the cell is passed on
    EXPECT_EQ(kernels_after_fusing("boundary: clamp\nupdate a: u = u[x-1]\nupdate b: v = u\nstep: a, b\n",
                                   "field u, v on g : double, double-buffered = 0\n"),
              1U);
    EXPECT_EQ(kernels_after_fusing("boundary: clamp\nupdate a: u = u[x-1]\nupdate b: u = 2*u\nstep: a, b\n",
                                   "field u on g : double, double-buffered = 0\n"),
              2U);
}

TEST(Dependences, ReachAsFarAsBoundariesMakeThem) {
    const Compiled compiled("grid g[x: 9, y: 9]\nfield p, m, c on g = 0\nfield u on g = 0\n"
                            "boundary p: periodic\nboundary m: mirror\nboundary c: clamp\n"
                            "update write: p = u; m = u; c = u\n"
                            "update read: u = p[x-2] + m[x-2, y+1] + c[x+3]\nstep: write, read\n");
    const auto& program = *compiled.program();
    ASSERT_EQ(program.kernels.size(), 2U);
    const CurrentCopies current(program.buffers.size(), 0);
    const auto found = dependences(touches(program, program.kernels[0], current),
                                   touches(program, program.kernels[1], current));
    const auto of = [&](int buffer, DependenceKind kind) {
        const auto it = std::find_if(found.begin(), found.end(), [&](const Dependence& d) {
            return d.buffer == buffer && d.kind == kind;
        });
        EXPECT_NE(it, found.end()) << buffer;
        return it == found.end() ? Dependence{} : *it;
    };
    const auto p = of(0, DependenceKind::flow);
    EXPECT_EQ(std::pair(p.least[0], p.most[0]), std::pair(-2, -2));
    EXPECT_TRUE(p.wraps[0]);
    EXPECT_FALSE(p.wraps[1]);
    // cell 0 reads the mirrored cell 1, its right neighbour; row 8 reads itself
    const auto m = of(1, DependenceKind::flow);
    EXPECT_EQ(std::pair(m.least[0], m.most[0]), std::pair(-2, 1));
    EXPECT_EQ(std::pair(m.least[1], m.most[1]), std::pair(0, 1));
    const auto c = of(2, DependenceKind::flow);
    EXPECT_EQ(std::pair(c.least[0], c.most[0]), std::pair(0, 3));
    // the reader overwrites what the writer read
    const auto u = of(3, DependenceKind::anti);
    EXPECT_EQ(u.least, (std::array<int, 3>{}));
    EXPECT_EQ(u.most, (std::array<int, 3>{}));
}

TEST(Dependences, FollowCopiesThatChangePlaces) {
    const Compiled compiled(
        "grid g[x: 9]\nfield u, v on g : double, double-buffered = 0\nboundary u: periodic\n"
        "update a: u = u[x-1]\nupdate b: v = u[x+1]\nstep: a, b\n");
    const auto& program = *compiled.program();
    ASSERT_EQ(program.kernels.size(), 2U);
    CurrentCopies current(program.buffers.size(), 0);
    const auto first = touches(program, program.kernels[0], current);
    // its own reads and writes are of different copies
    EXPECT_TRUE(dependences(first, first).size() == 1); // the writes with themselves
    run_over(program.kernels[0], current);
    const auto found = dependences(first, touches(program, program.kernels[1], current));
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].kind, DependenceKind::flow);
    EXPECT_EQ(found[0].least[0], 1);
}

// Programs that would take a compiler minutes, or all memory, are refused or done in little time.
TEST(Compiler, IsNotDrownedByLongPrograms) {
    const auto kinds_of = [](const std::string& text) {
        FrontEnd front("long.ff", text);
        EXPECT_TRUE(front.good());
        compile(front.model(), {}, front.diagnostics());
        return to_text(front.diagnostics());
    };
    std::string many = "grid g[x: 8]\nfield u, v on g = 0\nupdate a: u = v\nstep: a";
    for (int i = 0; i < 5000; ++i) many += ", a";
    EXPECT_NE(kinds_of(many + "\n").find("[too-long]"), std::string::npos);
    std::string wide = "grid g[x: 8]\nfield u, v on g = 0\nupdate a: u = v";
    for (int i = 0; i < 900; ++i) wide += fmt::format(" + {}*v", i);
    wide += "\nstep: a";
    for (int i = 0; i < 999; ++i) wide += ", a";
    EXPECT_NE(kinds_of(wide + "\n").find("[too-long]"), std::string::npos);
    // each temporary twice the one before: as a tree it has 2^900 nodes
    std::string deep = "grid g[x: 8]\nfield u, v on g = 0\nupdate a:\n    let c0 = 1.5*2\n";
    for (int i = 1; i < 900; ++i) deep += fmt::format("    let c{} = c{}*c{}\n", i, i - 1, i - 1);
    EXPECT_EQ(kinds_of(deep + "    u = v^c899\nstep: a\n"), "");
}

} // namespace
