// The target `cpu`: row functions compiled at run time, several kernels and steps a pass over memory.
#pragma once

#include "stencil/runtime/cpu/joins.h"
#include "stencil/runtime/cpu/slab_task.h"
#include "stencil/runtime/cpu/storage.h"
#include "stencil/runtime/executor.h"
#include "stencil/runtime/uniforms.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace farfield::stencil::cpu {

class CpuExecutor : public Executor {
public:
    /// @throws jit::CompilerMissing, jit::CompilerFailed, IoError.
    CpuExecutor(std::shared_ptr<const ir::Program> program, const ExecutorOptions& options);

    const Preparation& preparation() const override { return preparation_; }
    void advance(std::int64_t count) override;
    void read(int buffer, std::span<double> values) override;
    void write(int buffer, std::span<const double> values) override;
    void read_cells(int buffer, const ir::CellBox& cells, std::span<std::byte> values) override;
    void write_cells(int buffer, const ir::CellBox& cells, std::span<const std::byte> values,
                     bool all_copies) override;

private:
    /// A task in a step of a pass, with all that its rows need.
    struct Instance {
        const SlabTask* task = nullptr;
        codegen::RowCall call;
        double* out = nullptr;
        TaskMemory memory;
        void run(std::int64_t first, std::int64_t last) const { task->run(first, last, call, out, memory); }
    };
    /// A record that fell due in a pass.
    struct Due {
        int record = -1;
        std::size_t results = 0; ///< in results_
    };

    void compile();
    std::int64_t slab_bytes() const;
    int choose_tile() const;
    int choose_stride() const;
    void pass(std::int64_t steps);
    void add_step(std::int64_t index, std::vector<std::vector<Entry>>& entries);
    void add_instance(const SlabTask& task, std::int64_t step, const double* uniforms, double* out,
                      std::vector<std::vector<Entry>>& entries);
    void add_pair(std::size_t join, std::size_t first, std::size_t second, const Instance& like);
    void run_grid(std::size_t grid, const std::vector<Entry>& entries);
    void run_front(std::size_t grid, const Wavefront& front);
    void run_in_turn(std::size_t grid, const std::vector<Entry>& entries);
    const std::optional<Wavefront>& schedule(std::size_t grid, const std::vector<Entry>& entries);

    ExecutorOptions options_;
    Mask mask_;
    int threads_;
    int team_ = 1; ///< threads of a pass
    int tile_ = 1;
    int stride_ = 1; ///< slabs that a front moves at a time
    Storage storage_;
    Preparation preparation_;
    std::shared_ptr<const jit::SharedObject> code_;
    Uniforms uniforms_;
    std::vector<SlabTask> kernels_;
    std::vector<SlabTask> records_;
    std::vector<Join> joins_;
    std::vector<SlabTask> joined_; ///< by join
    Copies current_;
    std::vector<std::vector<std::int64_t>> costs_; ///< of the slabs of each grid: cells of all kernels

    // Of the pass at hand.
    std::vector<std::vector<Instance>> instances_; ///< by grid
    std::vector<std::vector<Pair>> pairs_;         ///< by grid, of instances that can run as one
    std::vector<std::vector<Instance>> joins_now_; ///< by grid, what pairs_ are then
    std::vector<double> uniform_values_;
    std::vector<std::vector<double>> results_;
    std::vector<Due> due_;
    /// Wavefronts by what they were planned from.
    std::map<std::vector<int>, std::optional<Wavefront>> schedules_;
};

} // namespace farfield::stencil::cpu
