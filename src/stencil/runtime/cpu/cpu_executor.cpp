// The target `cpu`: passes of several steps over memory.
#include "stencil/runtime/cpu/cpu_executor.h"

#include "backend/jit/system_compiler.h"
#include "backend/threads/parallel.h"
#include "stencil/runtime/cpu/record_results.h"
#include "stencil/runtime/initial_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <unistd.h>

namespace farfield::stencil::cpu {
namespace {

constexpr int most_steps_a_pass = 16;
constexpr int most_slabs_a_stride = 8;
constexpr int slabs_beside = 3;                     // of a stride, that its entries look at or leave behind
constexpr std::int64_t least_cells_a_thread = 4096; // of all kernels, in a step

std::string mask_name(Mask mask) {
    switch (mask) {
    case Mask::none:
        return "none";
    case Mask::select:
        return "select";
    case Mask::multiply:
        return "multiply";
    case Mask::branch:
        return "branch";
    default:
        return "spans";
    }
}

bool spans_alone(const ir::Program& program, Mask mask) {
    if (mask != Mask::automatic) return mask == Mask::spans;
    return std::none_of(program.kernels.begin(), program.kernels.end(), [&](const ir::Kernel& kernel) {
        return codegen::mask_for(mask, kernel) != Mask::spans;
    });
}

// "spans and branch" where some kernels have the one and some the other.
std::string mask_names(const ir::Program& program, Mask mask) {
    if (mask != Mask::automatic || spans_alone(program, mask)) return mask_name(mask);
    const bool all =
        std::none_of(program.kernels.begin(), program.kernels.end(), [&](const ir::Kernel& kernel) {
            return codegen::mask_for(mask, kernel) == Mask::spans;
        });
    return all ? "branch" : "spans and branch";
}

std::int64_t first_level() {
#ifdef _SC_LEVEL1_DCACHE_SIZE
    if (const auto bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0) return bytes;
#endif
    return std::int64_t{1} << 15;
}

std::int64_t second_level() {
#ifdef _SC_LEVEL2_CACHE_SIZE
    if (const auto bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) return bytes;
#endif
    return std::int64_t{1} << 20;
}

// Bytes of the caches that a thread may fill: its second level, and a part of the last one that leaves room
// for what streams through it.
std::int64_t cache_of_a_thread([[maybe_unused]] int threads) {
    auto bytes = second_level();
#ifdef _SC_LEVEL3_CACHE_SIZE
    if (const auto third = sysconf(_SC_LEVEL3_CACHE_SIZE); third > 0) bytes += third / (4L * threads);
#endif
    return bytes;
}

} // namespace

CpuExecutor::CpuExecutor(std::shared_ptr<const ir::Program> program, const ExecutorOptions& options)
    : Executor(std::move(program)), options_(options), mask_(options.mask),
      threads_(thread_count(options.threads)),
      storage_(*program_, threads_,
               spans_alone(*program_, mask_) ? extents_of(*program_) : std::vector<Extents>{}),
      uniforms_(*program_), current_(program_->buffers.size(), 0), instances_(program_->grids.size()),
      pairs_(program_->grids.size()), joins_now_(program_->grids.size()) {
    compile();
    for (int b = 0; b < static_cast<int>(program_->buffers.size()); ++b)
        for (int copy = 0; copy < program_->buffers[b].copies; ++copy)
            initial_values(
                *program_, b,
                [&](std::int64_t row, std::int64_t first, std::span<const double> values) {
                    storage_.write_row(b, copy, row, first, values);
                },
                threads_);
    // Threads meet twice a pass, which a small grid is not worth unless it is asked for.
    std::int64_t cells = 0;
    for (const auto& costs : costs_)
        for (const auto cost : costs) cells += cost;
    team_ = options_.threads > 0
                ? threads_
                : static_cast<int>(std::clamp<std::int64_t>(cells / least_cells_a_thread, 1, threads_));
    tile_ = choose_tile();
    stride_ = choose_stride();
    preparation_.description = fmt::format(
        "cpu, {}, {}, {} {}, {} {} a pass", preparation_.description, mask_names(*program_, mask_), team_,
        team_ == 1 ? "thread" : "threads", tile_, tile_ == 1 ? "step" : "steps");
}

void CpuExecutor::compile() {
    const auto start = std::chrono::steady_clock::now();
    if (options_.fuse) joins_ = find_joins(*program_);
    // A joined kernel passes the new value on, not its product with the mask.
    if (mask_ == Mask::multiply)
        std::erase_if(joins_, [](const Join& join) { return !join.kernel.cells->is_box(); });
    auto printed = without_values(*program_);
    for (const auto& join : joins_) printed.kernels.push_back(join.kernel);
    const auto source = codegen::print_row_functions(printed, mask_);
    const auto compiled = jit::compile_shared_object(source.text);
    code_ = compiled.object;
    preparation_.load_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() - compiled.seconds;
    for (std::size_t k = 0; k < program_->kernels.size(); ++k)
        kernels_.emplace_back(*program_, program_->kernels[k], source.kernels[k], mask_, *code_);
    for (std::size_t j = 0; j < joins_.size(); ++j)
        joined_.emplace_back(*program_, joins_[j].kernel, source.kernels[program_->kernels.size() + j], mask_,
                             *code_);
    for (std::size_t r = 0; r < program_->records.size(); ++r)
        records_.emplace_back(*program_, program_->records[r], source.records[r], mask_, *code_);
    for (const auto& grid : program_->grids)
        costs_.emplace_back(static_cast<std::size_t>(grid.rank == 1 ? 1 : grid.shape[grid.rank - 1]), 1);
    for (const auto& kernel : kernels_) kernel.add_cells(costs_[kernel.grid()]);
    preparation_.compile_seconds = compiled.seconds;
    preparation_.cached = compiled.cached;
    preparation_.description = compiled.compiler + (compiled.note.empty() ? "" : " (" + compiled.note + ")");
}

// Of all buffers.
std::int64_t CpuExecutor::slab_bytes() const {
    std::vector<bool> touched(program_->buffers.size(), false);
    for (const auto& kernel : kernels_) kernel.add_buffers(touched);
    std::int64_t bytes = 1;
    for (std::size_t b = 0; b < touched.size(); ++b)
        if (touched[b]) bytes += storage_.slab_bytes(static_cast<int>(b));
    return bytes;
}

// As many steps as keep the slabs between the first and the last of them in the cache.
int CpuExecutor::choose_tile() const {
    if (!options_.fuse) return 1;
    if (options_.time_tile > 0) return options_.time_tile;
    auto most = std::min<std::int64_t>(cache_of_a_thread(team_) / slab_bytes() - 2, most_steps_a_pass);
    // Seams, about as high as there are steps, must stay a small part of the blocks.
    const std::int64_t part = team_ == 1 ? 8 : 32 * team_;
    for (const auto& costs : costs_)
        if (costs.size() > 1) most = std::min(most, static_cast<std::int64_t>(costs.size()) / part);
    return static_cast<int>(std::max<std::int64_t>(most, 1));
}

// With a stride of several slabs most of what an entry reads was left in a nearer cache by the one before it,
// where the slabs of all steps do not fit that cache but those of a step do.
int CpuExecutor::choose_stride() const {
    const auto slab = slab_bytes();
    for (const auto cache : {first_level(), second_level()}) {
        if ((tile_ + slabs_beside) * slab <= cache) return 1;
        const auto fitting = cache / slab - slabs_beside;
        if (fitting >= 2) return static_cast<int>(std::min<std::int64_t>(fitting, most_slabs_a_stride));
    }
    return 1;
}

void CpuExecutor::advance(std::int64_t count) {
    while (count > 0) {
        const auto steps = std::min<std::int64_t>(count, tile_);
        pass(steps);
        count -= steps;
    }
}

void CpuExecutor::pass(std::int64_t steps) {
    for (auto& list : instances_) list.clear();
    for (auto& list : pairs_) list.clear();
    for (auto& list : joins_now_) list.clear();
    due_.clear();
    std::vector<std::vector<Entry>> entries(program_->grids.size());
    uniform_values_.resize(static_cast<std::size_t>(steps + 1) * program_->uniforms.size());
    for (std::int64_t index = 0; index < steps; ++index) add_step(index, entries);
    for (std::size_t grid = 0; grid < entries.size(); ++grid) run_grid(grid, entries[grid]);
    for (const auto& due : due_) {
        const auto per_row = records_[due.record].out_per_row();
        const auto& rows = results_[due.results];
        if (record_sink_)
            record_sink_(due.record, per_row, rows);
        else
            series_[due.record].push_back(
                reduce_rows(program_->records[due.record], per_row, rows, threads_));
    }
    step_ += steps;
}

void CpuExecutor::add_step(std::int64_t index, std::vector<std::vector<Entry>>& entries) {
    const auto step = step_ + index;
    double* uniforms = uniform_values_.data() + index * static_cast<std::int64_t>(program_->uniforms.size());
    const auto values = uniforms_.at(step);
    std::copy(values.begin(), values.end(), uniforms);
    std::vector<std::size_t> places(kernels_.size()); // of the kernels among the instances of their grid
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
        places[k] = instances_[kernels_[k].grid()].size();
        if (step % program_->kernels[k].every != 0) continue;
        if (!kernels_[k].empty()) add_instance(kernels_[k], step, uniforms, nullptr, entries);
        kernels_[k].swap(current_);
    }
    for (std::size_t j = 0; j < joins_.size(); ++j) {
        const auto& list = instances_[joined_[j].grid()];
        const auto first = places[joins_[j].first];
        if (first < list.size() && list[first].task == &kernels_[joins_[j].first])
            add_pair(j, first, places[joins_[j].second], list[first]);
    }
    for (std::size_t r = 0; r < records_.size(); ++r) {
        const auto& record = program_->records[r];
        if ((step + 1) % record.every != 0) continue;
        if (due_.size() == results_.size()) results_.emplace_back();
        auto& results = results_[due_.size()];
        results.assign(static_cast<std::size_t>(record.cells->rows() * records_[r].out_per_row()), 0.0);
        due_.push_back({static_cast<int>(r), due_.size()});
        if (!records_[r].empty()) add_instance(records_[r], step, uniforms, results.data(), entries);
    }
}

