// Stencil programs written in C++: expressions with operators, and a builder that collects statements. What
// it makes is a program like any other: it is printed, read and checked as the text would be.
//
//     using namespace farfield::stencil_builder;
//     Builder p("heat");
//     const auto n = p.param("n", 64);
//     const auto g = p.grid("g", {{x, n}, {y, n}});
//     const auto u = p.field("u", {.double_buffered = true, .initial = where(x < n / 2, 1.0, 0.0)});
//     const auto spread = p.update("spread", interior,
//                                  {u += 0.1 * (u[x - 1] + u[x + 1] + u[y - 1] + u[y + 1] - 4 * u)});
//     p.step({spread});
//     p.output({u}, {.at_end = true});
//     const farfield::StencilProgram program = p.program();
#pragma once

#include <farfield/stencil.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace farfield::lang {
struct Expr;
}

namespace farfield::stencil_builder {

/// An expression; cheap to copy. Numbers become one by themselves. An empty one stands for "left out".
class Expr {
public:
    Expr() = default;
    Expr(bool value);   // NOLINT(google-explicit-constructor): values are expressions
    Expr(double value); // NOLINT(google-explicit-constructor)
    template <class Integer>
    requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
        Expr(Integer value) // NOLINT(google-explicit-constructor)
        : Expr(integer(static_cast<std::int64_t>(value))) {}

