// Names of constants and uniforms: those of the source, or an expression's with its operators in words.
#include "stencil/ir/unique_names.h"
#include "stencil/passes/passes.h"
#include "stencil/passes/rewrite.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string_view>

namespace farfield::stencil {
namespace {

using ir::Node;
using ir::Op;

constexpr std::size_t longest_name = 40;

struct NamedByBits {
    bool operator()(const Node& a, const Node& b) const {
        if (less_by_bits(a, b)) return true;
        return !less_by_bits(b, a) && *a.text < *b.text;
    }
};

class Namer {
public:
    explicit Namer(ir::Program& program) : program_(program) {}

    void run() {
        for (auto* code : all_codes())
            for (auto& node : code->nodes)
                if (node.op == Op::constant) constant(node);
        program_.uniform_names.resize(program_.uniforms.size());
        UniqueNames names;
        for (std::size_t i = 0; i < program_.uniforms.size(); ++i)
            if (const auto name = identifier_of(text_of(program_.uniforms[i])); !name.empty())
                program_.uniform_names[i] = names.unique(name);
        for (const auto& kernel : program_.kernels) unnamed(kernel.code, kernel.name, names);
        for (const auto& record : program_.records) unnamed(record.code, record.name, names);
    }

private:
    std::vector<ir::Code*> all_codes() {
        std::vector<ir::Code*> out;
        for (const auto& rooted : codes_of_steps(program_)) out.push_back(rooted.code);
        for (const auto& rooted : other_codes(program_)) out.push_back(rooted.code);
        return out;
    }

    void constant(Node& node) {
        node.index = -1;
        if (node.text == nullptr || node.type == ir::ValueType::boolean || !std::isfinite(node.real)) return;
        const auto [found, is_new] = known_.emplace(node, static_cast<int>(program_.constants.size()));
        if (is_new) {
            auto name = identifier_of(*node.text);
            program_.constants.push_back({names_.unique(name.empty() ? "number" : name), node});
        }
        node.index = found->second;
    }

    static std::string text_of(const ir::Code& code) {
        const auto* node = &code.nodes[static_cast<std::size_t>(code.result)];
        while (node->text == nullptr && node->op == Op::convert)
            node = &code.nodes[static_cast<std::size_t>(node->in[0])];
        return node->text == nullptr ? std::string() : *node->text;
    }

    void unnamed(const ir::Code& code, const std::string& owner, UniqueNames& names) {
        for (const auto& node : code.nodes) {
            if (node.op != Op::uniform) continue;
            auto& name = program_.uniform_names[static_cast<std::size_t>(node.index)];
            if (name.empty()) name = names.unique(owner + "_value");
        }
    }

    // "dt_over_dx" of "dt/dx"; empty where that is long.
    static std::string identifier_of(std::string_view text) {
        constexpr std::pair<std::string_view, std::string_view> words[] = {
            {"//", "_over_"}, {"/", "_over_"},   {"*", "_times_"}, {"+", "_plus_"},
            {"-", "_minus_"}, {"%", "_modulo_"}, {"^", "_to_"}};
        std::string out;
        for (std::size_t i = 0; i < text.size();) {
            const auto* found = std::find_if(std::begin(words), std::end(words), [&](const auto& word) {
                return text.substr(i).starts_with(word.first);
            });
            if (found != std::end(words)) {
                out += found->second;
                i += found->first.size();
                continue;
            }
            out += std::isalnum(static_cast<unsigned char>(text[i])) != 0 ? text[i] : '_';
            ++i;
        }
        while (out.ends_with('_')) out.pop_back();
        if (out.starts_with("1_")) out.replace(0, 1, "one");
        if (out.size() > longest_name) return {};
        // What headers of C define as macros has no small letters: NAN, INFINITY, M_PI.
        const bool like_a_macro = out.size() > 2 && std::none_of(out.begin(), out.end(), [](char c) {
                                      return std::islower(static_cast<unsigned char>(c)) != 0;
                                  });
        return like_a_macro ? out + "_value" : out;
    }

    ir::Program& program_;
    UniqueNames names_{UniqueNames::Taken::words_of_cpp};
    std::map<Node, int, NamedByBits> known_;
};

} // namespace

void name(ir::Program& program) { Namer(program).run(); }

} // namespace farfield::stencil
