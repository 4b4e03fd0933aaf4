// The text of a pass of tiles. Two versions of its body: `rim` for tiles that
// touch the end of the grid or of a kernel's cells, and one without any test
// for all the others.
#include "stencil/codegen/cuda/tile.h"

#include "base/text.h"
#include "stencil/codegen/cuda/fused.h"
#include "stencil/codegen/cuda/tile_spelling.h"
#include "stencil/codegen/cuda/tile_table.h"

#include <algorithm>
#include <functional>
#include <set>

namespace farfield::stencil::codegen::cuda {

namespace {

class TilePrinter : FusedPrinter {
public:
    using FusedPrinter::FusedPrinter;
    MemoryPass print();

private:
    void print_layout();
    void print_cells_of_kernels();
    void print_loading();
    void print_steps();
    void print_stage(std::size_t k, Text& text, bool barrier_before, bool barrier_inside);
    void print_storing();
    void print_pair_loop(Text& text, const std::function<void()>& body) const;
    void print_point(std::size_t r, Text& text, bool barrier);
    void show(Text& text, const TileField& field) const;
    std::set<int> shown_after(std::size_t k) const;
    struct Barriers {
        std::vector<bool> before,
            inside; ///< `before` has records behind the kernels
    };
    Barriers barriers() const;
};

void TilePrinter::print_layout() {
    print_position(3);
    for (const auto& field : shape_.fields) {
        const auto& name = buffer(field.buffer).name;
        body_.line("{} {}_here[{}];", type(field.buffer), name, shape_.patch_cells());
        if (!field.exchanged) continue;
        body_.line("constexpr int {}_slot[{}] = {{{}}};", name, shape_.patch_cells(),
                   joined(field.slot, ", "));
        body_.line("{0}* const {1}_shown = reinterpret_cast<{0}*>(shared + {2});", type(field.buffer), name,
                   field.shared_offset);
    }
}

void TilePrinter::print_cells_of_kernels() {
    for (std::size_t k = 0; k < shape_.kernels.size(); ++k) {
        body_.line("unsigned cells_{} = 0; // of {}", k, kernel(k).name);
        body_.line("if (rim && (tile.some >> {} & 1u)) {{", k);
        print_cells(body_, k, 3);
        body_.add("}");
    }
}

void TilePrinter::show(Text& text, const TileField& field) const {
    if (!field.exchanged) return;
    const auto& name = buffer(field.buffer).name;
    text.add("#pragma unroll");
    text.line("for (int p = 0; p < {}; ++p)", shape_.patch_cells());
    text.line("if ({0}_slot[p] >= 0) {0}_shown[{0}_slot[p] * {1} + thread] = "
              "{0}_here[p];",
              name, shape_.thread_count());
}

// Pairs of cells of a tile inside the grid: both are kept or neither, and they lie in one word of 2 values.
// Leaves the other case open.
void TilePrinter::print_pair_loop(Text& text, const std::function<void()>& body) const {
    text.add("if constexpr (!rim) {");
    text.add("#pragma unroll");
    text.line("for (int p = 0; p < {}; p += 2) {{", shape_.patch_cells());
    text.line("const int j = p / 2 % {}, k = p / {};", shape_.patch[1], 2 * shape_.patch[1]);
    text.line("const Index at = first_x + {} * (first_y + j + {} * "
              "Index(first_z + k));",
              pitch_of(program_, grid_), rows_a_plane(program_, grid_));
    body();
    text.add("}");
    text.add("} else {");
}

void TilePrinter::print_loading() {
    print_kept(body_);
    print_pair_loop(body_, [&] {
        body_.add("const bool kept = is_kept(0, j, k);");
        for (const auto& field : shape_.fields) {
            const auto& name = buffer(field.buffer).name;
            body_.line("const Pair<{0}> {1}_two = {2}load_pair({1}_now + at){3};", type(field.buffer), name,
                       field.in_place ? fmt::format("!kept ? Pair<{}>{{0, 0}} : ", type(field.buffer)) : "",
                       "");
            body_.line("{0}_here[p] = {0}_two.first, {0}_here[p + 1] = {0}_two.second;", name);
        }
    });
    open_patch(body_, true);
    body_.line("const bool there = {};", is_there());
    body_.add("const bool kept = is_kept(i, j, k);");
    for (const auto& field : shape_.fields) {
        const auto& name = buffer(field.buffer).name;
        body_.line("{0}_here[p] = there{1} ? {0}_now[at] : {2}(0);", name, field.in_place ? " && kept" : "",
                   type(field.buffer));
    }
    body_.add("}");
    body_.add("}");
    for (const auto& field : shape_.fields) show(body_, field);
}

std::set<int> TilePrinter::shown_after(std::size_t k) const {
    std::set<int> shown;
    for (const auto& store : kernel(k).stores)
        if (shape_.field(store.buffer)->exchanged) shown.insert(store.buffer);
    return shown;
}

// Shared memory that was written must be complete before it is read, and read
// by all before it is written again. The loop is followed twice, so that what
// its end leaves open is seen at its start.
TilePrinter::Barriers TilePrinter::barriers() const {
    const auto meet = [](const std::set<int>& a, const std::set<int>& b) {
        return std::any_of(a.begin(), a.end(), [&](int x) { return b.contains(x); });
    };
    const auto stages = shape_.kernels.size();
    Barriers barriers{std::vector<bool>(stages + shape_.records.size()), std::vector<bool>(stages)};
    std::set<int> written, read;
    for (const auto& field : shape_.fields)
        if (field.exchanged) written.insert(field.buffer);
    const auto wait = [&](std::vector<bool>::reference barrier, bool needed) {
        if (!barrier && !needed) return;
        barrier = true;
        written.clear();
        read.clear();
    };
    for (int round = 0; round < 2; ++round)
        for (std::size_t k = 0; k < barriers.before.size(); ++k) {
            const auto reads = neighbours_read(k < stages ? kernel(k).code : record(k - stages).code);
            wait(barriers.before[k], meet(reads, written));
            read.insert(reads.begin(), reads.end());
            if (k >= stages) continue;
            const auto shows = shown_after(k);
            wait(barriers.inside[k], meet(shows, read));
            written.insert(shows.begin(), shows.end());
        }
    return barriers;
}

void TilePrinter::print_stage(std::size_t k, Text& text, bool barrier_before, bool barrier_inside) {
    const auto& stage = kernel(k);
    text.line("// {}", stage.name);
    if (barrier_before) text.add("__syncthreads();");
    const auto due =
        stage.every > 1 ? fmt::format(" && static_cast<long long>(clock[1]) % {} == 0", stage.every) : "";
    text.line("const bool runs_{0} = (tile.some >> {0} & 1u) != 0{1};", k, due);
    for (const auto& store : stage.stores)
        if (defers(k, store.buffer))
            text.line("{} {}_{}_new[{}];", type(store.buffer), buffer(store.buffer).name, k,
                      shape_.patch_cells());
    text.line("if (runs_{}) {{", k);
    open_patch(text, true);
    for (std::size_t a = 0; a < 3; ++a)
        text.line("const int {0}_in_tile = {0}_of_patch + {1};", "xyz"[a], "ijk"[a]);
    for (const auto& store : stage.stores)
        if (defers(k, store.buffer)) text.line("{0}_{1}_new[p] = {0}_here[p];", buffer(store.buffer).name, k);
    text.line("if (!rim || (cells_{} >> p & 1u)) {{", k);
    const TileSpelling spelling(program_, shape_, number_, grid_, stage.cells->bounds());
    std::vector<Root> roots;
    for (const auto& store : stage.stores) roots.push_back({store.node, computed(buffer(store.buffer))});
    const auto printed = print_code(stage.code, roots, spelling);
    job_.needs |= printed.needs;
    for (const auto& line : printed.lines) text.add(line);
    for (std::size_t s = 0; s < stage.stores.size(); ++s) {
        const auto& store = stage.stores[s];
        const auto& name = buffer(store.buffer).name;
        const auto target = defers(k, store.buffer) ? fmt::format("{}_{}_new", name, k) : name + "_here";
        text.line("{}[p] = static_cast<{}>({});", target, type(store.buffer), printed.values[s]);
    }
    text.add("}");
    text.add("}");
    text.add("}");
    if (barrier_inside) text.add("__syncthreads();");
    text.line("if (runs_{}) {{", k);
    for (const auto& store : stage.stores)
        if (defers(k, store.buffer)) {
            text.add("#pragma unroll");
            text.line("for (int p = 0; p < {0}; ++p) {1}_here[p] = {1}_{2}_new[p];", shape_.patch_cells(),
                      buffer(store.buffer).name, k);
        }
    for (const auto& store : stage.stores) show(text, *shape_.field(store.buffer));
    text.add("}");
}

// The value of a cell after a step, by the thread that keeps it.
void TilePrinter::print_point(std::size_t r, Text& text, bool barrier) {
    const auto& point = record(r);
    const auto& cell = point.cells->bounds().first;
    const auto values = fmt::format("record_{}_values", shape_.records[r]);
    parameters_.add("double* __restrict__", values, ArgumentKind::series, shape_.records[r]);
    text.line("// {}", point.name);
    if (barrier) text.add("__syncthreads();");
    std::string in_tile;
    for (std::size_t a = 0; a < 3; ++a)
        in_tile += fmt::format(" && inside<{}>({} - tile.{} - {})", shape_.kept[a], cell[a], "xyz"[a],
                               shape_.low[a]);
    text.line("if ((step + 1) % {} == 0{}) {{", point.every, in_tile);
    open_patch(text, true);
    for (std::size_t a = 0; a < 3; ++a)
        text.line("const int {0}_in_tile = {0}_of_patch + {1};", "xyz"[a], "ijk"[a]);
    text.line("if (first_x + i == {} && first_y + j == {} && first_z + k == {}) {{", cell[0], cell[1],
              cell[2]);
    const TileSpelling spelling(program_, shape_, number_, grid_, point.cells->bounds());
    const auto printed = print_code(point.code, std::vector<Root>{{point.code.result, "value"}}, spelling);
    job_.needs |= printed.needs;
    for (const auto& line : printed.lines) text.add(line);
    text.line("{0}[(step + 1) / {1} - 1 - first_step / {1}] = value;", values, point.every);
    text.add("}");
    text.add("}");
    text.add("}");
}

void TilePrinter::print_steps() {
    const auto where = barriers();
    if (!shape_.records.empty()) body_.add("const long long first_step = static_cast<long long>(clocks[1]);");
    body_.add("#pragma unroll 1");
    body_.add("for (int s = 0; s < steps; ++s) {");
    body_.line("const double* const clock = clocks + {} * s;", job_.plan.clock_row);
    if (!shape_.records.empty()) body_.add("const long long step = static_cast<long long>(clock[1]);");
    for (std::size_t k = 0; k < shape_.kernels.size(); ++k)
        print_stage(k, body_, where.before[k], where.inside[k]);
    for (std::size_t r = 0; r < shape_.records.size(); ++r)
        print_point(r, body_, where.before[shape_.kernels.size() + r]);
    body_.add("}");
}

void TilePrinter::print_storing() {
    print_pair_loop(body_, [&] {
        body_.add("if (is_kept(0, j, k)) {");
        for (const auto& field : shape_.fields) {
            const auto& name = buffer(field.buffer).name;
            body_.line("{0}store_pair({1}_{2} + at, {1}_here[p], {1}_here[p + 1]);",
                       field.in_place ? fmt::format("if {} ", written_test(field.buffer)) : "", name,
                       field.in_place ? "now" : "next");
        }
        body_.add("}");
    });
    open_patch(body_, true);
    std::string inside;
    for (std::size_t a = 0; a < 3; ++a)
        if (shape_.side[a] > 1) inside += " && " + has(a, fmt::format("first_{} + {}", "xyz"[a], "ijk"[a]));
    body_.line("if (is_kept(i, j, k){}) {{", inside);
    for (const auto& field : shape_.fields) {
        const auto& name = buffer(field.buffer).name;
        body_.line("{0}{1}_{2}[at] = {1}_here[p];",
                   field.in_place ? fmt::format("if {} ", written_test(field.buffer)) : "", name,
                   field.in_place ? "now" : "next");
    }
    body_.add("}");
    body_.add("}");
    body_.add("}");
}

MemoryPass TilePrinter::print() {
    Launch launch;
    launch.function = fmt::format("tiles_{}", number_);
    launch.threads = shape_.threads;
    launch.shared_bytes = shape_.shared_bytes;
    collect_parameters();
    print_layout();
    print_cells_of_kernels();
    print_loading();
    print_steps();
    print_storing();
    const auto tiles = tiles_of(program_, shape_, job_.mask == Mask::none);
    const bool far =
        std::any_of(shape_.fields.begin(), shape_.fields.end(), [](const TileField& f) { return f.mapped; });
    return finish(
        launch, tiles, far,
        fmt::format("{}: up to {} steps a pass on tiles of {} x {} x {} cells, of which {} x {} x {} are "
                    "kept; a thread holds {} x {} x {} cells.",
                    names(), shape_.steps, shape_.side[0], shape_.side[1], shape_.side[2], shape_.kept[0],
                    shape_.kept[1], shape_.kept[2], shape_.patch[0], shape_.patch[1], shape_.patch[2]));
}

} // namespace

MemoryPass print_tiles(const PrintJob& job, const TileShape& shape, int number) {
    return TilePrinter(job, shape, number).print();
}

} // namespace farfield::stencil::codegen::cuda
