// Programs: what the parser reads, what the model says, and printing.
#include "effort.h"
#include "stencil/front_end/front_end.h"
#include "stencil/front_end/syntax/parser.h"
#include "stencil/front_end/syntax/printer.h"

#include <farfield/error.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace farfield::stencil;

// As people paste it: shifted to the right, with remarks.
const std::string microdisk = R"(
    program microdisk
    param  cells = 512, radius = 200, courant = 0.5
    grid   g[x: cells, y: cells]
    field  Ex, Ey, Hz, energy on g : double
    subdomain disk(x, y) = (x - cells/2)^2 + (y - cells/2)^2 < radius^2
    update electric on interior:              # the metal: H stays zero outside the disk
        Ex += courant * (Hz - Hz[y-1])
        Ey += courant * (Hz[x-1] - Hz)
    update magnetic on disk:
        Hz += courant * (Ex[y+1] - Ex + Ey - Ey[x+1])
    source dipole at (cells/2 + 60, cells/2):
        Hz += exp(-((t - 60)/20)^2) * sin(0.15*t)
    update accumulate on disk: energy += Hz^2
    step: electric, magnetic, dipole, accumulate
    output energy at end
)";

// Every statement and attribute once.
const std::string everything = R"(program everything
param n = 16, thick = true, width = n/4
let k = 2*pi/width
grid g[x: n, y: n, z: 8]
time dt = 0.5*dx, steps = 100
grid h[x: -2 to 2, z: 1.5] sampling 2*n
field a, b on g at (x+1/2, y, z-1/2) : float, double-buffered = sin(k*X)
field c on g : double, read-only = data("c.npy")
field w on h : double
array ramp[z] on g at (z+1/2) : float = Z/8
subdomain slab(Y, z) on g at (x, y+1/2, z) = 1 <= Y < 3 or z == 2
subdomain rest on g = not slab and everywhere
subdomain chip on h = image("chip.png") > 0.5
subdomain rim = not chip
coefficient eps on g : float:
    slab and thick: c + 1
    rest: ramp
    elsewhere: 2.5
boundary a: periodic in x and y, mirror in z
boundary b, w: clamp
update first on interior and slab:
    let left = a[x-1, z+1]*eps[x+1] - ramp[z-1]
    a = left^2 + b[y-2]
    b -= if t < 3 and step % 2 == 0 then left else 0
update second on chip:
    w *= 1 + w
source point at (n//2, 3 to 5, z):
    a += X
source region on slab:
    b += exp(-t)
record total = sum of a*b on slab every 10 steps
record probe = w at (0.5, 1.0)
record peak = max of abs(a[x+1] - b) on interior
record edge = mean of w on rim
step: first, point every 2, second, region
output a, w at start, every 50, at end
)";

std::string printed(const std::string& text, farfield::lang::Brackets brackets) {
    const FrontEnd program("test.ff", text);
    EXPECT_EQ(to_text(program.diagnostics()), "");
    return to_text(program.model().program, brackets);
}

} // namespace

TEST(StencilProgram, TheMicrodiskIsReadAsItStands) {
    const FrontEnd program("microdisk.ff", microdisk);
    EXPECT_EQ(to_text(program.diagnostics()), "");
    const auto& model = program.model();
    EXPECT_EQ(model.name, "microdisk");
    ASSERT_EQ(model.grids.size(), 1U);
    EXPECT_EQ(model.grids[0].axes[1].cells, 512);
    ASSERT_EQ(model.fields.size(), 4U);
    ASSERT_EQ(model.updates.size(), 3U);
    ASSERT_EQ(model.sources.size(), 1U);
    EXPECT_EQ(model.sources[0].box->first, (std::array<std::int64_t, 3>{316, 256, 0}));
    EXPECT_EQ(model.sources[0].box->last, model.sources[0].box->first);
    std::string order;
    for (const auto& action : model.step)
        order += (action.is_source ? "s" : "u") + std::to_string(action.index);
    EXPECT_EQ(order, "u0u1s0u2");
    EXPECT_EQ(model.updates[1].operations[0].op, AssignOp::add);
}

TEST(StencilProgram, AccessesAreResolvedToOffsets) {
    const FrontEnd program("microdisk.ff", microdisk);
    std::vector<std::string> found;
    farfield::lang::for_each_node(*program.model().updates[1].operations[0].value,
                                  [&](const farfield::lang::Expr& e) {
                                      if (const auto* access = std::get_if<farfield::lang::Access>(&e.node))
                                          found.push_back(access->text + std::to_string(access->offsets[0]) +
                                                          std::to_string(access->offsets[1]));
                                  });
    EXPECT_EQ(found, (std::vector<std::string>{"Ex01", "Ey10"}));
}

