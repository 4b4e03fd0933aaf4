// What all executors share.
#include "stencil/runtime/executor.h"

#include <utility>

namespace farfield::stencil {

Executor::Executor(std::shared_ptr<const ir::Program> program)
    : program_(std::move(program)), series_(program_->records.size()) {}

std::vector<double> Executor::take_series(int record) {
    return std::exchange(series_.at(static_cast<std::size_t>(record)), {});
}

} // namespace farfield::stencil
