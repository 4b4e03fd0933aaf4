// The target that needs no compiler: code is computed piece by piece of a row, kernel after kernel, all reads
// before all writes. Slow and obvious: the others are compared with it. Of all mask strategies only
// `multiply` changes what it does.
#pragma once

#include "stencil/ir/row_evaluator.h"
#include "stencil/runtime/executor.h"
#include "stencil/runtime/uniforms.h"

#include <memory>
#include <span>
#include <vector>

namespace farfield::stencil {

class Interpreter : public Executor {
public:
    Interpreter(std::shared_ptr<const ir::Program> program, const ExecutorOptions& options);

    const Preparation& preparation() const override { return preparation_; }
    void advance(std::int64_t count) override;
    void read(int buffer, std::span<double> values) override;
    void write(int buffer, std::span<const double> values) override;
    void read_cells(int buffer, const ir::CellBox& cells, std::span<std::byte> values) override;
    void write_cells(int buffer, const ir::CellBox& cells, std::span<const std::byte> values,
                     bool all_copies) override;

private:
    /// One copy of a buffer, in its precision.
    struct Copy {
        std::vector<float> singles;
        std::vector<double> doubles;
        std::size_t value_size() const { return singles.empty() ? sizeof(double) : sizeof(float); }
        std::byte* bytes() {
            return reinterpret_cast<std::byte*>(singles.empty() ? static_cast<void*>(doubles.data())
                                                                : singles.data());
        }
        const void* data() const {
            return singles.empty() ? static_cast<const void*>(doubles.data()) : singles.data();
        }
        double at(std::size_t i) const {
            return singles.empty() ? doubles[i] : static_cast<double>(singles[i]);
        }
        void set(std::size_t i, double value) {
            if (singles.empty())
                doubles[i] = value;
            else
                singles[i] = static_cast<float>(value);
        }
    };
    struct State {
        Copy copies[2]; ///< the second where a kernel writes the other copy
        int current = 0;
        Copy& here() { return copies[current]; }
        Copy& other() { return copies[1 - current]; }
    };

    void fill(int buffer, int threads);
    void run(const ir::Kernel& kernel, ir::RowEvaluator& evaluator, double t);
    bool multiplies(const ir::Kernel& kernel) const;
    void carry(const ir::Carry& carry);
    void record(std::size_t index, double t);
    void show_current(int buffer);

    Mask mask_;
    std::vector<State> states_;
    std::vector<ir::BufferView> views_; ///< the current copies
    Uniforms uniforms_;
    std::span<const double> uniform_values_;
    std::vector<ir::RowEvaluator> kernels_;
    std::vector<ir::RowEvaluator> records_;
    Preparation preparation_;
};

} // namespace farfield::stencil