void CpuExecutor::add_instance(const SlabTask& task, std::int64_t step, const double* uniforms, double* out,
                               std::vector<std::vector<Entry>>& entries) {
    auto& instance = instances_[task.grid()].emplace_back();
    instance.task = &task;
    instance.out = out;
    instance.call.uniforms = uniforms;
    instance.call.step = step;
    instance.call.t = static_cast<double>(step) * program_->dt;
    instance.memory = task.locate(storage_, current_);
    entries[task.grid()].push_back(task.entry(current_));
}

// Neither kernel nor those between change copies, so the copies are those of the moment.
void CpuExecutor::add_pair(std::size_t join, std::size_t first, std::size_t second, const Instance& like) {
    auto& pair = pairs_[joined_[join].grid()].emplace_back();
    pair.first = first;
    pair.second = second;
    for (auto i = first + 1; i < second; ++i) {
        const auto& cells = instances_[joined_[join].grid()][i].task->slabs();
        pair.apart = i == first + 1 ? cells
                                    : IndexRange{std::min(pair.apart.first, cells.first),
                                                 std::max(pair.apart.last, cells.last)};
    }
    auto& joined = joins_now_[joined_[join].grid()].emplace_back();
    joined.task = &joined_[join];
    joined.call = like.call;
    joined.memory = joined_[join].locate(storage_, current_);
}

