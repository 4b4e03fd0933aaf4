// Runs a model by walking its trees, cell by cell, step by step: no code of the compiler, only the model and
// the elementary functions of math/portable. Every rounding is as docs/decisions/0021 says, so that fields of
// executors must be equal bit for bit. Slow; files are not read.
#pragma once

#include "stencil/front_end/model/model.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace farfield::testing {

/// A number of the model as an index.
inline std::size_t at(int index) { return static_cast<std::size_t>(index); }

class TreeOracle {
public:
    explicit TreeOracle(const stencil::Model& model);

    void advance(int steps);
    /// x fastest.
    const std::vector<double>& field(std::size_t index) const { return fields_[index]; }
    /// Sums are in long double and in the order of the cells: not those of executors to the last bit.
    const std::vector<double>& series(std::size_t record) const { return series_[record]; }

private:
    using Cell = std::array<std::int64_t, 3>;
    enum class Type { truth, whole, single, real };
    struct Value {
        Type type = Type::real;
        bool varies = false; ///< between cells
        std::int64_t whole = 0;
        double real = 0; ///< of singles too
    };
    /// What an expression is evaluated for.
    struct Frame {
        int grid = -1;
        Cell cell = {};
        bool kernel = false;         ///< products join sums; otherwise in double, each operation rounded
        Type precision = Type::real; ///< of what varies
        bool interior = true;        ///< of this cell
        std::map<int, Value> temporaries = {};
    };

    Value value(const lang::Expr& expr, const Frame& frame) const;
    Value name(const lang::Name& node, const Frame& frame) const;
    Value binary(const lang::Binary& node, const lang::Expr& expr, const Frame& frame) const;
    Value call(const lang::Call& node, const lang::Expr& expr, const Frame& frame) const;
    Value compare(const lang::Compare& node, const Frame& frame) const;
    Value sum(bool subtract, const Value* left, const lang::Expr* left_expr, const lang::Expr& right,
              const Frame& frame) const;
    Value power(Value base, std::int64_t n) const;
    Value stored(stencil::SymbolKind kind, int index, const std::array<int, 3>& offsets,
                 const Frame& frame) const;

    static Value as_real(Value value, const Frame& frame);
    static Value converted(Value value, Type type);
    static void together(Value& a, Value& b, const Frame& frame);
    static Value arithmetic(lang::BinaryOp op, Value a, Value b, const Frame& frame);

    bool holds(const lang::Expr* where, const std::optional<stencil::Box>& box, int grid, const Cell& cell,
               bool interior) const;
    std::vector<double> initial(const lang::Expr* expr, int grid, stencil::Precision precision,
                                int axis) const;
    void run(const stencil::Update& update, const std::optional<stencil::Box>& box);
    void record(std::size_t index);
    template <class Reads>
    bool exists(const Reads& exprs, int grid, const Cell& cell) const;
    template <class Visit>
    void for_each_cell(int grid, Visit&& visit) const;
    stencil::Boundary boundary(stencil::SymbolKind kind, int index, std::size_t axis) const;
    std::int64_t cells(int grid, std::size_t axis) const;
    std::size_t place(int grid, const Cell& cell) const;

    const stencil::Model& model_;
    std::vector<std::vector<double>> fields_, arrays_, coefficients_, series_;
    std::int64_t step_ = 0;
};

} // namespace farfield::testing
