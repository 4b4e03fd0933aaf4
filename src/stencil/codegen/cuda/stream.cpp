// The text of a pass of columns. Two versions of its body, as of tiles: `rim` for columns that touch the ends
// of the grid along x and y or have a part of a kernel's cells, and one that tests nothing but planes.
#include "stencil/codegen/cuda/stream.h"

#include "base/text.h"
#include "stencil/codegen/cuda/fused.h"
#include "stencil/codegen/cuda/stream_spelling.h"

#include <algorithm>

namespace farfield::stencil::codegen::cuda {

namespace {

class StreamPrinter : FusedPrinter {
public:
    StreamPrinter(const PrintJob& job, const StreamShape& shape, int number)
        : FusedPrinter(job, shape.tile, number), stream_(shape) {}
    MemoryPass print();

private:
    std::string plane(int b, int depth) const { return StreamSpelling::plane(buffer(b), depth); }
    std::string has_plane() const;
    bool pairs_everywhere() const;
    void open_pairs();
    void print_layout();
    void print_cells_of_kernels();
    void print_march();
    void print_shift();
    void print_loading();
    void print_exchanges(int after);
    void print_stage(std::size_t s);
    void print_updates(std::size_t s);
    void print_waiting(std::size_t s);
    void print_storing();
    void copy_patch(const std::string& to, const std::string& from);

