// Text that tiles and columns share.
#include "stencil/codegen/cuda/fused.h"

#include "stencil/codegen/cuda/forms.h"
#include "stencil/codegen/cuda/loads.h"

#include <algorithm>

namespace farfield::stencil::codegen::cuda {

std::string FusedPrinter::names() const {
    std::string text;
    for (std::size_t k = 0; k < shape_.kernels.size(); ++k) text += (k == 0 ? "" : ", ") + kernel(k).name;
    return text;
}

void FusedPrinter::open_patch(Text& text, bool coordinates) const {
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
    text.line("const Index at = x + {} * (y + {} * Index(z));", pitch_of(program_, grid_),
              rows_a_plane(program_, grid_));
}

std::string FusedPrinter::has(std::size_t axis, const std::string& index) const {
    if (!is_cut(axis)) return fmt::format("inside<{}>({})", extent_[axis], index);
    return fmt::format("between<{}, {}>({})", memory_.first[axis], memory_.last[axis], index);
}

std::string FusedPrinter::is_there(std::size_t axes) const {
    std::string text;
    for (std::size_t a = 0; a < axes; ++a)
        if ((!shape_.wraps[a] || is_cut(a)) && shape_.side[a] > 1)
            text += (text.empty() ? "" : " && ") + has(a, std::string(1, "xyz"[a]));
    return text.empty() ? "true" : text;
}

void FusedPrinter::print_position(std::size_t axes) {
    const auto& t = shape_.threads;
    body_.line("const int thread = threadIdx.x + {} * (threadIdx.y + {} * threadIdx.z);", t[0], t[1]);
    for (std::size_t a = 0; a < axes; ++a) {
        const char name = "xyz"[a];
        body_.line("const int {0}_of_patch = {1} * threadIdx.{0}, first_{0} = "
                   "tile.{0} + {0}_of_patch;",
                   name, shape_.patch[a]);
    }
}

void FusedPrinter::collect_parameters() {
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
void FusedPrinter::add_outer_reads(const ir::Code& code) {
    for (const auto& node : code.nodes)
        if (node.op == ir::Op::load && shape_.field(node.index) == nullptr)
            parameters_.add("const " + type(node.index) + "* __restrict__", now(buffer(node.index)),
                            ArgumentKind::current, node.index);
}

// Device functions that find a neighbour.
void FusedPrinter::print_neighbours(bool far) {
    auto& text = job_.text;
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
    if (!far) return;
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

void FusedPrinter::print_kept(Text& text, std::size_t axes) const {
    text.add("const auto is_kept = [&](int i, int j, int k) {");
    std::string kept;
    for (std::size_t a = 0; a < axes; ++a)
        if (shape_.low[a] > 0 || shape_.high[a] > 0)
            kept += fmt::format("{0}inside<{1}>({2}_of_patch + {3} - {4})", kept.empty() ? "" : " && ",
                                shape_.kept[a], "xyz"[a], "ijk"[a], shape_.low[a]);
    text.line("return {};", kept.empty() ? "true" : kept);
    text.add("};");
}

bool FusedPrinter::is_masked(std::size_t k) const {
    const bool condition = job_.mask == Mask::none && !is_trivial(kernel(k).predicate);
    return condition || !kernel(k).cells->is_box();
}

void FusedPrinter::print_cells(Text& text, std::size_t k, std::size_t axes) {
    const auto& cells = *kernel(k).cells;
    const auto& box = cells.bounds();
    open_patch(text, true);
    std::string test = is_there(axes);
    const bool condition = job_.mask == Mask::none && !is_trivial(kernel(k).predicate);
    if (!condition || !program_.held.empty()) // of the cells of a rank the condition knows nothing
        for (std::size_t a = 0; a < axes; ++a)
            if (box.first[a] > 0 || box.last[a] < extent_[a])
                test += fmt::format(" && {0} >= {1} && {0} < {2}", "xyz"[a], box.first[a], box.last[a]);
    text.line("if ({}) {{", test);
    std::string value = "1u";
    if (condition) {
        const DeviceSpelling spelling(program_, grid_, ir::whole(extent_));
        const auto printed = print_code(kernel(k).predicate,
                                        std::vector<Root>{{kernel(k).predicate.result, "belongs"}}, spelling);
        job_.needs |= printed.needs;
        for (const auto& line : printed.lines) text.add(line);
        value = "unsigned(belongs)";
    } else if (!cells.is_box()) {
        const auto bytes = mask_bytes(cells);
        const int table = add_table(job_.plan, "mask", bytes.data(), bytes.size());
        const auto name = fmt::format("mask_{}", table);
        parameters_.add("const unsigned char* __restrict__", name, ArgumentKind::table, table);
        value =
            fmt::format("unsigned({}[x - {} + {} * (y - {} + {} * Index(z - {}))])", name, box.first[0],
                        box.last[0] - box.first[0], box.first[1], box.last[1] - box.first[1], box.first[2]);
    }
    text.line("cells_{} |= {} << p;", k, value);
    text.add("}");
    text.add("}");
}

std::set<int> FusedPrinter::neighbours_read(const ir::Code& code) const {
    std::set<int> read;
    for (const auto& node : code.nodes)
        if (node.op == ir::Op::load && shape_.field(node.index) != nullptr &&
            node.offsets != std::array<int, 3>{})
            read.insert(node.index);
    return read;
}

std::string FusedPrinter::written_test(int b) const {
    unsigned writers = 0;
    for (std::size_t k = 0; k < shape_.kernels.size(); ++k)
        for (const auto& store : kernel(k).stores)
            if (store.buffer == b) writers |= 1U << k;
    return fmt::format("(tile.some & {}u)", writers);
}

MemoryPass FusedPrinter::finish(Launch launch, const std::vector<Tile>& tiles, bool far,
                                const std::string& remark) {
    launch.blocks = static_cast<std::int64_t>(tiles.size());
    parameters_.add("const double* __restrict__", "clocks", ArgumentKind::clock);
    parameters_.add("int", "steps", ArgumentKind::steps);
    Parameters outer = parameters_;
    outer.add("const Tile* __restrict__", "tiles", ArgumentKind::table,
              add_table(job_.plan, launch.function, tiles.data(), tiles.size() * sizeof(Tile)));
    auto& text = job_.text;
    text.line("// {}", remark);
    print_neighbours(far);
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
    MemoryPass pass;
    pass.name = names();
    if (launch.blocks > 0) pass.launches.push_back(launch);
    for (const auto& field : shape_.fields)
        if (!field.in_place) {
            pass.swapped.push_back(field.buffer);
            job_.plan.buffers[static_cast<std::size_t>(field.buffer)].copies = 2;
        }
    return pass;
}

} // namespace farfield::stencil::codegen::cuda
