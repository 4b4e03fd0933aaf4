// farfield reproduce fdtd-blocks.
#include "base/text.h"
#include "studies/fdtd_seed.h"
#include "studies/fdtd_study.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using stencil::Mask;

constexpr int most_threads_of_a_block = 1024;
constexpr int least_repeats = 5; // neighbours in the grid of blocks differ by a few percent

// All powers of two up to the most where none were asked for.
std::vector<int> sides(const std::vector<int>& asked, std::string_view axis) {
    std::vector<int> out = asked;
    if (out.empty())
        for (int side = 1; side <= most_threads_of_a_block; side *= 2) out.push_back(side);
    for (const int side : out)
        if (side < 1 || side > most_threads_of_a_block)
            throw InvalidArgument(fmt::format("a block with a side of {} threads along {} is not allowed: it "
                                              "must be 1 to {}",
                                              side, axis, most_threads_of_a_block));
    return out;
}

using MeasuredForms = std::map<std::pair<int, int>, StencilRate>;

// Blocks that the paper tells of, as far as they were measured, and the best.
StudyTable beside_the_paper(const MeasuredForms& measured, const StencilRate& hand_written,
                            const std::string& hand_written_as) {
    StudyTable table{
        "Beside the paper's Figure 3, 1e9/s", {"paper, stencils", "here, stencils", "here, cell-steps"}, {}};
    const auto add = [&](const std::string& what, double paper, const StencilRate& rate) {
        table.rows.push_back({what,
                              paper > 0 ? "Figure 3" : "",
                              {paper > 0 ? StudyValue::given(paper) : StudyValue::none("-"),
                               giga(rate.stencils_per_second), giga(rate.cell_steps_per_second)}});
    };
    for (const auto& block : seeds::fdtd_blocks)
        if (const auto found = measured.find({block.x, block.y}); found != measured.end())
            add(fmt::format("{}×{}", block.x, block.y), block.giga_stencils, found->second);
    const auto& best_there = seeds::fdtd_best_block;
    if (const auto found = measured.find({best_there.x, best_there.y}); found != measured.end())
        add(fmt::format("{}×{}, the paper's best", best_there.x, best_there.y), 0, found->second);
    const auto best = std::max_element(measured.begin(), measured.end(), [](const auto& a, const auto& b) {
        return a.second.cell_steps_per_second < b.second.cell_steps_per_second;
    });
    add(fmt::format("{}×{}, the best here", best->first.first, best->first.second), 0, best->second);
    const auto worst = std::min_element(measured.begin(), measured.end(), [](const auto& a, const auto& b) {
        return a.second.cell_steps_per_second < b.second.cell_steps_per_second;
    });
    add(fmt::format("{}×{}, the worst here", worst->first.first, worst->first.second), 0, worst->second);
    add(hand_written_as, 0, hand_written);
    return table;
}

// Threads of a block along x and y, at most 1024 of them; a thread a cell and a step a pass, as in the paper.
void gpu_blocks(Study& study, const StencilRateMeter& meter, FdtdTarget at, const ReproduceOptions& options,
                const StencilRate& hand_written) {
    const auto along_x = sides(options.block_x, "x");
    const auto along_y = sides(options.block_y, "y");
    std::vector<std::string> columns;
    columns.reserve(along_x.size());
    for (const int x : along_x) columns.push_back(fmt::format("x {}", x));
    RateTables tables("Blocks of threads, mask multiply, a step a pass", columns);
    MeasuredForms measured;
    std::set<std::string> forms;
    at.options.mask = Mask::multiply; // the paper's choice for its figures
    at.options.time_tile = 1;
    at.options.fuse = false;
    for (const int y : along_y) {
        tables.row(fmt::format("y {}", y));
        for (const int x : along_x) {
            if (x * y > most_threads_of_a_block) {
                tables.skip();
                continue;
            }
            if (options.progress) options.progress(fmt::format("block {}x{}", x, y));
            at.options.block = {x, y, 1};
            const auto rate = meter.measure(at.name, at.options);
            measured[{x, y}] = rate;
            forms.insert(rate.description);
            tables.add(rate);
        }
    }
    if (measured.empty())
        throw InvalidArgument(fmt::format("every one of these blocks has more than {} threads; take shorter "
                                          "sides",
                                          most_threads_of_a_block));
    study.notes.push_back(fmt::format("Form: {}.", joined(forms, "; ")));
    study.tables.push_back(beside_the_paper(measured, hand_written, hand_written_name(options.threads)));
    tables.deliver(study);
    study.notes.emplace_back("The paper names 2×32 as an example of a slow block, 32×2 beside it, and 32×16 "
                             "as the fastest of all.");
}

// A CPU has no blocks of threads; what shapes its loops is the number of steps a pass and the mask.
void cpu_tiles(Study& study, const StencilRateMeter& meter, FdtdTarget at, const ReproduceOptions& options,
               const StencilRate& hand_written) {
    const std::array tiles{1, 2, 4, 8, 16, 32};
    std::vector<std::string> columns;
    columns.reserve(tiles.size());
    for (const int tile : tiles) columns.push_back(fmt::format("{} step{}", tile, tile == 1 ? "" : "s"));
    RateTables tables("Steps a pass over memory", columns);
    for (const auto& strategy : distinct_strategies(meter, at.name, at.options)) {
        tables.row(strategy.names);
        for (const int tile : tiles) {
            if (options.progress)
                options.progress(fmt::format("mask {}, {} steps a pass", strategy.names, tile));
            at.options.mask = strategy.mask;
            at.options.time_tile = tile;
            tables.add(meter.measure(at.name, at.options));
        }
    }
    tables.deliver(study);
    study.tables.push_back(
        {"Beside them, 1e9/s",
         {"stencils", "cell-steps"},
         {{hand_written_name(options.threads),
           {},
           {giga(hand_written.stencils_per_second), giga(hand_written.cell_steps_per_second)}}}});
    study.notes.emplace_back(
        "The paper's Figure 3 has, for example, 0.84e9 stencils/s for blocks of 2×32 threads and 1.62e9 for "
        "32×2; its best is 32×16. A CPU has no such blocks: this ran the cpu target, with tiles in time and "
        "all mask strategies.");
}

} // namespace

Study reproduce_fdtd_blocks(const ReproduceOptions& given) {
    auto options = given;
    const auto device = study_device(options.device);
    if (!device.gpu && !(options.block_x.empty() && options.block_y.empty()))
        throw InvalidArgument("blocks of threads are a GPU's, and none is measured: " + device.why +
                              "; leave the sides of blocks out");
    if (options.repeats >= 1) options.repeats = std::max(options.repeats, least_repeats);
    auto study =
        begin_study("fdtd-blocks", "Blocks and tiles of the stencil paper's microdisk", options, device);
    study.about = fdtd_rates_explained;
    const auto cells = std::clamp<std::int64_t>(options.most_points, 256, seeds::fdtd_blocks_cells);
    const double seconds = cells < seeds::fdtd_blocks_cells ? 0.04 : 0.2; // a quick look, or the paper's size
    const StencilRateMeter meter(microdisk_of(cells), options.repeats, seconds);
    study.notes.push_back(fmt::format("Grid {}×{}; {:.0f} stencils a step.", cells, cells, meter.stencils()));
    if (options.progress) options.progress("the hand-written loop");
    const auto hand_written = hand_written_rate(meter, cells, options.threads, options.repeats);
    const auto at = fdtd_target(device, options);
    if (device.gpu)
        gpu_blocks(study, meter, at, options, hand_written);
    else
        cpu_tiles(study, meter, at, options, hand_written);
    return study;
}

} // namespace farfield
