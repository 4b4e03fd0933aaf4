// Cell-independent values become uniforms. Whole numbers stay where they are: they cost little, and a uniform
// is a real number. Conditions pass as 1 or 0.
#include "stencil/passes/passes.h"
#include "stencil/passes/rewrite.h"

#include <algorithm>
#include <map>
#include <utility>

namespace farfield::stencil {
namespace {

using ir::Node;
using ir::Op;
using ir::ValueType;

// Uniforms stand alone, so that chains of them repeat themselves: where that grows, values stay in the
// kernels.
constexpr std::size_t most_nodes_a_uniform = 2000;
constexpr std::size_t most_known_nodes = 100'000;

struct CodeByBits {
    bool operator()(const ir::Code& a, const ir::Code& b) const {
        return std::lexicographical_compare(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                                            less_by_bits);
    }
};

/// The uniforms so far, by their code, whose last node is the result.
struct Known {
    std::map<ir::Code, int, CodeByBits> uniforms;
    std::size_t nodes = 0;
    std::size_t refused = 0;
};

class Hoister {
public:
    Hoister(ir::Program& program, Known& known, const RootedCode& rooted)
        : program_(program), known_(known), rooted_(rooted), varies_(varying(*rooted.code)) {}

    void run() {
        const auto wanted = boundary();
        std::vector<Node> out;
        std::vector<int> place;
        const auto append = [&](const Node& node) {
            out.push_back(node);
            return static_cast<int>(out.size()) - 1;
        };
        for (std::size_t i = 0; i < rooted_.code->nodes.size(); ++i) {
            auto node = rooted_.code->nodes[i];
            if (wanted[i]) {
                Node uniform{Op::uniform, node.type == ValueType::float32 ? node.type : ValueType::float64};
                uniform.index = index_of(code_for(static_cast<int>(i)));
                int result = append(uniform);
                if (node.type == ValueType::boolean) {
                    const int zero = append(ir::real_constant(0));
                    result = append({Op::not_equal, ValueType::boolean, {result, zero, -1}});
                }
                place.push_back(result);
                continue;
            }
            for_each_operand(node, [&](int& o) { o = place[static_cast<std::size_t>(o)]; });
            place.push_back(append(node));
        }
        rooted_.code->nodes = std::move(out);
        for (int* root : rooted_.roots) *root = place[static_cast<std::size_t>(*root)];
        remove_dead(rooted_);
    }

private:
    const Node& at(int node) const { return rooted_.code->nodes[static_cast<std::size_t>(node)]; }

    bool movable(std::size_t i) const {
        const auto& node = rooted_.code->nodes[i];
        return !varies_[i] && ir::operands_of(node.op) > 0 && node.type != ValueType::integer;
    }

    // The movable nodes that something which stays needs.
    std::vector<bool> boundary() const {
        std::vector<bool> needed(varies_.size());
        std::vector<bool> wanted(varies_.size());
        for (const int* root : rooted_.roots) needed[static_cast<std::size_t>(*root)] = true;
        for (std::size_t i = needed.size(); i-- > 0;) {
            if (!needed[i]) continue;
            wanted[i] = movable(i) && affordable(static_cast<int>(i));
            if (!wanted[i])
                for_each_operand(rooted_.code->nodes[i],
                                 [&](int o) { needed[static_cast<std::size_t>(o)] = true; });
        }
        return wanted;
    }

    // A node and what it needs; some of it where that is too much.
    std::map<int, int> needed_by(int root) const {
        std::map<int, int> place{{root, -1}};
        for (auto it = place.rbegin(); it != place.rend() && place.size() <= most_nodes_a_uniform; ++it)
            for_each_operand(at(it->first), [&](int o) { place.emplace(o, -1); });
        return place;
    }

    bool affordable(int root) const {
        if (known_.nodes > most_known_nodes || known_.refused > 1000) return false;
        const auto size = needed_by(root).size();
        const bool small = size <= most_nodes_a_uniform;
        if (small)
            known_.nodes += size;
        else
            ++known_.refused;
        return small;
    }

    ir::Code subgraph(int root) const {
        auto place = needed_by(root);
        ir::Code code;
        for (auto& [node, index] : place) {
            auto copy = at(node);
            for_each_operand(copy, [&](int& o) { o = place.at(o); });
            index = static_cast<int>(code.nodes.size());
            code.nodes.push_back(copy);
        }
        code.result = static_cast<int>(code.nodes.size()) - 1;
        return code;
    }

    ir::Code code_for(int root) const {
        auto code = subgraph(root);
        root = code.result;
        const auto here = [&](int node) { return code.nodes[static_cast<std::size_t>(node)]; };
        const auto type = here(root).type;
        const auto append = [&](const Node& node) {
            code.nodes.push_back(node);
            return static_cast<int>(code.nodes.size()) - 1;
        };
        if (type == ValueType::float32 && here(root).op == Op::convert &&
            here(here(root).in[0]).type == ValueType::float64)
            code.result = here(root).in[0]; // rounded where the uniform is used
        else if (type == ValueType::float32)
            code.result = append({Op::convert, ValueType::float64, {root, -1, -1}});
        else if (type == ValueType::boolean) {
            const int one = append(ir::real_constant(1));
            const int zero = append(ir::real_constant(0));
            code.result = append({Op::select, ValueType::float64, {root, one, zero}});
        }
        remove_dead({&code, {&code.result}});
        return code;
    }

    int index_of(ir::Code code) const {
        auto& uniforms = program_.uniforms;
        const auto [found, is_new] = known_.uniforms.emplace(code, static_cast<int>(uniforms.size()));
        if (is_new) uniforms.push_back(std::move(code));
        return found->second;
    }

    ir::Program& program_;
    Known& known_;
    const RootedCode& rooted_;
    std::vector<bool> varies_;
};

} // namespace

void hoist(ir::Program& program) {
    Known known;
    for (const auto& code : codes_of_steps(program)) Hoister(program, known, code).run();
}

} // namespace farfield::stencil
