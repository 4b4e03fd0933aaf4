// The text of a pass of tiles. Two versions of its body: `rim` for tiles that
// touch the end of the grid or of a kernel's cells, and one without any test
// for all the others.
#include "stencil/codegen/cuda/tile.h"

#include "stencil/codegen/cuda/forms.h"
#include "stencil/codegen/cuda/tile_spelling.h"
#include "stencil/codegen/cuda/tile_table.h"

#include <algorithm>
#include <functional>
#include <set>

namespace farfield::stencil::codegen::cuda {

namespace {

class TilePrinter {
public:
    TilePrinter(const Context& context, const TileShape& shape, int number)
        : context_(context), program_(context.program), shape_(shape), number_(number),
          grid_(program_.kernels[static_cast<std::size_t>(shape.kernels[0])].grid),
          extent_(program_.grids[static_cast<std::size_t>(grid_)].shape) {}

    Pass print();

private:
    const ir::Kernel& kernel(std::size_t k) const {
        return program_.kernels[static_cast<std::size_t>(shape_.kernels[k])];
    }
    const ir::Buffer& buffer(int b) const { return program_.buffers[static_cast<std::size_t>(b)]; }
    std::string type(int b) const { return std::string(type_name(buffer(b).precision)); }

    void collect_parameters();
    void add_outer_reads(const ir::Code& code);
    void print_neighbours();
    void print_layout();
    void print_cells_of_kernels();
    void print_loading();
    void print_steps();
    void print_stage(std::size_t k, Text& text, bool barrier_before, bool barrier_inside);
    void print_storing();
    void print_point(std::size_t r, Text& text, bool barrier);
    void print_pair_loop(const std::function<void()>& body);
    void open_patch(Text& text, bool coordinates);
    void show(Text& text, const TileField& field) const;
    std::string in_grid() const;
    bool defers(std::size_t k, int b) const;
    std::set<int> neighbours_read(const ir::Code& code) const;
    std::set<int> neighbours_read(std::size_t k) const { return neighbours_read(kernel(k).code); }
    const ir::Record& record(std::size_t r) const {
        return program_.records[static_cast<std::size_t>(shape_.records[r])];
    }
    std::set<int> shown_after(std::size_t k) const;
    struct Barriers {
        std::vector<bool> before,
            inside; ///< `before` has records behind the kernels
    };
    Barriers barriers() const;
    std::string written_test(int b) const;