TEST(StencilProgram, ParametersAreReplaced) {
    const FrontEnd program("microdisk.ff", microdisk,
                           {parse_parameter("cells=256"), parse_parameter("radius=20.5")});
    EXPECT_EQ(to_text(program.diagnostics()), "");
    EXPECT_EQ(program.model().grids[0].axes[0].cells, 256);
    EXPECT_EQ(farfield::lang::to_text(program.model().constants[1].value), "20.5");
    EXPECT_TRUE(program.model().constants[1].replaced);
    EXPECT_EQ(program.model().sources[0].box->first[0], 188);
}

TEST(StencilProgram, AByteOrderMarkIsNoIndentation) {
    const FrontEnd program("marked.ff",
                           "\xEF\xBB\xBFgrid g[x: 8]\nfield u on g = 1\nupdate a: u += 1\nstep: a\n");
    EXPECT_EQ(to_text(program.diagnostics()), "");
    const FrontEnd wrong("marked.ff", "\xEF\xBB\xBFgrid g[q: 8]\n");
    EXPECT_EQ(to_text(wrong.diagnostics()).find("marked.ff:1:8: "), 0U) << to_text(wrong.diagnostics());
}

TEST(StencilProgram, BadParametersAreRefused) {
    for (const auto* text : {"cells", "=3", "cells=", "cells=many", "cells=1e999", "cells=nan", "cells=3 ",
                             "cells=1/0", "cells=2*k", "cells=(3", "cells=abs"})
        EXPECT_THROW(parse_parameter(text), farfield::InvalidArgument) << text;
    EXPECT_EQ(farfield::lang::to_text(parse_parameter("a=-3").value), "-3");
    EXPECT_EQ(farfield::lang::to_text(parse_parameter("a=true").value), "true");
    EXPECT_EQ(farfield::lang::to_text(parse_parameter("a=1/8").value), "0.125");
    EXPECT_EQ(farfield::lang::to_text(parse_parameter("a=-(2^5 + 1)//2").value), "-17");
}

TEST(StencilProgram, EveryStatementIsCheckedAndInTheModel) {
    const FrontEnd program("everything.ff", everything);
    EXPECT_EQ(to_text(program.diagnostics()), "");
    const auto& model = program.model();
    EXPECT_EQ(model.grids[1].axes[0].cells, 128);
    EXPECT_EQ(model.grids[1].axes[0].origin, -2);
    EXPECT_EQ(model.grids[1].axes[1].coordinate, 2);
    EXPECT_EQ(model.grids[1].axes[1].spacing, 1.0 / 32);
    EXPECT_EQ(model.fields[0].stagger, (std::array<double, 3>{0.5, 0, -0.5}));
    EXPECT_TRUE(model.fields[0].double_buffered);
    EXPECT_EQ(model.fields[0].precision, Precision::single_precision);
    EXPECT_EQ(model.fields[0].boundary[1], Boundary::periodic);
    EXPECT_EQ(model.fields[0].boundary[2], Boundary::mirror);
    EXPECT_EQ(model.fields[3].boundary[2], Boundary::none); // grid h has two axes
    EXPECT_EQ(model.coefficients[0].cases.size(), 3U);
    EXPECT_EQ(model.arrays[0].axis, 2);
    EXPECT_EQ(model.arrays[0].stagger, 0.5);
    EXPECT_EQ(model.steps, 100);
    EXPECT_EQ(model.sources[0].box->first, (std::array<std::int64_t, 3>{8, 3, 0}));
    EXPECT_EQ(model.sources[0].box->last, (std::array<std::int64_t, 3>{8, 5, 7}));
    EXPECT_EQ(model.records[1].box->first, (std::array<std::int64_t, 3>{80, 32, 0})); // (0.5 + 2)·32, 1·32
    EXPECT_EQ(model.records[0].every, 10);
    EXPECT_EQ(model.step[1].every, 2);
    EXPECT_EQ(model.outputs[0].every, 50);
}

TEST(StencilProgram, PositionsCarryTheStagger) {
    const FrontEnd program("everything.ff", everything);
    std::vector<double> shifts;
    const auto visit = [&](const farfield::lang::Expr* expr) {
        farfield::lang::for_each_node(*expr, [&](const farfield::lang::Expr& e) {
            const auto* name = std::get_if<farfield::lang::Name>(&e.node);
            if (name != nullptr && kind_of(name->symbol) == SymbolKind::position)
                shifts.push_back(name->shift);
        });
    };
    visit(program.model().fields[0].initial);
    visit(program.model().subdomains[0].condition);
    visit(program.model().arrays[0].value);
    visit(program.model().sources[0].update.operations[0].value);
    EXPECT_EQ(shifts, (std::vector<double>{0.5, 0.5, 0.5, 0.5}));
}

