// farfield reproduce fdtd-blocks and fdtd-sizes.
#include "stencil/run/rate.h"
#include "studies/fdtd_seed.h"
#include "studies/reproduce.h"
#include "studies/stencil_examples.h"
#include "studies/study_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace farfield {
namespace {

using stencil::Mask;

constexpr std::array masks{std::pair(Mask::none, "none"), std::pair(Mask::multiply, "multiply"),
                           std::pair(Mask::branch, "branch"), std::pair(Mask::spans, "spans")};
constexpr const char* rates_explained =
    "2D TE, double, with the energy sum. A cell-step is one cell of the whole grid in one step; a stencil is "
    "one equation at one cell where it applies: four equations, two of them in the disk alone. The paper "
    "does not say which of the two it counts. Lines with > were measured here.";

// The seed's microdisk; the radius is its share of the grid in the example.
StencilProgram microdisk(std::int64_t cells) {
    return StencilProgram::from_text(stencil_example("microdisk"),
                                     {{"cells", cells}, {"radius", 0.4 * static_cast<double>(cells)}},
                                     "microdisk");
}

struct TargetOptions {
    std::string target;
    stencil::ExecutorOptions options;
};

TargetOptions options_of(const StudyDevice& device, const ReproduceOptions& options) {
    TargetOptions out{device.gpu ? "cuda" : "cpu", {}};
    out.options.threads = options.threads;
    out.options.device = device.gpu.value_or(0);
    return out;
}

StudyValue giga(double rate) { return StudyValue::of(1e-9 * rate); }

// A table of rates for each pair (row, column); both ways of counting, one below the other.
class RateTables {
public:
    RateTables(const std::string& title, std::vector<std::string> columns)
        : cell_steps_{title + ", 1e9 cell-steps/s", columns, {}}, stencils_{title + ", 1e9 stencils/s",
                                                                            std::move(columns),
                                                                            {}} {}
    void row(const std::string& what) {
        cell_steps_.rows.push_back({what, {}, {}});
        stencils_.rows.push_back({what, {}, {}});
    }
    void add(const StencilRate& rate) {
        cell_steps_.rows.back().values.push_back(giga(rate.cell_steps_per_second));
        stencils_.rows.back().values.push_back(giga(rate.stencils_per_second));
    }
    void skip() {
        cell_steps_.rows.back().values.push_back(StudyValue::none("-"));
        stencils_.rows.back().values.push_back(StudyValue::none("-"));
    }
    void deliver(Study& study) {
        study.tables.push_back(std::move(cell_steps_));
        study.tables.push_back(std::move(stencils_));
    }

private:
    StudyTable cell_steps_, stencils_;
};

void tell(const ReproduceOptions& options, const std::string& what) {
    if (options.progress) options.progress(what);
}

// Threads of a block along x and y, at most 1024 of them; a step a pass, as in the paper.
void gpu_blocks(Study& study, const StencilRateMeter& meter, TargetOptions at,
                const ReproduceOptions& options) {
    std::vector<std::string> columns;
    for (int x = 1; x <= 1024; x *= 2) columns.push_back(fmt::format("x {}", x));
    RateTables tables("Blocks of threads, multiplied mask, a step a pass", columns);
    std::map<std::pair<int, int>, StencilRate> measured;
    at.options.mask = Mask::multiply; // the paper's choice for its figures
    at.options.time_tile = 1;
    for (int y = 1; y <= 1024; y *= 2) {
        tables.row(fmt::format("y {}", y));
        for (int x = 1; x <= 1024; x *= 2) {
            if (x * y > 1024) {
                tables.skip();
                continue;
            }
            tell(options, fmt::format("block {}x{}", x, y));
            at.options.block = {x, y, 1};
            const auto rate = meter.measure(at.target, at.options);
            measured[{x, y}] = rate;
            tables.add(rate);
        }
    }
    StudyTable beside{
        "Beside the paper's Figure 3, 1e9/s", {"paper, stencils", "here, stencils", "here, cell-steps"}, {}};
    auto best = measured.begin();
    for (auto one = measured.begin(); one != measured.end(); ++one)
        if (one->second.cell_steps_per_second > best->second.cell_steps_per_second) best = one;
    const auto add = [&](const std::string& what, const seeds::FdtdBlock& block) {
        const auto& rate = measured.at({block.x, block.y});
        beside.rows.push_back(
            {what,
             "Figure 3",
             {block.giga_stencils > 0 ? StudyValue::of(block.giga_stencils) : StudyValue::none("-"),
              giga(rate.stencils_per_second), giga(rate.cell_steps_per_second)}});
    };
    for (const auto& block : seeds::fdtd_blocks) add(fmt::format("{}×{}", block.x, block.y), block);
    add("32×16, the paper's best", seeds::fdtd_best_block);
    beside.rows.push_back({fmt::format("{}×{}, the best here", best->first.first, best->first.second),
                           {},
                           {StudyValue::none("-"), giga(best->second.stencils_per_second),
                            giga(best->second.cell_steps_per_second)}});
    study.tables.push_back(std::move(beside));
    tables.deliver(study);
}

// A CPU has no blocks of threads; what shapes its loops is the number of steps a pass and the mask.
void cpu_tiles(Study& study, const StencilRateMeter& meter, TargetOptions at,
               const ReproduceOptions& options) {
    const std::array tiles{1, 2, 4, 8, 16, 32};
    std::vector<std::string> columns;
    columns.reserve(tiles.size());
    for (const int tile : tiles) columns.push_back(fmt::format("{} step{}", tile, tile == 1 ? "" : "s"));
    RateTables tables("Steps a pass over memory", columns);
    for (const auto& [mask, name] : masks) {
        tables.row(name);
        for (const int tile : tiles) {
            tell(options, fmt::format("mask {}, {} steps a pass", name, tile));
            at.options.mask = mask;
            at.options.time_tile = tile;
            tables.add(meter.measure(at.target, at.options));
        }
    }
    tables.deliver(study);
    study.notes.emplace_back("The paper's Figure 3 has 0.84e9 stencils/s for blocks of 2×32 threads, 1.62e9 "
                             "for 32×2, and its best for 32×16. A CPU has no such blocks: this ran the cpu "
                             "target, with tiles in time and the four mask strategies.");
}

} // namespace

