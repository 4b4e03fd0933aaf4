// The rules of ir.h, checked.
#include "stencil/ir/verify.h"

#include "stencil/ir/op_info.h"

#include <farfield/error.h>

#include <fmt/format.h>

namespace farfield::stencil::ir {
namespace {

class Verifier {
public:
    explicit Verifier(const Program& program) : program_(program) {}

    void run() {
        for (const auto& buffer : program_.buffers) {
            check_code(buffer.initial, buffer.grid, buffer.name, {ValueType::float64});
            require(buffer.copies == 1 || buffer.copies == 2, buffer.name, "copies");
        }
        for (std::size_t i = 0; i < program_.uniforms.size(); ++i)
            check_code(program_.uniforms[i], -1, fmt::format("uniform {}", i), {ValueType::float64});
        for (const auto& kernel : program_.kernels) check_kernel(kernel);
        for (const auto& record : program_.records) {
            check_set(record.cells, record.grid, record.name);
            check_code(record.predicate, record.grid, record.name, {ValueType::boolean});
            check_code(record.code, record.grid, record.name, {ValueType::float32, ValueType::float64});
        }
    }

private:
    void check_kernel(const Kernel& kernel) {
        check_set(kernel.cells, kernel.grid, kernel.name);
        check_code(kernel.predicate, kernel.grid, kernel.name, {ValueType::boolean});
        check_nodes(kernel.code, kernel.grid, kernel.name);
        for (const auto& store : kernel.stores) {
            const auto& buffer = buffer_at(store.buffer, kernel.name);
            require(store.node >= 0 && store.node < size(kernel.code), kernel.name, "the node of a store");
            require(kernel.code.nodes[static_cast<std::size_t>(store.node)].type == type_of(buffer.precision),
                    kernel.name, "the precision of a store");
            require(buffer.grid == kernel.grid && buffer.written, kernel.name, "the buffer of a store");
            require(!store.other_copy || buffer.copies == 2, kernel.name, "the copies of a store");
        }
        for (const auto& carry : kernel.carries) {
            check_set(carry.cells, kernel.grid, kernel.name);
            require(buffer_at(carry.buffer, kernel.name).copies == 2, kernel.name, "a carry");
        }
    }

    void check_set(const std::shared_ptr<const CellSet>& cells, int grid, const std::string& where) const {
        require(cells != nullptr && cells->shape() == program_.grids[static_cast<std::size_t>(grid)].shape,
                where, "the cells");
    }

    void check_code(const Code& code, int grid, const std::string& where,
                    std::initializer_list<ValueType> types) {
        if (code.nodes.empty()) return;
        check_nodes(code, grid, where);
        require(code.result >= 0 && code.result < size(code), where, "the result");
        bool fits = false;
        for (const auto type : types)
            fits = fits || code.nodes[static_cast<std::size_t>(code.result)].type == type;
        require(fits, where, "the type of the result");
    }

    void check_nodes(const Code& code, int grid, const std::string& where) {
        for (std::size_t i = 0; i < code.nodes.size(); ++i) {
            const auto& node = code.nodes[i];
            for (int k = 0; k < operands_of(node.op); ++k) {
                const int operand = node.in[static_cast<std::size_t>(k)];
                require(operand >= 0 && operand < static_cast<int>(i), where, name_of(node.op));
            }
            require(sound(code, node, grid), where, name_of(node.op));
        }
    }

    bool sound(const Code& code, const Node& node, int grid) {
        const auto type = [&](std::size_t k) {
            return code.nodes[static_cast<std::size_t>(node.in[k])].type;
        };
        const auto alike = [&](std::size_t from) {
            for (auto k = from; k < static_cast<std::size_t>(operands_of(node.op)); ++k)
                if (type(k) != node.type) return false;
            return true;
        };
        switch (node.op) {
        case Op::constant:
            return true;
        case Op::time:
            return node.type == ValueType::float64;
        case Op::step:
            return node.type == ValueType::integer;
        case Op::uniform:
            return grid >= 0 && node.index >= 0 && node.index < static_cast<int>(program_.uniforms.size()) &&
                   is_real(node.type);
        case Op::cell:
            return grid >= 0 && node.type == ValueType::integer && node.index >= 0 &&
                   node.index < program_.grids[static_cast<std::size_t>(grid)].rank;
        case Op::load:
            return grid >= 0 && node.index >= 0 && node.index < static_cast<int>(program_.buffers.size()) &&
                   program_.buffers[static_cast<std::size_t>(node.index)].grid == grid &&
                   node.type == type_of(program_.buffers[static_cast<std::size_t>(node.index)].precision);
        case Op::convert:
            return is_real(node.type) && type(0) != ValueType::boolean && type(0) != node.type;
        case Op::negate:
        case Op::add:
        case Op::subtract:
        case Op::multiply:
        case Op::abs:
        case Op::min:
        case Op::max:
            return node.type != ValueType::boolean && alike(0);
        case Op::floor_divide:
        case Op::remainder:
            return node.type == ValueType::integer && alike(0);
        case Op::less:
        case Op::less_equal:
            return node.type == ValueType::boolean && type(0) == type(1) && type(0) != ValueType::boolean;
        case Op::equal:
        case Op::not_equal:
            return node.type == ValueType::boolean && type(0) == type(1);
        case Op::logical_and:
        case Op::logical_or:
        case Op::logical_not:
            return node.type == ValueType::boolean && alike(0);
        case Op::select:
            return type(0) == ValueType::boolean && alike(1);
        default:
            return is_real(node.type) && alike(0);
        }
    }

    const Buffer& buffer_at(int buffer, const std::string& where) const {
        require(buffer >= 0 && buffer < static_cast<int>(program_.buffers.size()), where, "a buffer");
        return program_.buffers[static_cast<std::size_t>(buffer)];
    }
    static int size(const Code& code) { return static_cast<int>(code.nodes.size()); }
    static void require(bool condition, const std::string& where, std::string_view what) {
        if (!condition) throw InternalError(fmt::format("the code of '{}' is broken: {}", where, what));
    }

    const Program& program_;
};

} // namespace

void verify(const Program& program) { Verifier(program).run(); }

} // namespace farfield::stencil::ir