// 0.45 is 4.5 cells of 0.1 from the origin: the middle of cell 4 of a field between the indices.
TEST(StencilProgram, PlacesAreThoseOfTheField) {
    for (const auto& [stagger, cell] : {std::pair("x+1/2", 4), std::pair("x", 5), std::pair("x-1/2", 5)}) {
        const FrontEnd program("place.ff",
                               std::string("grid g[x: 0 to 1] sampling 10\nfield u at (") + stagger +
                                   ")\nsource s at (0.4500001): u = 1\nstep: s\noutput u at end\n");
        EXPECT_EQ(to_text(program.diagnostics()), "");
        EXPECT_EQ(program.model().sources[0].box->first[0], cell) << stagger;
    }
}

TEST(StencilProgram, PrintedAndParsedIsTheSameProgram) {
    for (const auto& text : {microdisk, everything})
        for (const auto brackets : {farfield::lang::Brackets::needed, farfield::lang::Brackets::all}) {
            const auto once = printed(text, brackets);
            EXPECT_EQ(printed(once, brackets), once);
        }
    EXPECT_EQ(printed(printed(everything, farfield::lang::Brackets::all), farfield::lang::Brackets::needed),
              printed(everything, farfield::lang::Brackets::needed));
}

// Texts of a mebibyte (of an eighth where fewer tests will do) that would take a quadratic algorithm minutes;
// together they take about a second.
TEST(StencilProgram, LargeProgramsTakeLittleTime) {
    const auto size = farfield::test::sized(std::size_t{1} << 20, std::size_t{1} << 17);
    const auto repeated = [&](const std::string& text, const std::string& part, const std::string& last) {
        auto out = text;
        while (out.size() < size - 100) out += part;
        return out + last;
    };
    const std::string fields = "grid g[x: 9]\nfield u on g : double\n";
    std::string names = "field u";
    std::string lets = fields + "update a:\n";
    for (int i = 0; names.size() < size / 2; ++i) names += ", f" + std::to_string(i);
    for (int i = 0; lets.size() < size; ++i)
        lets += "    let t" + std::to_string(i) + " = t" + std::to_string(i - 1) + "\n";
    std::string unknown = "let a = max(1";
    for (int i = 0; unknown.size() < size; ++i) unknown += ", q" + std::to_string(i);
    const std::vector<std::string> programs{
        repeated("let a = 1", " + 1", "\n"),
        repeated("let ", "a", " = 1\n"),
        unknown + ")\n",
        lets,
        repeated("grid g[x: 9]\n" + names + " on g : double\nrecord r = sum of max(u", ", q", ")\n"),
        repeated(fields + "update a: u = max(u", ", u[x+1]", ")\n"),
        repeated("", "@", "\n"),
        repeated("", "(\n", ""),
        repeated("", "\n ", ""),
        repeated("a\n", " b\n", ""),
        repeated("", "\"\n", ""),
        repeated("grid g[x: 9]\nfield u on g : double\nboundary u", ", u", ": zero\n"),
        repeated(fields + "boundary u: zero", ", zero", "\n"),
        repeated(fields + "step: u", ", u", "\n")};
    for (const auto& text : programs) {
        const FrontEnd program("large.ff", text);
        EXPECT_FALSE(program.good());
        EXPECT_NE(program.explain(Stage::lex), "");
        EXPECT_LT(to_text(program.diagnostics()).size(), 40000U);
    }
}

// Just below the limit of depth every stage recurses as deep as it ever will.
TEST(StencilProgram, TheDeepestExpressionPassesEveryStage) {
    std::string sum = "u[x-1]";
    for (int i = 0; i < 990; ++i) sum += " + u[x+1]";
    const FrontEnd program("deep.ff", "grid g[x: 9]\nfield u, v on g\nupdate a on interior: v = " + sum +
                                          "\nrecord r = sum of " + sum +
                                          "\nsource s at (1): u = 1\nstep: a, s\noutput v at end\n");
    EXPECT_EQ(program.diagnostics().errors(), 0U);
    EXPECT_NE(program.explain(Stage::names).find("u(-1) u(1)"), std::string::npos);
    EXPECT_NE(program.explain(Stage::parse), "");
}

TEST(StencilProgram, ABrokenLineCostsOnlyItself) {
    // each line of the program left out or cut in turn: no crash, and the stages can be shown
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < everything.size(); ++i)
        if (everything[i] == '\n') ends.push_back(i);
    for (std::size_t i = 0; i + 1 < ends.size(); ++i)
        for (const std::size_t keep : {0, 3, 9}) {
            auto text = everything;
            const auto begin = ends[i] + 1;
            if (begin + keep < ends[i + 1]) text.erase(begin + keep, ends[i + 1] - begin - keep);
            const FrontEnd program("cut.ff", text);
            for (const auto stage : {Stage::lex, Stage::parse}) EXPECT_NE(program.explain(stage), "");
            EXPECT_LE(program.diagnostics().sorted().size(), 40U);
        }
}
