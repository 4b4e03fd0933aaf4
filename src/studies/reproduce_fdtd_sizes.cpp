// farfield reproduce fdtd-sizes.
#include "base/text.h"
#include "studies/fdtd_seed.h"
#include "studies/fdtd_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace farfield {
namespace {

using stencil::Mask;

const FdtdSizeRow& best_of(const std::vector<FdtdSizeRow>& rows, std::size_t size) {
    const auto slower = [&](const FdtdSizeRow& a, const FdtdSizeRow& b) {
        const auto rate = [&](const FdtdSizeRow& row) { return row.mask ? row.at(size) : 0; };
        return rate(a) < rate(b);
    };
    return *std::max_element(rows.begin(), rows.end(), slower);
}

const FdtdSizeRow& multiplied_of(const std::vector<FdtdSizeRow>& rows) {
    return *std::find_if(rows.begin(), rows.end(),
                         [](const FdtdSizeRow& row) { return row.mask == Mask::multiply; });
}

class Sizes {
public:
    Sizes(Study& study, const ReproduceOptions& options) : study_(study), options_(options) {
        for (std::int64_t cells = 256; cells <= 8192; cells *= 2) {
            if (cells > std::max<std::int64_t>(options.most_points, 256)) continue;
            sizes_.push_back(cells);
            columns_.push_back(fmt::format("{}²", cells));
        }
    }

    /// @param tile steps a pass; 0: as the target chooses. @param hand_written whether that loop gets a row.
    std::vector<FdtdSizeRow> measure(const std::string& title, const FdtdTarget& at, int tile,
                                     bool hand_written) const {
        std::vector<FdtdSizeRow> rows;
        std::set<std::string> forms;
        for (const auto cells : sizes_) {
            const StencilRateMeter meter(microdisk_of(cells), options_.repeats);
            auto options = at.options;
            options.time_tile = tile;
            if (rows.empty()) {
                for (const auto& strategy : distinct_strategies(meter, at.name, options))
                    rows.push_back({strategy.names, strategy.mask, {}});
                if (hand_written) rows.push_back({hand_written_name(options_.threads), {}, {}});
            }
            for (auto& row : rows) {
                if (options_.progress)
                    options_.progress(fmt::format("{}, {}², {}", at.name, cells, row.names));
                if (!row.mask) {
                    row.rates.push_back(hand_written_rate(meter, cells, options_.threads, options_.repeats));
                    continue;
                }
                options.mask = *row.mask;
                row.rates.push_back(meter.measure(at.name, options));
                forms.insert(row.rates.back().description);
            }
        }
        RateTables tables(title, columns_);
        for (const auto& row : rows) {
            tables.row(row.names);
            for (const auto& rate : row.rates) tables.add(rate);
        }
        tables.deliver(study_);
        study_.notes.push_back(fmt::format("{}: {}.", title, joined(forms, "; ")));
        return rows;
    }

    void compare(const std::vector<FdtdSizeRow>& gpu, const std::vector<FdtdSizeRow>& cpu) const {
        compare_gpu_with_cpu(study_, columns_, gpu, cpu);
    }

    /// The strategies from fast to slow at the largest grid.
    void rank(const std::string& processor, std::vector<FdtdSizeRow> rows) const {
        std::erase_if(rows, [](const FdtdSizeRow& row) { return !row.mask; });
        const auto last = sizes_.size() - 1;
        std::sort(rows.begin(), rows.end(),
                  [&](const FdtdSizeRow& a, const FdtdSizeRow& b) { return a.at(last) > b.at(last); });
        std::vector<std::string> words;
        words.reserve(rows.size());
        for (const auto& row : rows)
            words.push_back(fmt::format("{} {:.4g}", row.names, 1e-9 * row.at(last)));
        study_.notes.push_back(fmt::format(
            "From fast to slow at {} on the {}, a step a pass, 1e9 cell-steps/s: {}. The paper's order is "
            "conditional mask (branch), multiplied mask (multiply), no mask (none).",
            columns_[last], processor, joined(words, ", ")));
    }

private:
    Study& study_;
    const ReproduceOptions& options_;
    std::vector<std::int64_t> sizes_;
    std::vector<std::string> columns_;
};

} // namespace

