// What all executors share.
#include "stencil/runtime/executor.h"

#include <farfield/error.h>

#include <utility>

namespace farfield::stencil {

Executor::Executor(std::shared_ptr<const ir::Program> program)
    : program_(std::move(program)), series_(program_->records.size()) {}

void Executor::read_cells(int, const ir::CellBox&, std::span<std::byte>) {
    throw InternalError("this target does not read cells of a part");
}

void Executor::write_cells(int, const ir::CellBox&, std::span<const std::byte>, bool) {
    throw InternalError("this target does not write cells of a part");
}

std::vector<double> Executor::take_series(int record) {
    return std::exchange(series_.at(static_cast<std::size_t>(record)), {});
}

} // namespace farfield::stencil
