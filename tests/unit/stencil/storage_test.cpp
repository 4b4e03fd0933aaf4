// Rows in parts: which cells programs touch, counted cell by cell from the statements, and that every cell
// keeps its place.
#include "stencil/ir/row_evaluator.h"
#include "stencil/runtime/cpu/storage.h"
#include "unit/stencil/compiled.h"

#include <cstring>
#include <functional>

namespace farfield::stencil::cpu {
namespace {

using testing::Compiled;
using Offset = std::array<int, 3>;

// A disk and, apart from it, a bar; w is clamped, v periodic, u without a boundary.
constexpr const char* plane_program = R"(grid g[x: 61, y: 40]
field u on g : double = x + 100*y
field v on g : float, double-buffered = x - y
field w on g : double
boundary v: periodic
boundary w: clamp
subdomain disk(x, y) = (x - 31)^2 + (y - 19)^2 < 12^2
subdomain bar(x, y) = x >= 3 and x < 9 and y >= 36
update one on disk: w += u[x-1, y+2] + u[x+3]
update two on bar: v = v[x+4] + 0.5*w[y+3] + w[x-3]
step: one, two
)";
constexpr const char* space_program = R"(grid g[x: 30, y: 14, z: 11]
field u, w on g : float = x + y + z
subdomain ball(x, y, z) = (x - 15)^2 + (y - 7)^2 + (z - 5)^2 < 4^2
update one on ball: w += u[x+2, z-1] - u[y+1]
step: one
)";

// Every cell that `inside` holds, and where `offsets` lead from it.
Extents expected_extents(const ir::Program& program, int buffer,
                         const std::vector<std::pair<std::function<bool(int, int, int)>, Offset>>& touches) {
    const auto& b = program.buffers[buffer];
    const auto& shape = program.grids[b.grid].shape;
    Extents extents(static_cast<std::size_t>(shape[1] * shape[2]));
    std::vector<bool> touched(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
    std::vector<bool> wrapped(extents.size());
    for (const auto& [inside, offset] : touches)
        for (int z = 0; z < shape[2]; ++z)
            for (int y = 0; y < shape[1]; ++y)
                for (int x = 0; x < shape[0]; ++x) {
                    if (!inside(x, y, z)) continue;
                    const auto row = ir::bounded_index(y + offset[1], shape[1], b.boundary[1]) +
                                     shape[1] * ir::bounded_index(z + offset[2], shape[2], b.boundary[2]);
                    const auto at = x + offset[0];
                    if (at < 0 || at >= shape[0])
                        wrapped[row] = true;
                    else
                        touched[at + shape[0] * row] = true;
                }
    for (std::size_t row = 0; row < extents.size(); ++row) {
        for (std::int64_t x = 0; x < shape[0]; ++x) {
            if (!touched[x + shape[0] * row]) continue;
            if (extents[row].last == 0) extents[row].first = x;
            extents[row].last = x + 1;
        }
        if (wrapped[row]) extents[row] = {0, shape[0]}; // the whole row, which is simple
    }
    return extents;
}

void expect_extents(const ir::Program& program, std::string_view name, const Extents& wanted) {
    const auto found = extents_of(program)[testing::field_of(program, name)];
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t row = 0; row < wanted.size(); ++row) {
        if (wanted[row].last == 0) {
            EXPECT_EQ(found[row].last, found[row].first) << name << ", row " << row;
            continue;
        }
        EXPECT_EQ(found[row].first, wanted[row].first) << name << ", row " << row;
        EXPECT_EQ(found[row].last, wanted[row].last) << name << ", row " << row;
    }
}

TEST(Extents, HoldWhatStatementsTouch) {
    const auto disk = [](int x, int y, int) { return (x - 31) * (x - 31) + (y - 19) * (y - 19) < 144; };
    const auto bar = [](int x, int y, int) { return x >= 3 && x < 9 && y >= 36; };
    const Compiled plane(plane_program);
    const auto& p = *plane.program();
    expect_extents(p, "u", expected_extents(p, 0, {{disk, {-1, 2, 0}}, {disk, {3, 0, 0}}}));
    expect_extents(p, "w", expected_extents(p, 2, {{disk, {0, 0, 0}}, {bar, {0, 3, 0}}, {bar, {-3, 0, 0}}}));
    const auto ball = [](int x, int y, int z) {
        return (x - 15) * (x - 15) + (y - 7) * (y - 7) + (z - 5) * (z - 5) < 16;
    };
    const Compiled space(space_program);
    const auto& s = *space.program();
    expect_extents(s, "u", expected_extents(s, 0, {{ball, {2, 0, -1}}, {ball, {0, 1, 0}}}));
    expect_extents(s, "w", expected_extents(s, 1, {{ball, {0, 0, 0}}}));
}