void compare_gpu_with_cpu(Study& study, const std::vector<std::string>& sizes,
                          const std::vector<FdtdSizeRow>& gpu, const std::vector<FdtdSizeRow>& cpu) {
    const auto first = sizes.size() - std::min<std::size_t>(2, sizes.size());
    StudyTable table{"One GPU over this CPU, the two largest grids", {}, {}};
    StudyRow paper{"the paper: a multiplied mask over OpenMP on up to 8 cores", "Chapter IV", {}};
    StudyRow ours{"multiply over the hand-written loop", {}, {}};
    StudyRow best_ours{"the GPU's best strategy over the hand-written loop", {}, {}};
    StudyRow by_target{"multiply over the CPU's best strategy", {}, {}};
    StudyRow best_by_target{"the GPU's best strategy over the CPU's best", {}, {}};
    for (auto size = first; size < sizes.size(); ++size) {
        table.columns.push_back(sizes[size]);
        const auto& best_gpu = best_of(gpu, size);
        const auto& best_cpu = best_of(cpu, size);
        const auto& loop = cpu.back();
        const double multiplied = multiplied_of(gpu).at(size);
        paper.values.push_back(StudyValue::given(seeds::fdtd_gpu_over_cpu));
        ours.values.push_back(StudyValue::of(multiplied / loop.at(size)));
        best_ours.values.push_back(StudyValue::of(best_gpu.at(size) / loop.at(size)));
        by_target.values.push_back(StudyValue::of(multiplied / best_cpu.at(size)));
        best_by_target.values.push_back(StudyValue::of(best_gpu.at(size) / best_cpu.at(size)));
        study.notes.push_back(fmt::format("Best at {}, a step a pass: GPU {}, CPU {}.", sizes[size],
                                          best_gpu.names, best_cpu.names));
    }
    table.rows = {paper, ours, best_ours, by_target, best_by_target};
    study.tables.push_back(std::move(table));
}

Study reproduce_fdtd_sizes(const ReproduceOptions& options) {
    const auto device = study_device(options.device);
    auto study =
        begin_study("fdtd-sizes", "Grid sizes and masks of the stencil paper's microdisk", options, device);
    study.about = fdtd_rates_explained;
    const Sizes sizes(study, options);
    const auto cpu_name = fmt::format("CPU, {} thread{}", study.threads, study.threads == 1 ? "" : "s");
    const auto processor = device.gpu ? std::string("GPU") : cpu_name;
    auto at = fdtd_target(device, options);
    auto apart = at;
    if (device.gpu) apart.options.fuse = false; // as in the paper, a kernel an update
    const auto plain = sizes.measure(processor + ", a step a pass", apart, 1, !device.gpu);
    sizes.rank(device.gpu ? "GPU" : "CPU", plain);
    sizes.measure(processor + ", steps a pass as the target chooses", at, 0, false);
    if (device.gpu) {
        at.name = "cpu";
        sizes.compare(plain, sizes.measure(cpu_name + ", a step a pass", at, 1, true));
    }
    study.notes.push_back(fmt::format(
        "The paper, {}: up to {:.0f}e6 stencils/s without mask; a multiplied mask gains up to {:.0f}e6; a "
        "conditional one about {:.0f}e6 more above 4096²; {}× one CPU at its two largest grids. Names in one "
        "row run the same code.",
        seeds::fdtd_gpus, seeds::fdtd_without_mask, seeds::fdtd_multiplied_gain, seeds::fdtd_conditional_gain,
        seeds::fdtd_gpu_over_cpu));
    return study;
}

} // namespace farfield
