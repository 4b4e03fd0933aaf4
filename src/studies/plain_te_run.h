// The hand-written OpenMP loop of bench/plain_te.h over fields of its own: what studies of the stencil
// language compare with.
#pragma once

#include "stencil/ir/cell_set.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace farfield {

struct PlainTeTask {
    std::int64_t n = 0;                          ///< cells along a side
    const stencil::ir::CellSet* cells = nullptr; ///< one interval a row; null: the whole grid
    bool electric_everywhere = false;            ///< only H and the energy are confined to `cells`
    std::int64_t source_x = 0;                   ///< a cell of `cells`
    std::int64_t source_y = 0;
    std::function<double(double step)> wave; ///< added to H there
    int threads = 1;
};

class PlainTeRun {
public:
    /// With the widest vectors of this machine. @throws IoError where memory is short.
    explicit PlainTeRun(const PlainTeTask& task);
    ~PlainTeRun();
    PlainTeRun(PlainTeRun&&) noexcept;
    PlainTeRun& operator=(PlainTeRun&&) noexcept;

    void advance(std::int64_t steps);
    /// n × n values, x fastest.
    std::vector<double> magnetic() const;
    std::vector<double> energy() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace farfield