Study reproduce_fdtd_blocks(const ReproduceOptions& options) {
    const auto device = study_device(options.device);
    auto study =
        begin_study("fdtd-blocks", "Blocks and tiles of the stencil paper's microdisk", options, device);
    study.about = rates_explained;
    const auto cells = std::clamp<std::int64_t>(options.most_points, 128, seeds::fdtd_blocks_cells);
    const StencilRateMeter meter(microdisk(cells), options.repeats);
    study.notes.push_back(fmt::format("Grid {}×{}; {:.0f} stencils a step.", cells, cells, meter.stencils()));
    if (device.gpu)
        gpu_blocks(study, meter, options_of(device, options), options);
    else
        cpu_tiles(study, meter, options_of(device, options), options);
    return study;
}

Study reproduce_fdtd_sizes(const ReproduceOptions& options) {
    const auto device = study_device(options.device);
    auto study =
        begin_study("fdtd-sizes", "Grid sizes and masks of the stencil paper's microdisk", options, device);
    study.about = rates_explained;
    std::vector<std::int64_t> sizes;
    std::vector<std::string> columns;
    for (std::int64_t cells = 256; cells <= 8192; cells *= 2) {
        if (cells > std::max<std::int64_t>(options.most_points, 256)) continue;
        sizes.push_back(cells);
        columns.push_back(fmt::format("{}²", cells));
    }
    const auto at = options_of(device, options);
    const auto rates_of = [&](const std::string& title, int tile, const std::string& target) {
        std::vector<std::vector<StencilRate>> rates(masks.size());
        for (const auto cells : sizes) {
            const StencilRateMeter meter(microdisk(cells), options.repeats);
            for (std::size_t i = 0; i < masks.size(); ++i) {
                tell(options, fmt::format("{}, {}², mask {}", target, cells, masks[i].second));
                auto chosen = at.options;
                chosen.mask = masks[i].first;
                chosen.time_tile = tile;
                rates[i].push_back(meter.measure(target, chosen));
            }
        }
        RateTables tables(title, columns);
        for (std::size_t i = 0; i < masks.size(); ++i) {
            tables.row(masks[i].second);
            for (const auto& rate : rates[i]) tables.add(rate);
        }
        tables.deliver(study);
        return rates;
    };
    const auto cpu_name = fmt::format("CPU, {} thread{}", study.threads, study.threads == 1 ? "" : "s");
    const std::string processor = device.gpu ? "GPU" : cpu_name;
    const auto plain = rates_of(processor + ", a step a pass", 1, at.target);
    rates_of(processor + ", steps a pass as the target chooses", 0, at.target);
    if (device.gpu) {
        const auto cpu = rates_of(cpu_name + ", a step a pass", 1, "cpu");
        study.notes.push_back(fmt::format(
            "One GPU over this CPU at {}², mask multiply: {:.1f}; the paper has {} for its two largest "
            "grids.",
            sizes.back(), plain[1].back().cell_steps_per_second / cpu[1].back().cell_steps_per_second,
            seeds::fdtd_gpu_over_cpu));
    }
    study.notes.push_back(fmt::format(
        "The paper, {}: {:.0f}e6 stencils/s without mask; a multiplied mask gains up to {:.0f}e6; a "
        "conditional one about {:.0f}e6 more above 4096²; {}× one CPU. Its multiplied mask is an operand of "
        "the arithmetic; here it chooses between the old and the new value, so that all strategies give "
        "the same bits.",
        seeds::fdtd_gpus, seeds::fdtd_without_mask, seeds::fdtd_multiplied_gain, seeds::fdtd_conditional_gain,
        seeds::fdtd_gpu_over_cpu));
    return study;
}

} // namespace farfield
