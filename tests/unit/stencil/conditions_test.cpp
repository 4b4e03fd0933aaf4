// Conditions and initial values: the code that lowering makes, computed row by row, against plain loops over
// the cells. The loops do the same operations in the same order, so results are equal bit for bit.
#include "stencil/front_end/front_end.h"
#include "stencil/ir/dump.h"
#include "stencil/ir/row_evaluator.h"
#include "stencil/lowering/conditions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

namespace {

using namespace farfield::stencil;
using Cell = std::array<std::int64_t, 3>;

std::vector<double> computed(const ir::Shape& shape, const ir::Code& code) {
    ir::RowEvaluator evaluator(shape, code);
    std::vector<double> out;
    const bool truth = code.nodes[static_cast<std::size_t>(code.result)].type == ir::ValueType::boolean;
    for (std::int64_t row = 0; row < shape[1] * shape[2]; ++row)
        for (std::int64_t first = 0; first < shape[0]; first += ir::RowEvaluator::most) {
            const auto count = std::min(ir::RowEvaluator::most, shape[0] - first);
            evaluator.compute(row, first, count);
            for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
                out.push_back(truth ? evaluator.truth(code.result)[i] : evaluator.real64(code.result)[i]);
        }
    return out;
}

std::vector<double> looped(const ir::Shape& shape, const std::function<double(const Cell&)>& f) {
    std::vector<double> out;
    for (std::int64_t z = 0; z < shape[2]; ++z)
        for (std::int64_t y = 0; y < shape[1]; ++y)
            for (std::int64_t x = 0; x < shape[0]; ++x) out.push_back(f({x, y, z}));
    return out;
}

struct Lowered {
    explicit Lowered(const std::string& text) : front("test.ff", text), buffers(front.model()) {
        EXPECT_TRUE(front.good()) << to_text(front.diagnostics());
    }
    const Model& model() const { return front.model(); }
    ir::Shape shape() const { return lower_grid(model().grids[0]).shape; }
    FrontEnd front;
    BufferNumbers buffers;
};

TEST(Conditions, AreComputedFromIndicesAndPlaces) {
    // rows of more cells than an evaluator takes at once
    const Lowered program(R"(
        param n = 300
        grid g[x: -1 to 2, y: 0.2] sampling n/3
        subdomain wedge(X, y) at (x+1/2, y) = abs(X) < y/2*dx or X >= 1.9
        subdomain chess(x, y) = (x//3 + y) % 2 == 0 and not wedge
        field u on g = 0
        update a on chess and interior: u = 1
        step: a
    )");
    const ir::CellBox interior{{1, 2, 0}, {299, 20, 1}};
    const auto code =
        lower_condition(program.model(), program.buffers, program.model().updates[0].where, 0, interior);
    const double dx = 0.01;
    const auto expected = looped(program.shape(), [&](const Cell& c) {
        const double x = (static_cast<double>(c[0]) + 0.5) * dx + -1.0;
        const bool wedge = std::fabs(x) < static_cast<double>(c[1]) / 2 * dx || x >= 1.9;
        const bool chess = (c[0] / 3 + c[1]) % 2 == 0 && !wedge;
        return chess && c[0] >= 1 && c[0] < 299 && c[1] >= 2 && c[1] < 20 ? 1.0 : 0.0;
    });
    EXPECT_EQ(computed(program.shape(), code), expected);
    EXPECT_NE(std::count(expected.begin(), expected.end(), 1.0), 0);
}

TEST(Conditions, HoldInTheBoxOfASource) {
    const Lowered program(
        "grid g[x: 4, y: 5, z: 6]\nfield u on g = 0\nsource s at (1 to 2, y, 5): u = 1\nstep: s\n");
    const auto code = lower_box(program.model(), program.buffers, 0, *program.model().sources[0].box);
    EXPECT_EQ(computed(program.shape(), code), looped(program.shape(), [](const Cell& c) {
                  return c[0] >= 1 && c[0] <= 2 && c[2] == 5 ? 1.0 : 0.0;
              }));
}

TEST(Values, OfReadOnlyThingsAreRoundedAsTheyAreStored) {
    const Lowered program(R"(
        grid g[x: 7, y: 3]
        array ramp[x] on g : float = (x + 1)/3
        field base on g : float, read-only = ramp*0.1 + y
        subdomain high(x) = base > 1.05
        field u on g = if high then base^2 else -base^-3
        coefficient c on g:
            high and x > 4: base
            high: 2
            elsewhere: 1/3
        update a: u = u*c
        step: a
    )");
    const auto base = [](const Cell& c) {
        const auto ramp = static_cast<float>(static_cast<double>(c[0] + 1) / 3);
        return static_cast<double>(
            static_cast<float>(static_cast<double>(ramp) * 0.1 + static_cast<double>(c[1])));
    };
    EXPECT_EQ(computed(program.shape(),
                       lower_value(program.model(), program.buffers, program.model().fields[1].initial, 0)),
              looped(program.shape(), [&](const Cell& c) {
                  const double b = base(c);
                  return b > 1.05 ? b * b : -(1 / (b * b * b));
              }));
    EXPECT_EQ(computed(program.shape(),
                       lower_coefficient(program.model(), program.buffers, program.model().coefficients[0])),
              looped(program.shape(),
                     [&](const Cell& c) { return base(c) > 1.05 ? (c[0] > 4 ? base(c) : 2.0) : 1.0 / 3; }));
}

// A long chain of declarations must not exhaust the stack.
TEST(Conditions, MayBuildOnHundredsOfOthers) {
    std::string text = "grid g[x: 8]\nsubdomain s0(x) = x > 1\n";
    for (int i = 1; i < 1000; ++i)
        text += "subdomain s" + std::to_string(i) + " = not (s" + std::to_string(i - 1) + " and s" +
                std::to_string(i - 1) + ")\n";
    text += "field u on g = 0\nupdate a on s999: u = 1\nstep: a\n";
    const Lowered program(text);
    const auto code =
        lower_condition(program.model(), program.buffers, program.model().updates[0].where, 0, {});
    EXPECT_EQ(computed(program.shape(), code), (std::vector<double>{1, 1, 0, 0, 0, 0, 0, 0}));
    EXPECT_LT(code.nodes.size(), 5000U);
}

TEST(Conditions, PrintNodeByNode) {
    const Lowered program("grid g[x: 4]\nfield u on g = 0\nupdate a on x + 1 < 3: u = 1\nstep: a\n");
    ir::Program shown;
    shown.grids.push_back(lower_grid(program.model().grids[0]));
    EXPECT_EQ(
        to_text(shown,
                lower_condition(program.model(), program.buffers, program.model().updates[0].where, 0, {}),
                0),
        "    %0 = cell.int64 x\n    %1 = constant.int64 1\n    %2 = add.int64 %0 %1\n"
        "    %3 = constant.int64 3\n    %4 = less.bool %2 %3\n    result %4\n");
}

} // namespace
