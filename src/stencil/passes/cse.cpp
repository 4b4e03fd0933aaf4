// Common subexpressions and dead code.
#include "stencil/passes/passes.h"
#include "stencil/passes/rewrite.h"

#include <map>
#include <string_view>
#include <utility>

namespace farfield::stencil {
namespace {

struct NodeByBits {
    // Constants that the source calls by different names stay apart, whatever their values: they cost
    // nothing.
    bool operator()(const ir::Node& a, const ir::Node& b) const {
        if (less_by_bits(a, b)) return true;
        if (a.op != ir::Op::constant || less_by_bits(b, a)) return false;
        return name(a) < name(b);
    }
    static std::string_view name(const ir::Node& node) {
        return node.text == nullptr ? std::string_view() : std::string_view(*node.text);
    }
};

bool commutes(ir::Op op) {
    switch (op) {
    case ir::Op::add:
    case ir::Op::multiply:
    case ir::Op::fma:
    case ir::Op::equal:
    case ir::Op::not_equal:
    case ir::Op::logical_and:
    case ir::Op::logical_or:
        return true;
    default:
        return false;
    }
}

void share(const RootedCode& rooted) {
    std::map<ir::Node, int, NodeByBits> known;
    std::vector<int> place; // of the node that stands for each
    auto& nodes = rooted.code->nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for_each_operand(nodes[i], [&](int& o) { o = place[static_cast<std::size_t>(o)]; });
        auto key = nodes[i];
        if (commutes(key.op) && key.in[1] < key.in[0]) std::swap(key.in[0], key.in[1]);
        place.push_back(known.emplace(key, static_cast<int>(i)).first->second);
    }
    for (int* root : rooted.roots) *root = place[static_cast<std::size_t>(*root)];
    remove_dead(rooted);
}

} // namespace

void cse(ir::Program& program) {
    for (const auto& code : codes_of_steps(program)) share(code);
    for (const auto& code : other_codes(program)) share(code);
}

} // namespace farfield::stencil