void CpuExecutor::run_grid(std::size_t grid, const std::vector<Entry>& entries) {
    if (entries.empty()) return;
    const auto* front = options_.fuse ? &schedule(grid, entries) : nullptr;
    if (front != nullptr && *front)
        run_front(grid, **front);
    else
        run_in_turn(grid, entries);
}

void CpuExecutor::run_front(std::size_t grid, const Wavefront& front) {
    auto& items = instances_[grid];
    std::move(joins_now_[grid].begin(), joins_now_[grid].end(), std::back_inserter(items));
    const int given = options_.block[std::max(program_->grids[grid].rank - 1, 0)];
    front.run(given > 0 ? given : stride_,
              [list = items.data()](int item, std::int64_t first, std::int64_t last) {
                  list[item].run(first, last);
              });
}

// One after the other, the slabs of each shared out.
void CpuExecutor::run_in_turn(std::size_t grid, const std::vector<Entry>& entries) {
    const auto& instances = instances_[grid];
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto first = entries[i].first_slab;
        const auto count = entries[i].last_slab - first;
        const auto pieces = std::min<std::int64_t>(count, 4 * std::int64_t{threads_});
        parallel_for(threads_, pieces, [&](std::int64_t piece) {
            const auto& instance = instances[i];
            instance.run(first + count * piece / pieces, first + count * (piece + 1) / pieces);
        });
    }
}

const std::optional<Wavefront>& CpuExecutor::schedule(std::size_t grid, const std::vector<Entry>& entries) {
    std::vector<int> key{static_cast<int>(grid)};
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const auto* task = instances_[grid][i].task;
        const bool record = instances_[grid][i].out != nullptr;
        key.push_back(
            static_cast<int>(record ? task - records_.data() + static_cast<std::ptrdiff_t>(kernels_.size())
                                    : task - kernels_.data()));
        for (const auto& touch : entries[i].touches) key.push_back(touch.memory);
    }
    auto found = schedules_.find(key);
    if (found == schedules_.end()) {
        found =
            schedules_.emplace(std::move(key), Wavefront::plan(entries, pairs_[grid], costs_[grid], team_))
                .first;
    }
    return found->second;
}

void CpuExecutor::read(int buffer, std::span<double> values) {
    storage_.read(buffer, current_[buffer], values);
}

void CpuExecutor::write(int buffer, std::span<const double> values) {
    for (int copy = 0; copy < program_->buffers[buffer].copies; ++copy) storage_.write(buffer, copy, values);
}

void CpuExecutor::read_cells(int buffer, const ir::CellBox& cells, std::span<std::byte> values) {
    storage_.read_cells(buffer, current_[buffer], cells, values);
}

void CpuExecutor::write_cells(int buffer, const ir::CellBox& cells, std::span<const std::byte> values,
                              bool all_copies) {
    for (int copy = 0; copy < program_->buffers[buffer].copies; ++copy)
        if (all_copies || copy == current_[buffer]) storage_.write_cells(buffer, copy, cells, values);
}

} // namespace farfield::stencil::cpu
