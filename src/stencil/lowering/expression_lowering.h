// Expressions of a model as nodes. There are two ways: `values` for conditions, initial values, arrays and
// coefficients, always in double and without fma, everything read-only computed from the cell's indices; and
// `kernel` for updates, sources and records, in one precision for what depends on the cell, with the fma
// rules of docs/decisions/0021.
#pragma once

#include "stencil/ir/cell_set.h"
#include "stencil/lowering/buffer_numbers.h"
#include "stencil/lowering/code_builder.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace farfield::stencil {

class ExpressionLowering {
public:
    enum class Way : std::uint8_t { values, kernel };

    /// @param precision of what depends on the cell; double in the way `values`.
    /// @param axis that files lie along, of an array's value; −1: they have a value for each cell.
    ExpressionLowering(const Model& model, const BufferNumbers& buffers, CodeBuilder& builder, int grid,
                       Way way, ir::ValueType precision = ir::ValueType::float64, int axis = -1)
        : model_(model), buffers_(buffers), builder_(builder), grid_(grid), way_(way), precision_(precision),
          axis_(axis) {}

    /// What the word `interior` means; without it, everywhere.
    void set_interior(const ir::CellBox& box) { interior_ = box; }
    /// The value of a temporary, by its place in the update's operations.
    void set_temporary(int operation, int node) { temporaries_[operation] = node; }

    int lower(const lang::Expr& expr);
    /// As a real number of the type that its dependence on the cell asks for.
    int real(const lang::Expr& expr) { return as_real(lower(expr)); }
    /// a + b or a − b of real numbers, formed to an fma where one is a product.
    /// `left` is a node; `right` an expression.
    int sum_with(bool subtract, int left, const lang::Expr& right);
    /// a·b, rounded.
    int product_with(int left, const lang::Expr& right);
    /// Brings real numbers to one type: double where none varies, otherwise the precision.
    int at_precision(int node);
    /// Whether every a_i is in [first, last).
    int in_box(const ir::CellBox& box);

private:
    struct Product {
        int a = -1;
        int b = -1;
        bool formed() const { return a >= 0; }
    };
    /// A number ready to be added: a node, or the factors of a product that is not rounded yet.
    struct Term {
        int node = -1;
        Product product;
    };

    int lower_node(const lang::IntegerLiteral& node, const lang::Expr& expr);
    int lower_node(const lang::RealLiteral& node, const lang::Expr& expr);
    int lower_node(const lang::BooleanLiteral& node, const lang::Expr& expr);
    int lower_node(const lang::TextLiteral& node, const lang::Expr& expr);
    int lower_node(const lang::Name& node, const lang::Expr& expr);
    int lower_node(const lang::Access& node, const lang::Expr& expr);
    int lower_node(const lang::Call& node, const lang::Expr& expr);
    int lower_node(const lang::Unary& node, const lang::Expr& expr);
    int lower_node(const lang::Binary& node, const lang::Expr& expr);
    int lower_node(const lang::Compare& node, const lang::Expr& expr);
    int lower_node(const lang::Select& node, const lang::Expr& expr);

    int as_real(int node);
    std::pair<int, int> together(int a, int b);
    int arithmetic(ir::Op op, int a, int b);
    int compare(lang::CompareOp op, int a, int b);
    int power(const lang::Binary& node, const lang::Expr& expr);
    Term term(const lang::Expr& expr);
    int sum(bool subtract, Term left, Term right);
    int rounded(const Term& term);
    int position(const lang::Name& node);
    int data_file(const lang::Call& node);
    int stored(const lang::Symbol& symbol, const std::array<int, 3>& offsets);
    int subdomain(int index);

    /// A subdomain, read-only field or array.
    using Named = std::pair<SymbolKind, int>;
    int named(Named name);
    const lang::Expr* expression_of(Named name) const;
    std::vector<Named> mentioned(Named name) const;
    int lower_named(Named name);

    const Model& model_;
    const BufferNumbers& buffers_;
    CodeBuilder& builder_;
    int grid_;
    Way way_;
    ir::ValueType precision_;
    int axis_;
    std::optional<ir::CellBox> interior_;
    std::map<int, int> temporaries_;
    std::map<Named, int> known_;                     ///< the nodes of subdomains and read-only values
    std::unique_ptr<ExpressionLowering> conditions_; ///< of subdomains in the way `kernel`
};

} // namespace farfield::stencil