    const Context& context_;
    const ir::Program& program_;
    const TileShape& shape_;
    int number_;
    int grid_;
    ir::Shape extent_;
    Parameters parameters_;
    Text body_;
};

// Opens a loop over the thread's patch that the compiler unrolls.
void TilePrinter::open_patch(Text& text, bool coordinates) {
    const auto& patch = shape_.patch;
    text.add("#pragma unroll");
    text.line("for (int p = 0; p < {}; ++p) {{", shape_.patch_cells());
    text.line("const int i = p % {}, j = p / {} % {}, k = p / {};", patch[0], patch[0], patch[1],
              patch[0] * patch[1]);
    if (!coordinates) return;
    for (std::size_t a = 0; a < 3; ++a) {
        const char name = "xyz"[a];
        const auto raw = fmt::format("first_{} + {}", name, "ijk"[a]);
        text.line("const int {} = {};", name,
                  shape_.wraps[a] ? fmt::format("rim ? wrapped<{}>({}) : {}", extent_[a], raw, raw) : raw);
    }
    text.line("const Index at = x + {} * (y + {} * Index(z));", pitch_of(program_, grid_), extent_[1]);
}

std::string TilePrinter::in_grid() const {
    std::string text;
    for (std::size_t a = 0; a < 3; ++a)
        if (!shape_.wraps[a] && shape_.side[a] > 1)
            text += fmt::format("{}inside<{}>({})", text.empty() ? "" : " && ", extent_[a], "xyz"[a]);
    return text.empty() ? "true" : text;
}

void TilePrinter::collect_parameters() {
    for (const auto& field : shape_.fields) {
        const auto& b = buffer(field.buffer);
        if (field.in_place) {
            parameters_.add(type(field.buffer) + "* __restrict__", now(b), ArgumentKind::current,
                            field.buffer);
            continue;
        }
        parameters_.add("const " + type(field.buffer) + "* __restrict__", now(b), ArgumentKind::current,
                        field.buffer);
        parameters_.add(type(field.buffer) + "* __restrict__", next(b), ArgumentKind::other, field.buffer);
    }
    for (std::size_t k = 0; k < shape_.kernels.size(); ++k)
        for (const auto* code : {&kernel(k).code, &kernel(k).predicate}) add_outer_reads(*code);
    for (std::size_t r = 0; r < shape_.records.size(); ++r) add_outer_reads(record(r).code);
}

// What only memory has.
void TilePrinter::add_outer_reads(const ir::Code& code) {
    for (const auto& node : code.nodes)
        if (node.op == ir::Op::load && shape_.field(node.index) == nullptr)
            parameters_.add("const " + type(node.index) + "* __restrict__", now(buffer(node.index)),
                            ArgumentKind::current, node.index);
}

// Device functions that find a neighbour.
void TilePrinter::print_neighbours() {
    auto& text = context_.text;
    const auto& p = shape_.patch;
    const auto& t = shape_.threads;
    text.add("// The value of cell (i, j, k) counted from the thread's patch: "
             "one of its own, or what the "
             "thread that has it shows.");
    text.add("template <class T>");
    text.line("static __device__ __forceinline__ T near_{}(const T (&here)[{}], "
              "const T* shown, const int "
              "(&slot)[{}], int i, "
              "int j, int k, int thread) {{",
              number_, shape_.patch_cells(), shape_.patch_cells());
    text.line("const int a = (i + {0}) / {1} - {2}, b = (j + {3}) / {4} - {2}, c "
              "= (k + {5}) / {6} - {2};",
              1024 * p[0], p[0], 1024, 1024 * p[1], p[1], 1024 * p[2], p[2]);
    text.line("const int cell = i - {0} * a + {0} * (j - {1} * b + {1} * (k - "
              "{2} * c));",
              p[0], p[1], p[2]);
    text.add("if (a == 0 && b == 0 && c == 0) return here[cell];");
    text.line("return shown[slot[cell] * {} + thread + a + {} * (b + {} * c)];", shape_.thread_count(), t[0],
              t[1]);
    text.add("}");
    text.blank();
    if (std::none_of(shape_.fields.begin(), shape_.fields.end(), [](const TileField& f) { return f.mapped; }))
        return;
    text.add("// The same for a cell counted from the tile's first one, of a "
             "field that shows all cells.");
    text.add("template <class T>");
    text.line("static __device__ __forceinline__ T far_{}(const T* shown, int x, "
              "int y, int z) {{",
              number_);
    for (std::size_t a = 0; a < 3; ++a) text.line("{0} = nearest<{1}>({0});", "xyz"[a], shape_.side[a]);
    text.line("return shown[(x % {0} + {0} * (y % {1} + {1} * (z % {2}))) * {3} "
              "+ x / {0} + {4} * (y / {1} + "
              "{5} * (z / {2}))];",
              p[0], p[1], p[2], shape_.thread_count(), t[0], t[1]);
    text.add("}");
    text.blank();
}

void TilePrinter::print_layout() {
    const auto& t = shape_.threads;
    body_.line("const int thread = threadIdx.x + {} * (threadIdx.y + {} * threadIdx.z);", t[0], t[1]);
    for (std::size_t a = 0; a < 3; ++a) {
        const char name = "xyz"[a];
        body_.line("const int {0}_of_patch = {1} * threadIdx.{0}, first_{0} = "
                   "tile.{0} + {0}_of_patch;",
                   name, shape_.patch[a]);
    }
    for (const auto& field : shape_.fields) {
        const auto& name = buffer(field.buffer).name;
        body_.line("{} {}_here[{}];", type(field.buffer), name, shape_.patch_cells());
        if (!field.exchanged) continue;
        body_.line("constexpr int {}_slot[{}] = {{{}}};", name, shape_.patch_cells(),
                   fmt::join(field.slot, ", "));
        body_.line("{0}* const {1}_shown = reinterpret_cast<{0}*>(shared + {2});", type(field.buffer), name,
                   field.shared_offset);
    }
}

// For tiles at a rim: a bit for each cell of the patch that a kernel updates.
void TilePrinter::print_cells_of_kernels() {
    for (std::size_t k = 0; k < shape_.kernels.size(); ++k) {
        const auto& cells = *kernel(k).cells;
        const auto& box = cells.bounds();
        body_.line("unsigned cells_{} = 0; // of {}", k, kernel(k).name);
        body_.line("if (rim && (tile.some >> {} & 1u)) {{", k);
        open_patch(body_, true);
        std::string test = in_grid();
        const bool condition = context_.mask == Mask::none && !is_trivial(kernel(k).predicate);
        if (!condition)
            for (std::size_t a = 0; a < 3; ++a)
                if (box.first[a] > 0 || box.last[a] < extent_[a])
                    test += fmt::format(" && {0} >= {1} && {0} < {2}", "xyz"[a], box.first[a], box.last[a]);
        body_.line("if ({}) {{", test);
        std::string value = "1u";
        if (condition) {
            const DeviceSpelling spelling(program_, grid_, ir::whole(extent_));
            const auto printed = print_code(
                kernel(k).predicate, std::vector<Root>{{kernel(k).predicate.result, "belongs"}}, spelling);
            context_.needs |= printed.needs;
            for (const auto& line : printed.lines) body_.add(line);
            value = "unsigned(belongs)";
        } else if (!cells.is_box()) {
            const auto bytes = mask_bytes(cells);
            const int table = add_table(context_.plan, "mask", bytes.data(), bytes.size());
            const auto name = fmt::format("mask_{}", table);
            parameters_.add("const unsigned char* __restrict__", name, ArgumentKind::table, table);
            value = fmt::format("unsigned({}[x - {} + {} * (y - {} + {} * Index(z - {}))])", name,
                                box.first[0], box.last[0] - box.first[0], box.first[1],
                                box.last[1] - box.first[1], box.first[2]);
        }
        body_.line("cells_{} |= {} << p;", k, value);
        body_.add("}");
        body_.add("}");
        body_.add("}");
    }
}

// Pairs of cells of a tile inside the grid: both are kept or neither, and they
// lie in one word of 2 values.
void TilePrinter::print_pair_loop(const std::function<void()>& body) {
    body_.add("if constexpr (!rim) {");
    body_.add("#pragma unroll");
    body_.line("for (int p = 0; p < {}; p += 2) {{", shape_.patch_cells());
    body_.line("const int j = p / 2 % {}, k = p / {};", shape_.patch[1], 2 * shape_.patch[1]);
    body_.line("const Index at = first_x + {} * (first_y + j + {} * "
               "Index(first_z + k));",
               pitch_of(program_, grid_), extent_[1]);
    body();
    body_.add("}");
    body_.add("} else {");
}

void TilePrinter::print_loading() {
    body_.add("const auto is_kept = [&](int i, int j, int k) {");
    std::string kept;
    for (std::size_t a = 0; a < 3; ++a)
        if (shape_.low[a] > 0 || shape_.high[a] > 0)
            kept += fmt::format("{0}inside<{1}>({2}_of_patch + {3} - {4})", kept.empty() ? "" : " && ",
                                shape_.kept[a], "xyz"[a], "ijk"[a], shape_.low[a]);
    body_.line("return {};", kept.empty() ? "true" : kept);
    body_.add("};");
    print_pair_loop([&] {
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
    body_.line("const bool there = {};", in_grid());
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

void TilePrinter::show(Text& text, const TileField& field) const {
    if (!field.exchanged) return;
    const auto& name = buffer(field.buffer).name;
    text.add("#pragma unroll");
    text.line("for (int p = 0; p < {}; ++p)", shape_.patch_cells());
    text.line("if ({0}_slot[p] >= 0) {0}_shown[{0}_slot[p] * {1} + thread] = "
              "{0}_here[p];",
              name, shape_.thread_count());
}

std::set<int> TilePrinter::neighbours_read(const ir::Code& code) const {
    std::set<int> read;
    for (const auto& node : code.nodes)
        if (node.op == ir::Op::load && shape_.field(node.index) != nullptr &&
            node.offsets != std::array<int, 3>{})
            read.insert(node.index);
    return read;
}

std::set<int> TilePrinter::shown_after(std::size_t k) const {
    std::set<int> shown;
    for (const auto& store : kernel(k).stores)
        if (shape_.field(store.buffer)->exchanged) shown.insert(store.buffer);
    return shown;
}

// A field's new values wait where the kernel still reads its neighbours.
bool TilePrinter::defers(std::size_t k, int b) const { return neighbours_read(k).contains(b); }

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
    for (const auto& store : stage.stores) roots.push_back({store.node, fmt::format("new_{}", store.node)});
    const auto printed = print_code(stage.code, roots, spelling);
    context_.needs |= printed.needs;
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
    context_.needs |= printed.needs;
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
    body_.line("const double* const clock = clocks + {} * s;", context_.plan.clock_row);
    if (!shape_.records.empty()) body_.add("const long long step = static_cast<long long>(clock[1]);");
    for (std::size_t k = 0; k < shape_.kernels.size(); ++k)
        print_stage(k, body_, where.before[k], where.inside[k]);
    for (std::size_t r = 0; r < shape_.records.size(); ++r)
        print_point(r, body_, where.before[shape_.kernels.size() + r]);
    body_.add("}");
}

// Whether some kernel of the tile writes the buffer.
std::string TilePrinter::written_test(int b) const {
    unsigned writers = 0;
    for (std::size_t k = 0; k < shape_.kernels.size(); ++k)
        for (const auto& store : kernel(k).stores)
            if (store.buffer == b) writers |= 1U << k;
    return fmt::format("(tile.some & {}u)", writers);
}

void TilePrinter::print_storing() {
    print_pair_loop([&] {
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
        if (shape_.side[a] > 1)
            inside += fmt::format(" && inside<{}>(first_{} + {})", extent_[a], "xyz"[a], "ijk"[a]);
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

Pass TilePrinter::print() {
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
    const auto tiles = tiles_of(program_, shape_, context_.mask == Mask::none);
    launch.blocks = static_cast<std::int64_t>(tiles.size());
    parameters_.add("const double* __restrict__", "clocks", ArgumentKind::clock);
    parameters_.add("int", "steps", ArgumentKind::steps);
    Parameters outer = parameters_;
    outer.add("const Tile* __restrict__", "tiles", ArgumentKind::table,
              add_table(context_.plan, fmt::format("tiles_{}", number_), tiles.data(),
                        tiles.size() * sizeof(Tile)));
    auto& text = context_.text;
    std::string names;
    for (std::size_t k = 0; k < shape_.kernels.size(); ++k) names += (k == 0 ? "" : ", ") + kernel(k).name;
    text.line("// {}: up to {} steps a pass on tiles of {} x {} x {} cells, of "
              "which {} x {} x {} are kept; "
              "a thread holds "
              "{} x {} x {} cells.",
              names, shape_.steps, shape_.side[0], shape_.side[1], shape_.side[2], shape_.kept[0],
              shape_.kept[1], shape_.kept[2], shape_.patch[0], shape_.patch[1], shape_.patch[2]);
    print_neighbours();
    text.add("template <bool rim>");
    text.line("static __device__ __forceinline__ void {}_body(const Tile& tile, "
              "unsigned char* shared, {}) {{",
              launch.function, parameters_.declaration());
    text.append(body_);
    text.add("}");
    text.blank();
    text.line("extern \"C\" __global__ void __launch_bounds__({}, {}) {}({}) {{", shape_.thread_count(),
              shape_.blocks_a_processor, launch.function, outer.declaration());
    text.add("extern __shared__ double shared[];");
    text.add("unsigned char* const bytes = reinterpret_cast<unsigned char*>(shared);");
    text.add("const Tile tile = tiles[blockIdx.x];");
    text.add("if (tile.plain) {");
    text.line("{}_body<false>(tile, bytes, {});", launch.function, parameters_.call());
    text.add("} else {");
    text.line("{}_body<true>(tile, bytes, {});", launch.function, parameters_.call());
    text.add("}");
    text.add("}");
    text.blank();
    launch.arguments = outer.arguments;
    Pass pass;
    pass.name = names;
    if (launch.blocks > 0) pass.launches.push_back(launch);
    for (const auto& field : shape_.fields)
        if (!field.in_place) {
            pass.swapped.push_back(field.buffer);
            context_.plan.buffers[static_cast<std::size_t>(field.buffer)].copies = 2;
        }
    return pass;
}

} // namespace

Pass print_tiles(const Context& context, const TileShape& shape, int number) {
    return TilePrinter(context, shape, number).print();
}

} // namespace farfield::stencil::codegen::cuda
