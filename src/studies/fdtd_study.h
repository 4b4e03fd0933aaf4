// What the studies of the stencil paper's microdisk share: the program, the strategies that run different
// code, tables of rates, and the hand-written loop.
#pragma once

#include "stencil/run/rate.h"
#include "studies/plain_te_run.h"
#include "studies/reproduce.h"
#include "studies/study_device.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace farfield {

/// The paper's microdisk on cells × cells; the radius is its share of the grid in the example.
StencilProgram microdisk_of(std::int64_t cells);

struct FdtdTarget {
    std::string name;
    stencil::ExecutorOptions options;
};
FdtdTarget fdtd_target(const StudyDevice& device, const ReproduceOptions& options);

/// Strategies whose code is the same, as far as the generated text tells, and the name of the row: "none",
/// "select, branch, spans".
struct FdtdStrategy {
    stencil::Mask mask = stencil::Mask::none; ///< that is measured for all of them
    std::string names;
};
/// In the order none, select, branch, spans, multiply.
std::vector<FdtdStrategy> distinct_strategies(const StencilRateMeter& meter, std::string_view target,
                                              stencil::ExecutorOptions options);

/// The hand-written OpenMP loop on the microdisk. @param threads 0: all.
PlainTeRun hand_written_microdisk(const StencilRateMeter& meter, std::int64_t cells, int threads);
StencilRate hand_written_rate(const StencilRateMeter& meter, std::int64_t cells, int threads, int repeats);
std::string hand_written_name(int threads);

StudyValue giga(double rate);

/// A table of rates for each pair (row, column); both ways of counting, one below the other.
class RateTables {
public:
    RateTables(const std::string& title, const std::vector<std::string>& columns);
    void row(const std::string& what);
    void add(const StencilRate& rate);
    void skip();
    void deliver(Study& study);

private:
    StudyTable cell_steps_, stencils_;
};

/// A row of fdtd-sizes: a strategy, or the hand-written loop, and its rates by size.
struct FdtdSizeRow {
    std::string names;
    std::optional<stencil::Mask> mask; ///< none: hand-written
    std::vector<StencilRate> rates;
    double at(std::size_t size) const { return rates.at(size).cell_steps_per_second; }
};

/// Adds a table of one GPU over one CPU at the two largest sizes. @param cpu the hand-written loop comes
/// last.
void compare_gpu_with_cpu(Study& study, const std::vector<std::string>& sizes,
                          const std::vector<FdtdSizeRow>& gpu, const std::vector<FdtdSizeRow>& cpu);

extern const char* const fdtd_rates_explained;

} // namespace farfield
