// What the source would call values that are the same in all cells: "dt/dx", "2*(feed + kill)".
#pragma once

#include "stencil/ir/ir.h"

#include <memory>
#include <string>
#include <vector>

namespace farfield::stencil {

class Texts {
public:
    /// Of nodes that are added one by one; kept by reference.
    explicit Texts(const std::vector<ir::Node>& nodes) : nodes_(nodes) {}

    /// Of a node whose operands are nodes; null where it varies, is long, or consists of numbers alone.
    std::shared_ptr<const std::string> of(const ir::Node& node);
    /// Of 1/x, x a node.
    std::shared_ptr<const std::string> of_reciprocal(int node) const;

private:
    const ir::Node& at(int node) const { return nodes_[static_cast<std::size_t>(node)]; }
    bool has_name(int node) const;
    std::string text(int node) const;
    void follow();

    const std::vector<ir::Node>& nodes_;
    std::vector<bool> varies_; ///< of the nodes met
};

} // namespace farfield::stencil
