// The interface of a target: an executor holds the fields of one program and advances them in time.
// stencil/targets.h lists the targets.
#pragma once

#include "stencil/codegen/executor_options.h"
#include "stencil/ir/ir.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace farfield::stencil {

/// What an executor did before the first step; reports show it.
struct Preparation {
    double compile_seconds = 0; ///< of the compiler; 0 if the cache had the compiled code
    double load_seconds = 0;    ///< to print the code, look it up in the cache and load it
    bool cached = false;        ///< whether the cache had the compiled code
    std::string description;    ///< "cpu, g++ 12.2 -O3 -march=native, spans, 4 steps a pass"
};

class Executor {
public:
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;
    virtual ~Executor() = default;

    const ir::Program& program() const { return *program_; }
    /// The number of steps that were done.
    std::int64_t step() const { return step_; }
    virtual const Preparation& preparation() const = 0;

    /// Does `count` steps. A record that is due in a step appends its value to its series.
    virtual void advance(std::int64_t count) = 0;
    /// Copies the field in `buffer` to `values`: one number for each cell of the grid, x fastest. Single
    /// precision is widened.
    virtual void read(int buffer, std::span<double> values) = 0;
    /// Sets the field in `buffer`, in the order of `read`. Values are rounded to the field's precision.
    virtual void write(int buffer, std::span<const double> values) = 0;
    /// Returns the values that were appended to a record's series since the last call, and empties the
    /// series.
    std::vector<double> take_series(int record);
    /// Continues from step `step`, after every field was set with `write`.
    void set_step(std::int64_t step) { step_ = step; }

protected:
    explicit Executor(std::shared_ptr<const ir::Program> program);
    std::shared_ptr<const ir::Program> program_;
    std::int64_t step_ = 0;
    std::vector<std::vector<double>> series_; ///< by record
};

} // namespace farfield::stencil
