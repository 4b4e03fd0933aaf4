// The fields of a run on the host: a copy that is known to be finite, and the search for the step in which
// one ceased to be.
#pragma once

#include "stencil/front_end/model/model.h"
#include "stencil/runtime/executor.h"

#include <farfield/error.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace farfield {

/// A field is no longer finite; the state has gone back to the last step at which all of them were.
class NotFinite : public Error {
public:
    using Error::Error;
};

class StencilState {
public:
    StencilState(stencil::Executor& executor, const stencil::Model& model);

    /// Copies every field that updates write. Where a value is not finite, goes back to the last good copy
    /// and takes the steps once more to find where it came up; step() and field() are then those of the
    /// last step before it.
    /// @throws NotFinite naming field, cell, value and step.
    void take();
    /// Steps of the last good copy.
    [[nodiscard]] std::int64_t step() const { return step_; }
    /// Values of field `index` of the model, as of the last `take`.
    [[nodiscard]] std::span<const double> field(int index);
    /// Copies one field alone, to one(). Throws as take().
    void take_one(int index);
    [[nodiscard]] std::span<const double> one() const { return one_; }
    /// The fields that updates write: what a checkpoint needs.
    [[nodiscard]] const std::vector<int>& written() const { return written_; }
    /// Puts the fields back to values read from a checkpoint, in the order of written().
    void restore(std::vector<std::vector<double>> values, std::int64_t step);

private:
    struct Bad {
        int field;
        std::string value; ///< and its cell
    };
    [[nodiscard]] bool read_all(std::vector<std::vector<double>>& values, Bad& bad);
    void put_back(std::int64_t step);
    [[noreturn]] void find_first_bad(std::int64_t bad_step, Bad bad);

    stencil::Executor& executor_;
    const stencil::Model& model_;
    std::vector<int> written_;
    std::vector<std::vector<double>> good_;  // of written_
    std::vector<std::vector<double>> spare_; // likewise
    std::vector<std::vector<double>> fixed_; // of all fields; those that nothing writes, once asked for
    std::vector<double> one_;
    std::int64_t step_ = 0;
};

} // namespace farfield
