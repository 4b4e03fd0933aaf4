// Time steps by the kernels of a plan: which copy of each field is current, the clock, records.
#pragma once

#include "stencil/runtime/cuda/machine.h"
#include "stencil/runtime/executor.h"
#include "stencil/runtime/uniforms.h"

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

namespace farfield::stencil::cuda {

class DeviceExecutor : public Executor, private PeerFields {
public:
    /// All fields at their initial values. @throws DeviceError, BackendUnavailable, CompileError.
    DeviceExecutor(std::shared_ptr<const ir::Program> program, const ExecutorOptions& options,
                   std::unique_ptr<Machine> machine);

    const Preparation& preparation() const override { return preparation_; }
    void advance(std::int64_t count) override;
    void read(int buffer, std::span<double> values) override;
    void write(int buffer, std::span<const double> values) override;
    std::int64_t steps_a_pass() const override { return plan_.steps_a_pass; }
    void read_cells(int buffer, const ir::CellBox& cells, std::span<std::byte> values) override;
    void write_cells(int buffer, const ir::CellBox& cells, std::span<const std::byte> values,
                     bool all_copies) override;
    PeerFields* peer_fields() override { return this; }
    const codegen::cuda::Plan& plan() const { return plan_; }

private:
    struct Copies {
        void* memory[2] = {nullptr, nullptr};
        int current = 0;
    };
    /// The copies of another rank's buffer, as they were opened.
    struct PeerBuffer {
        std::array<void*, 2> memory = {};
        codegen::cuda::BufferLayout layout;
    };
    /// A list of launches, and the copies that are current behind it.
    struct Schedule {
        std::vector<BoundLaunch> launches;
        std::vector<int> current;
        std::vector<std::int64_t> recorded; ///< values of each record
    };
    /// What a schedule depends on: its length, where it starts, which copies are current.
    struct Key {
        std::int64_t steps = 0;
        std::int64_t phase = 0;
        std::vector<int> current;
        friend bool operator<(const Key& a, const Key& b) {
            return std::tie(a.steps, a.phase, a.current) < std::tie(b.steps, b.phase, b.current);
        }
    };

    const ir::Shape& shape_of(int buffer) const;
    void allocate();
    void fill(int buffer);
    void upload_all_copies(int buffer, const std::vector<char>& content);
    Schedule schedule(std::int64_t start, std::int64_t count);
    BoundLaunch bind(const codegen::cuda::Launch& launch, std::int64_t row, std::int64_t steps,
                     const Schedule& schedule);
    void set_clock(std::int64_t start, std::int64_t count);
    void collect(const Schedule& schedule);
    bool leaves_rows(std::size_t record) const;
    std::int64_t steps_to_rows() const;
    void deliver_rows();
    void deliver_values(int record, std::span<const double> values);

    std::vector<std::byte> offer() override;
    bool open(int peer, std::span<const std::byte> offer) override;
    std::vector<std::int32_t> current_copies() const override;
    void take(int peer, int buffer, const ir::CellBox& cells, int copy) override;
    void each_stretch(int buffer, const ir::CellBox& cells,
                      const std::function<void(std::span<std::byte>)>& visit) override;
    void wait() override { machine_->synchronize(); }
    void close() override;

    codegen::cuda::Plan plan_;
    std::unique_ptr<Machine> machine_;
    Preparation preparation_;
    std::vector<Copies> copies_;
    std::vector<void*> tables_;
    std::vector<void*> scratch_;
    std::vector<void*> series_memory_;
    void* clock_ = nullptr;
    std::int64_t period_ = 1; ///< steps after which the same kernels run again
    std::int64_t batch_ = 1;  ///< steps between two words with the GPU
    std::map<Key, Schedule> schedules_;
    std::vector<std::vector<double>> record_rows_;    ///< by record: what a sink gets
    std::vector<std::vector<double>> record_atoms_;   ///< by record: of all rows, 0 outside its cells' bounds
    std::map<int, std::vector<PeerBuffer>> of_peers_; ///< by rank
    Uniforms uniforms_;
};

} // namespace farfield::stencil::cuda