template <class T>
T value_at(const Rows& rows, std::int64_t x, std::int64_t y, std::int64_t z) {
    T value;
    std::memcpy(&value, rows.at(y, z) + x * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return value;
}

template <class T>
void expect_places(const ir::Program& program, int buffer) {
    const auto extents = extents_of(program);
    Storage storage(program, 2, extents);
    const auto& shape = program.grids[0].shape;
    std::vector<double> values(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i + 1);
    storage.write(buffer, 0, values);
    storage.write_row(buffer, 0, 3, 1, std::vector<double>{-1, -2, -3, -4});
    for (int k = 0; k < 4; ++k) values[static_cast<std::size_t>(3 * shape[0] + 1 + k)] = -1.0 - k;
    std::vector<double> found(values.size());
    storage.read(buffer, 0, found);
    EXPECT_EQ(found, values);
    const auto rows = storage.rows(buffer, 0);
    ASSERT_NE(rows.starts, nullptr);
    const std::byte* end = nullptr; // of the part before
    for (std::int64_t row = 0; row < shape[1] * shape[2]; ++row) {
        const auto part = extents[buffer][row];
        const auto y = row % shape[1], z = row / shape[1];
        for (auto x = part.first; x < part.last; ++x)
            EXPECT_EQ(value_at<T>(rows, x, y, z), static_cast<T>(values[x + shape[0] * row]))
                << x << ' ' << y << ' ' << z;
        if (part.last <= part.first) continue;
        const auto* start = rows.at(y, z) + part.first * static_cast<std::int64_t>(sizeof(T));
        if (end != nullptr) {
            EXPECT_LT(start - end, 4 * 64);
        }
        end = rows.at(y, z) + part.last * static_cast<std::int64_t>(sizeof(T));
    }
}

TEST(CpuStorage, HasPlacesForTouchedCellsOneBehindTheOther) {
    const Compiled plane(plane_program), space(space_program);
    expect_places<double>(*plane.program(), 0);
    expect_places<double>(*plane.program(), 2);
    expect_places<float>(*space.program(), 0);
    expect_places<float>(*space.program(), 1);
}

TEST(CpuStorage, LeavesWholeRowsAlone) {
    const Compiled whole(
        "grid g[x: 40, y: 30]\nfield u on g : double\nupdate one on interior: u += 1\nstep: one\n");
    const Storage storage(*whole.program(), 1, extents_of(*whole.program()));
    EXPECT_EQ(storage.rows(0, 0).starts, nullptr);
}

// What is written before a run, also where nothing is computed, is there after it.
TEST(CpuStorage, KeepsWhatIsWrittenIntoAllCells) {
    for (const char* text : {plane_program, space_program}) {
        const Compiled compiled(text);
        const auto& program = *compiled.program();
        const auto cpu = compiled.start("cpu", {.threads = 2});
        const auto interpreter = compiled.start();
        std::vector<double> values(static_cast<std::size_t>(
            program.grids[0].shape[0] * program.grids[0].shape[1] * program.grids[0].shape[2]));
        for (std::size_t b = 0; b < program.buffers.size(); ++b) {
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = static_cast<double>((i * 7919 + b) % 1013) / 8.0;
            cpu->write(static_cast<int>(b), values);
            interpreter->write(static_cast<int>(b), values);
        }
        cpu->advance(5);
        interpreter->advance(5);
        for (const auto& buffer : program.buffers)
            EXPECT_EQ(testing::values_of(*cpu, buffer.name), testing::values_of(*interpreter, buffer.name))
                << buffer.name;
    }
}

} // namespace
} // namespace farfield::stencil::cpu