    [[nodiscard]] bool empty() const { return node_ == nullptr; }
    [[nodiscard]] const lang::Expr* node() const { return node_.get(); }
    explicit Expr(std::shared_ptr<const lang::Expr> node) : node_(std::move(node)) {}

private:
    static Expr integer(std::int64_t value);
    std::shared_ptr<const lang::Expr> node_;
};

/// An expression that is a name: a parameter, a subdomain, a coordinate.
class Name : public Expr {
public:
    explicit Name(std::string name);
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::string text_;
};

/// The names that the language itself gives a value; docs/guide/stencil-language.md says which.
extern const Name x, y, z, X, Y, Z, dx, dy, dz, t, step, dt, pi, interior, everywhere;

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b); ///< real, also of whole numbers
Expr operator%(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator<(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator>(const Expr& a, const Expr& b);
Expr operator>=(const Expr& a, const Expr& b);
Expr operator==(const Expr& a, const Expr& b);
Expr operator!=(const Expr& a, const Expr& b);
Expr operator&&(const Expr& a, const Expr& b);
Expr operator||(const Expr& a, const Expr& b);
Expr operator!(const Expr& a);
Expr power(const Expr& base, const Expr& exponent); ///< base^exponent
Expr floor_divide(const Expr& a, const Expr& b);    ///< a // b
Expr where(const Expr& condition, const Expr& yes, const Expr& no);
/// A function of the language by its name: call("exp", {-t}).
Expr call(std::string_view function, std::initializer_list<Expr> arguments);
Expr abs(const Expr& a);
Expr cbrt(const Expr& a);
Expr ceil(const Expr& a);
Expr cos(const Expr& a);
Expr exp(const Expr& a);
Expr floor(const Expr& a);
Expr log(const Expr& a);
Expr sin(const Expr& a);
Expr sqrt(const Expr& a);
Expr tanh(const Expr& a);
Expr max(const Expr& a, const Expr& b);
Expr min(const Expr& a, const Expr& b);
Expr image(std::string_view file); ///< a PNG: 0 black, 1 white
Expr data(std::string_view file);  ///< a .npy array

/// `name op= value`, or a temporary of an update.
struct Equation {
    enum class Op : std::uint8_t { assign, add, subtract, multiply, let };
    std::string name;
    Op op = Op::assign;
    Expr value;
};

/// A temporary: an equation where it stands in an update, and its name in those below.
class Let : public Name {
public:
    Let(const std::string& name, Expr value) : Name(name), value_(std::move(value)) {}
    operator Equation() const { return {text(), Equation::Op::let, value_}; } // NOLINT

private:
    Expr value_;
};

/// A field, array or coefficient. The operators make equations and change nothing.
class Field : public Name {
public:
    using Name::Name;
    Field(const Field&) = default;
    Field& operator=(const Field&) = delete;
    /// The value at a neighbouring cell: u[x - 1], or u(x - 1, y + 2).
    Expr operator[](const Expr& index) const { return at({index}); }
    template <class... Indices>
    Expr operator()(const Indices&... indices) const {
        return at({Expr(indices)...});
    }
    [[nodiscard]] Equation set(const Expr& value) const { return {text(), Equation::Op::assign, value}; }
    Equation operator+=(const Expr& value) const { return {text(), Equation::Op::add, value}; }
    Equation operator-=(const Expr& value) const { return {text(), Equation::Op::subtract, value}; }
    Equation operator*=(const Expr& value) const { return {text(), Equation::Op::multiply, value}; }

private:
    [[nodiscard]] Expr at(std::initializer_list<Expr> indices) const;
};

/// Cells or lengths along an axis: one, from one to another, or the axis itself for all of it.
struct Range {
    template <class Value>
    Range(const Value& value) : first(value) {} // NOLINT(google-explicit-constructor)
    Range(Expr from, Expr to) : first(std::move(from)), last(std::move(to)) {}
    Expr first;
    Expr last;
};
using Place = std::vector<Range>; ///< a range for each axis

/// `x: 512`, or with lengths `x: -5 to 5`.
struct AxisSize {
    AxisSize(const Name& name, Expr size) : axis(name.text()), last(std::move(size)) {}
    AxisSize(const Name& name, Expr from, Expr to)
        : axis(name.text()), first(std::move(from)), last(std::move(to)) {}
    std::string axis;
    Expr first;
    Expr last;
};

enum class Rule : std::uint8_t { zero, periodic, mirror, clamp };
struct BoundaryAlong {
    Rule rule = Rule::zero;
    std::vector<std::string> axes; ///< none: all
};

struct FieldOptions {
    std::string grid{};     ///< may be left out where there is one
    std::vector<Expr> at{}; ///< place in the cell: {x + 0.5, y}; none: the corner
    bool single_precision = false;
    bool double_buffered = false;
    bool read_only = false;
    Expr initial{}; ///< none: 0
};

struct CoefficientCase {
    Expr where{}; ///< none: elsewhere, the last
    Expr value{};
};

enum class Reduce : std::uint8_t { value, sum, mean, max, min };
struct RecordOptions {
    Reduce reduce = Reduce::value;
    Expr on{};  ///< a region; neither it nor a place: everywhere
    Place at{}; ///< a cell or a box
    Expr every{};
};

struct StepOf {
    StepOf(const Name& action, Expr steps = {}) : name(action.text()), every(std::move(steps)) {} // NOLINT
    std::string name{};
    Expr every{};
};

struct TimeOptions {
    Expr dt{};
    Expr steps{};
    Expr end{};
};

struct OutputTimes {
    Expr every{};
    bool at_start = false;
    bool at_end = false;
};

/// Statements in the order of the calls. Parameters (and constants) that follow each other share a line.
/// @throws InvalidArgument for names that are none, numbers that are not finite, and expressions nested too
///         deep; other mistakes are found by program().
class Builder {
public:
    explicit Builder(const std::string& name = {});
    Builder(Builder&&) noexcept;
    Builder& operator=(Builder&&) noexcept;
    ~Builder();

    Name param(const std::string& name, const Expr& value);
    Name let(const std::string& name, const Expr& value);
    void time(const TimeOptions& options);
    Name grid(const std::string& name, const std::vector<AxisSize>& axes, const Expr& sampling = {});
    Field field(const std::string& name, const FieldOptions& options = {});
    template <std::size_t N>
    std::array<Field, N> fields(const char* const (&names)[N], const FieldOptions& options = {}) {
        declare_fields({names, names + N}, options);
        return array_of(names, std::make_index_sequence<N>{});
    }
    Field array(const std::string& name, const Name& axis, const Expr& value,
                const FieldOptions& options = {});
    /// @param coordinates those that the condition uses; none where it names other subdomains alone.
    Name subdomain(const std::string& name, const std::vector<Name>& coordinates, const Expr& condition,
                   const FieldOptions& options = {});
    Field coefficient(const std::string& name, const std::vector<CoefficientCase>& cases,
                      const FieldOptions& options = {});
    void boundary(const std::vector<Field>& fields, const std::vector<BoundaryAlong>& rules);
    Name update(const std::string& name, const Expr& on, const std::vector<Equation>& equations);
    Name source(const std::string& name, const Place& at, const std::vector<Equation>& equations);
    Name source_on(const std::string& name, const Expr& on, const std::vector<Equation>& equations);
    Name record(const std::string& name, const Expr& value, const RecordOptions& options = {});
    void step(const std::vector<StepOf>& actions);
    void output(const std::vector<Field>& fields, const OutputTimes& times);

    /// The program so far, as text.
    [[nodiscard]] std::string text() const;
    /// @throws StencilError; the messages show the lines of text().
    [[nodiscard]] StencilProgram program(const StencilParameters& parameters = {}) const;

private:
    void declare_fields(const std::vector<std::string>& names, const FieldOptions& options);
    template <std::size_t N, std::size_t... I>
    static std::array<Field, N> array_of(const char* const (&names)[N], std::index_sequence<I...>) {
        return {Field(names[I])...};
    }
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace farfield::stencil_builder
