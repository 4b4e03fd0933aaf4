// The code of updates, sources and records.
#pragma once

#include "stencil/front_end/model/model.h"
#include "stencil/ir/ir.h"
#include "stencil/lowering/buffer_numbers.h"

namespace farfield::stencil {

/// Without cells and carries, which depend on other kernels; `every` is 1.
ir::Kernel lower_update(const Model& model, const BufferNumbers& numbers, const Update& update);
ir::Kernel lower_source(const Model& model, const BufferNumbers& numbers, const Source& source);
/// Without cells.
ir::Record lower_record(const Model& model, const BufferNumbers& numbers, const Record& record);

} // namespace farfield::stencil