    const StreamShape& stream_;
    bool shown_ = false;      ///< something since the last barrier
    std::uint32_t whole_ = 0; ///< kernels that a column without a rim may have
};

void StreamPrinter::copy_patch(const std::string& to, const std::string& from) {
    body_.add("#pragma unroll");
    body_.line("for (int p = 0; p < {}; ++p) {}[p] = {}[p];", shape_.patch_cells(), to, from);
}

// Whether plane z is in the grid and in memory.
std::string StreamPrinter::has_plane() const { return shape_.wraps[2] && !is_cut(2) ? "true" : has(2, "z"); }

// Rows start at places of pairs and have room for a whole last one, and columns start at even cells; only
// copies of cells around a periodic axis may lie otherwise.
bool StreamPrinter::pairs_everywhere() const {
    return !shape_.wraps[0] && pitch_of(program_, grid_) % 2 == 0;
}

// Opens a loop over pairs of cells of plane z; where not all are pairs, in the version without a rim.
void StreamPrinter::open_pairs() {
    if (!pairs_everywhere()) body_.add("if constexpr (!rim) {");
    body_.add("#pragma unroll");
    body_.line("for (int p = 0; p < {}; p += 2) {{", shape_.patch_cells());
    body_.add("const int j = p / 2;");
    body_.add("const int x = first_x;");
    body_.line("const int y = {};",
               shape_.wraps[1] ? fmt::format("rim ? wrapped<{}>(first_y + j) : first_y + j", extent_[1])
                               : "first_y + j");
    body_.line("const Index at = x + {} * (y + {} * Index(z));", pitch_of(program_, grid_),
               rows_a_plane(program_, grid_));
}

void StreamPrinter::print_layout() {
    print_position(2);
    print_kept(body_, 2);
    for (const auto& [b, window] : stream_.windows) {
        for (int depth = window.newest; depth <= window.oldest; ++depth)
            body_.line("{} {}[{}] = {{}};", type(b), plane(b, depth), shape_.patch_cells());
        body_.line("{} {}_ahead[{}] = {{}};", type(b), buffer(b).name, shape_.patch_cells());
    }
    for (std::size_t s = 0; s < stream_.stages.size(); ++s)
        for (const auto& [b, wait] : stream_.stages[s].waits)
            for (int i = 1; i <= wait; ++i)
                body_.line("{} {}_{}_waits_{}[{}] = {{}};", type(b), buffer(b).name, s, i,
                           shape_.patch_cells());
    for (std::size_t e = 0; e < stream_.exchanges.size(); ++e)
        body_.line("constexpr int slot_{}[{}] = {{{}}};", e, shape_.patch_cells(),
                   joined(stream_.exchanges[e].slot, ", "));
}

// What the cells' places along x and y say holds for all planes.
void StreamPrinter::print_cells_of_kernels() {
    for (std::size_t k = 0; k < shape_.kernels.size(); ++k) {
        if (is_masked(k)) continue;
        body_.line("unsigned cells_{} = 0; // of {}", k, kernel(k).name);
        body_.line("if (rim && (tile.some >> {} & 1u)) {{", k);
        body_.add("const int first_z = tile.z;");
        print_cells(body_, k, 2);
        body_.add("}");
    }
}

void StreamPrinter::print_shift() {
    for (const auto& [b, window] : stream_.windows) {
        for (int depth = window.oldest; depth > window.newest; --depth)
            copy_patch(plane(b, depth), plane(b, depth - 1));
        copy_patch(plane(b, window.newest), buffer(b).name + "_ahead");
    }
}

// The planes of the next turn, so that they are on their way during this one.
void StreamPrinter::print_loading() {
    std::map<int, std::vector<const TileField*>> late; // fields of which older planes are wanted
    for (const auto& field : shape_.fields) late[stream_.windows.at(field.buffer).newest].push_back(&field);
    for (const auto& [newest, fields] : late) {
        body_.add("{");
        body_.line("const int first_z = m + {};", 1 - newest);
        body_.line("const int z = {};", shape_.wraps[2]
                                            ? fmt::format("rim ? wrapped<{}>(first_z) : first_z", extent_[2])
                                            : "first_z");
        body_.line("if (first_z >= tile.z && first_z < kept_end + {} && {}) {{", shape_.high[2], has_plane());
        const auto keep = "kept && first_z >= kept_start && first_z < kept_end";
        open_pairs();
        body_.line("const bool there = !rim || ({});", is_there(2));
        body_.add("const bool kept = is_kept(0, j, 0);");
        for (const auto* field : fields) {
            const auto& name = buffer(field->buffer).name;
            body_.line("const Pair<{0}> {1}_two = there{2} ? load_pair({1}_now + at) : Pair<{0}>{{0, 0}};",
                       type(field->buffer), name, field->in_place ? fmt::format(" && {}", keep) : "");
            body_.line("{0}_ahead[p] = {0}_two.first, {0}_ahead[p + 1] = {0}_two.second;", name);
        }
        body_.add("}");
        if (!pairs_everywhere()) {
            body_.add("} else {");
            open_patch(body_, true);
            body_.line("const bool there = {};", is_there(2));
            body_.add("const bool kept = is_kept(i, j, k);");
            for (const auto* field : fields) {
                const auto& name = buffer(field->buffer).name;
                body_.line("{0}_ahead[p] = there{1} ? {0}_now[at] : {2}(0);", name,
                           field->in_place ? fmt::format(" && {}", keep) : "", type(field->buffer));
            }
            body_.add("}");
            body_.add("}");
        }
        body_.add("}");
        body_.add("}");
    }
}

void StreamPrinter::print_exchanges(int after) {
    for (std::size_t e = 0; e < stream_.exchanges.size(); ++e) {
        const auto& exchange = stream_.exchanges[e];
        if (exchange.after != after) continue;
        shown_ = true;
        body_.line("{0}* const shown_{1} = reinterpret_cast<{0}*>(half + {2});", type(exchange.buffer), e,
                   exchange.shared_offset);
        body_.add("#pragma unroll");
        body_.line("for (int p = 0; p < {}; ++p)", shape_.patch_cells());
        body_.line("if (slot_{0}[p] >= 0) shown_{0}[slot_{0}[p] * {1} + thread] = {2}[p];", e,
                   shape_.thread_count(), plane(exchange.buffer, exchange.depth));
    }
}

void StreamPrinter::print_stage(std::size_t s) {
    const auto& stage = stream_.stages[s];
    const auto k = static_cast<std::size_t>(stage.kernel);
    const auto reads = neighbours_read(k);
    body_.line("// {}{}", kernel(k).name,
               shape_.steps > 1 ? fmt::format(" of step {} of the pass", stage.step + 1) : "");
    if (shown_ && std::any_of(reads.begin(), reads.end(), [&](int b) {
            return std::any_of(stream_.exchanges.begin(), stream_.exchanges.end(),
                               [&](const Exchange& e) { return e.buffer == b; });
        })) {
        body_.add("__syncthreads();");
        shown_ = false;
    }
    body_.line("if ({}runs_{}) {{", (whole_ >> k & 1U) != 0 ? "" : "rim && ", s);
    for (const auto& [b, wait] : stage.waits)
        if (defers(k, b)) {
            body_.line("{} {}_new[{}];", type(b), buffer(b).name, shape_.patch_cells());
            copy_patch(buffer(b).name + "_new", plane(b, stage.lag));
        }
    print_updates(s);
    print_waiting(s);
    body_.add("}");
}

// The cells of the stage's plane.
void StreamPrinter::print_updates(std::size_t s) {
    const auto& stage = stream_.stages[s];
    const auto k = static_cast<std::size_t>(stage.kernel);
    const auto& bounds = kernel(k).cells->bounds();
    body_.line("const int first_z = m - {};", stage.lag);
    body_.line("const int z = {};",
               shape_.wraps[2] ? fmt::format("rim ? wrapped<{}>(first_z) : first_z", extent_[2]) : "first_z");
    body_.line("if (z >= {} && z < {}) {{", bounds.first[2], bounds.last[2]);
    body_.line("const double* const clock = clocks + {};", job_.plan.clock_row * stage.step);
    if (is_masked(k)) {
        body_.line("unsigned cells_{} = 0;", k);
        body_.add("if (rim) {");
        print_cells(body_, k, 3);
        body_.add("}");
    }
    open_patch(body_, true);
    for (std::size_t a = 0; a < 2; ++a)
        body_.line("const int {0}_in_tile = {0}_of_patch + {1};", "xyz"[a], "ijk"[a]);
    body_.add("constexpr int z_in_tile = 0;");
    body_.line("if (!rim || (cells_{} >> p & 1u)) {{", k);
    const StreamSpelling spelling(program_, stream_, number_, grid_, bounds, s);
    std::vector<Root> roots;
    for (const auto& store : kernel(k).stores) roots.push_back({store.node, computed(buffer(store.buffer))});
    const auto printed = print_code(kernel(k).code, roots, spelling);
    job_.needs |= printed.needs;
    for (const auto& line : printed.lines) body_.add(line);
    for (std::size_t i = 0; i < kernel(k).stores.size(); ++i) {
        const int b = kernel(k).stores[i].buffer;
        body_.line("{}[p] = static_cast<{}>({});",
                   defers(k, b) ? buffer(b).name + "_new" : plane(b, stage.lag), type(b), printed.values[i]);
    }
    body_.add("}");
    body_.add("}");
    body_.add("}");
}

// New values take their place once the kernel does not read the old ones any more.
void StreamPrinter::print_waiting(std::size_t s) {
    const auto& stage = stream_.stages[s];
    for (const auto& [b, wait] : stage.waits) {
        if (!defers(static_cast<std::size_t>(stage.kernel), b)) continue;
        const auto& name = buffer(b).name;
        const auto waiting = [&](int i) {
            return i == 0 ? name + "_new" : fmt::format("{}_{}_waits_{}", name, s, i);
        };
        copy_patch(plane(b, stage.lag + wait), waiting(wait));
        for (int i = wait; i > 0; --i) copy_patch(waiting(i), waiting(i - 1));
    }
}

void StreamPrinter::print_storing() {
    std::map<int, std::vector<const TileField*>> together;
    for (const auto& field : shape_.fields)
        together[stream_.windows.at(field.buffer).final].push_back(&field);
    const auto target = [&](const TileField& field) {
        return field.in_place ? now(buffer(field.buffer)) : next(buffer(field.buffer));
    };
    const auto condition = [&](const TileField& field) {
        return field.in_place ? fmt::format("if {} ", written_test(field.buffer)) : "";
    };
    const auto store_one = [&](const TileField& field, int depth) {
        body_.line("{}{}[at] = {}[p];", condition(field), target(field), plane(field.buffer, depth));
    };
    for (const auto& [depth, fields] : together) {
        body_.add("{");
        body_.line("const int first_z = m - {};", depth);
        body_.add("if (first_z >= kept_start && first_z < kept_end) {");
        body_.add("const int z = first_z;");
        open_pairs();
        body_.line("if (is_kept(0, j, 0) && (!rim || ({} && {}))) {{", has(0, "first_x"),
                   has(1, "first_y + j"));
        const bool odd = extent_[0] % 2 != 0;
        if (odd) body_.line("if (!rim || first_x + 1 < {}) {{", extent_[0]);
        for (const auto* field : fields)
            body_.line("{0}store_pair({1} + at, {2}[p], {2}[p + 1]);", condition(*field), target(*field),
                       plane(field->buffer, depth));
        if (odd) {
            body_.add("} else {");
            for (const auto* field : fields) store_one(*field, depth);
            body_.add("}");
        }
        body_.add("}");
        body_.add("}");
        if (!pairs_everywhere()) {
            body_.add("} else {");
            open_patch(body_, true);
            body_.line("if (is_kept(i, j, k) && {} && {}) {{", has(0, "first_x + i"), has(1, "first_y + j"));
            for (const auto* field : fields) store_one(*field, depth);
            body_.add("}");
            body_.add("}");
            body_.add("}");
        }
        body_.add("}");
        body_.add("}");
    }
}

void StreamPrinter::print_march() {
    for (std::size_t s = 0; s < stream_.stages.size(); ++s) {
        const auto& stage = stream_.stages[s];
        const auto& k = kernel(static_cast<std::size_t>(stage.kernel));
        std::string due;
        if (stage.step > 0) due += fmt::format(" && steps > {}", stage.step);
        if (k.every > 1)
            due += fmt::format(" && static_cast<long long>(clocks[{}]) % {} == 0",
                               job_.plan.clock_row * stage.step + 1, k.every);
        body_.line("const bool runs_{} = (tile.some >> {} & 1u) != 0{};", s, stage.kernel, due);
    }
    body_.line("const int kept_start = tile.z + {};", shape_.low[2]);
    body_.line("const int kept_end = kept_start + {0} < {1} ? kept_start + {0} : {1};", shape_.kept[2],
               memory_.last[2]);
    body_.add("#pragma unroll 1");
    body_.line("for (int m = tile.z - 1; m < kept_end + {}; ++m) {{", stream_.last_final());
    print_shift();
    print_loading();
    if (!stream_.exchanges.empty())
        body_.line("unsigned char* const half = shared + {} + (m & 1) * {};", stream_.shared_front,
                   stream_.shared_half);
    for (std::size_t s = 0; s < stream_.stages.size(); ++s) {
        print_exchanges(static_cast<int>(s) - 1);
        print_stage(s);
    }
    print_storing();
    body_.add("}");
}

MemoryPass StreamPrinter::print() {
    Launch launch;
    launch.function = fmt::format("columns_{}", number_);
    launch.threads = shape_.threads;
    launch.shared_bytes = shape_.shared_bytes;
    const auto tiles = tiles_of(program_, shape_, job_.mask == Mask::none, true);
    for (const auto& tile : tiles)
        if (tile.plain != 0) whole_ |= tile.active_kernels;
    collect_parameters();
    print_layout();
    print_cells_of_kernels();
    print_march();
    const bool far = std::any_of(stream_.exchanges.begin(), stream_.exchanges.end(),
                                 [](const Exchange& e) { return e.mapped; });
    return finish(
        launch, tiles, far,
        fmt::format("{}: {} step{} a pass on columns of {} x {} cells, of which {} x {} are kept, over {} "
                    "planes and {} around them; a thread holds {} x {} cells of some planes.",
                    names(), shape_.steps, shape_.steps == 1 ? "" : "s", shape_.side[0], shape_.side[1],
                    shape_.kept[0], shape_.kept[1], shape_.kept[2], shape_.low[2] + shape_.high[2],
                    shape_.patch[0], shape_.patch[1]));
}

} // namespace

MemoryPass print_columns(const PrintJob& job, const StreamShape& shape, int number) {
    return StreamPrinter(job, shape, number).print();
}

} // namespace farfield::stencil::codegen::cuda
