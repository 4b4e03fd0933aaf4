// Numbers of buffers, and the files that a model mentions.
#include "stencil/lowering/buffer_numbers.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace farfield::stencil {

BufferNumbers::BufferNumbers(const Model& model)
    : fields_(static_cast<int>(model.fields.size())), arrays_(static_cast<int>(model.arrays.size())),
      coefficients_(static_cast<int>(model.coefficients.size())) {
    for (const auto& array : model.arrays) collect(array.value, array.grid, array.axis);
    for (const auto& field : model.fields) collect(field.initial, field.grid, -1);
    for (const auto& subdomain : model.subdomains) collect(subdomain.condition, subdomain.grid, -1);
    for (const auto& coefficient : model.coefficients)
        for (const auto& one : coefficient.cases) {
            collect(one.where, coefficient.grid, -1);
            collect(one.value, coefficient.grid, -1);
        }
}

void BufferNumbers::collect(const lang::Expr* expr, int grid, int axis) {
    if (expr == nullptr) return;
    lang::for_each_node(*expr, [&](const lang::Expr& node) {
        const auto* call = std::get_if<lang::Call>(&node.node);
        if (call == nullptr ||
            (call->function != lang::Function::image && call->function != lang::Function::data))
            return;
        DataFile file{call->function, std::get<lang::TextLiteral>(call->arguments[0]->node).value, grid,
                      axis};
        if (std::find(files_.begin(), files_.end(), file) != files_.end()) return;
        files_.push_back(std::move(file));
        spans_.push_back(node.span);
    });
}

int BufferNumbers::data(const DataFile& file) const {
    const auto found = std::find(files_.begin(), files_.end(), file);
    if (found == files_.end()) throw InternalError(fmt::format("the file '{}' has no buffer", file.name));
    return data(static_cast<int>(found - files_.begin()));
}

} // namespace farfield::stencil
