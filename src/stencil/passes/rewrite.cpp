// Codes and their roots.
#include "stencil/passes/rewrite.h"

#include <bit>
#include <tuple>
#include <utility>

namespace farfield::stencil {

std::vector<RootedCode> codes_of_steps(ir::Program& program) {
    std::vector<RootedCode> out;
    for (auto& kernel : program.kernels) {
        RootedCode one{&kernel.code, {}};
        for (auto& store : kernel.stores) one.roots.push_back(&store.node);
        out.push_back(std::move(one));
    }
    for (auto& record : program.records) out.push_back({&record.code, {&record.code.result}});
    return out;
}

std::vector<RootedCode> other_codes(ir::Program& program) {
    std::vector<RootedCode> out;
    const auto add = [&](ir::Code& code) {
        if (!code.nodes.empty()) out.push_back({&code, {&code.result}});
    };
    for (auto& kernel : program.kernels) add(kernel.predicate);
    for (auto& record : program.records) add(record.predicate);
    for (auto& buffer : program.buffers) add(buffer.initial);
    for (auto& uniform : program.uniforms) add(uniform);
    return out;
}

std::vector<bool> varying(const ir::Code& code) {
    std::vector<bool> out;
    for (const auto& node : code.nodes) {
        bool varies = node.op == ir::Op::cell || node.op == ir::Op::load;
        for_each_operand(node,
                         [&](int operand) { varies = varies || out[static_cast<std::size_t>(operand)]; });
        out.push_back(varies);
    }
    return out;
}

bool less_by_bits(const ir::Node& a, const ir::Node& b) {
    const auto key = [](const ir::Node& n) {
        return std::tuple(n.op, n.type, n.in, std::bit_cast<std::uint64_t>(n.real), n.integer, n.index,
                          n.offsets);
    };
    return key(a) < key(b);
}

void remove_dead(const RootedCode& rooted) {
    auto& nodes = rooted.code->nodes;
    std::vector<bool> needed(nodes.size());
    for (const int* root : rooted.roots) needed[static_cast<std::size_t>(*root)] = true;
    for (std::size_t i = nodes.size(); i-- > 0;)
        if (needed[i]) for_each_operand(nodes[i], [&](int o) { needed[static_cast<std::size_t>(o)] = true; });
    std::vector<int> place(nodes.size(), -1);
    std::vector<ir::Node> kept;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!needed[i]) continue;
        for_each_operand(nodes[i], [&](int& o) { o = place[static_cast<std::size_t>(o)]; });
        place[i] = static_cast<int>(kept.size());
        kept.push_back(nodes[i]);
    }
    nodes = std::move(kept);
    for (int* root : rooted.roots) *root = place[static_cast<std::size_t>(*root)];
}

} // namespace farfield::stencil
