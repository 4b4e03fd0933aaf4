// The interface of a target: an executor holds the fields of one program and advances them in time.
// stencil/targets.h lists the targets.
#pragma once

#include "stencil/codegen/executor_options.h"
#include "stencil/ir/ir.h"
#include "stencil/runtime/peer_fields.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace farfield::stencil {

/// What an executor did before the first step; reports show it.
struct Preparation {
    double compile_seconds = 0; ///< of the compiler; 0 if the cache had the compiled code
    double load_seconds = 0;    ///< to print the code, look it up in the cache and load it
    bool cached = false;        ///< whether the cache had the compiled code
    std::string description;    ///< "cpu, g++ 12.2 -O3 -march=native, spans, 4 steps a pass"
};

/// Takes what the rows of a record gave in a step, `per_row` numbers each, rows without cells 0: of sums and
/// means the sums of the row's atoms (ir/reduction.h), of maxima and minima the extremum and whether there is
/// a cell, of a value the value.
using RecordSink = std::function<void(int record, std::int64_t per_row, const std::vector<double>& rows)>;

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
    /// The same where several ranks share the fields and rank 0 alone has the values: all of them call it,
    /// the others with none.
    virtual void read_to_first(int buffer, std::span<double> values) { read(buffer, values); }
    virtual void write_from_first(int buffer, std::span<const double> values) { write(buffer, values); }
    /// Returns the values that were appended to a record's series since the last call, and empties the
    /// series.
    std::vector<double> take_series(int record);
    /// Continues from step `step`, after every field was set with `write`.
    virtual void set_step(std::int64_t step) { step_ = step; }

    // What ranks need of the executor of a part (runtime/ranks).
    /// So many steps, or multiples of them, are done in the fewest passes over memory.
    virtual std::int64_t steps_a_pass() const { return 1; }
    /// Copies the cells of a box, x fastest, in the field's precision.
    virtual void read_cells(int buffer, const ir::CellBox& cells, std::span<std::byte> values);
    /// Sets them, in the current copy or in all.
    virtual void write_cells(int buffer, const ir::CellBox& cells, std::span<const std::byte> values,
                             bool all_copies);
    /// From now on records go there, and not to series.
    void leave_records_to(RecordSink sink) { record_sink_ = std::move(sink); }
    /// Null where fields are in no memory that others could read.
    virtual PeerFields* peer_fields() { return nullptr; }

protected:
    explicit Executor(std::shared_ptr<const ir::Program> program);
    std::shared_ptr<const ir::Program> program_;
    std::int64_t step_ = 0;
    std::vector<std::vector<double>> series_; ///< by record
    RecordSink record_sink_;
};

} // namespace farfield::stencil
