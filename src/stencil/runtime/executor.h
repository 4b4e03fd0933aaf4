// What every target offers: the state of a program, and time steps. stencil/targets.h lists the targets.
#pragma once

#include "stencil/codegen/executor_options.h"
#include "stencil/ir/ir.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace farfield::stencil {

/// Time spent getting ready, for the report.
struct Preparation {
    double compile_seconds = 0; ///< 0 where the cache had it
    double load_seconds = 0;    ///< printing the code, and loading it where the cache had it
    bool cached = false;
    std::string description; ///< "cpu, g++ 12.2 -O3 -march=native, spans, 4 steps a pass"
};

class Executor {
public:
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;
    virtual ~Executor() = default;

    const ir::Program& program() const { return *program_; }
    /// Steps done.
    std::int64_t step() const { return step_; }
    virtual const Preparation& preparation() const = 0;

    /// Runs `count` steps. Records that fall due are appended to their series.
    virtual void advance(std::int64_t count) = 0;
    /// The current copy of a field, x fastest, as float64 (floats are widened); size = cells of the grid.
    virtual void read(int buffer, std::span<double> values) = 0;
    /// Sets all copies of a field; values are rounded to its precision.
    virtual void write(int buffer, std::span<const double> values) = 0;
    /// The values of a record since the last call, in order.
    std::vector<double> take_series(int record);
    /// After `write` of every field: continues from step `step`.
    void set_step(std::int64_t step) { step_ = step; }

protected:
    explicit Executor(std::shared_ptr<const ir::Program> program);
    std::shared_ptr<const ir::Program> program_;
    std::int64_t step_ = 0;
    std::vector<std::vector<double>> series_; ///< a vector for each record
};

} // namespace farfield::stencil
