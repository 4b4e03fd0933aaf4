// The check of a program, statement by statement, in the order of the text.
// checker.cpp has names, constants and the end of the program, check_declarations.cpp and check_actions.cpp
// the statements, check_expressions.cpp what names mean in expressions, hazards.cpp the order of reads and
// writes.
#pragma once

#include "stencil/front_end/check/check.h"
#include "stencil/front_end/check/scope.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::stencil {

/// What an expression may mention. Coordinates are indexed 0, 1, 2 = x, y, z.
struct ExpressionContext {
    std::string what;                                             ///< "the subdomain 'disk'"
    int grid = -1;                                                ///< of cells and coordinates; -1: none
    std::array<bool, 3> coordinates = {};                         ///< that have a value
    std::string coordinates_remedy = {};                          ///< where another is used
    std::array<std::optional<double>, 3> shift = {0.0, 0.0, 0.0}; ///< of X, Y, Z; none: ambiguous
    bool cells = false;                                           ///< fields and coefficients
    bool read_only_fields = false;                                ///< in this cell
    bool arrays = false;
    bool subdomains = false;
    bool interior = false;
    bool time = false;
    bool files = false;
    const std::vector<Operation>* temporaries = nullptr; ///< null: there are none
};

class Checker {
public:
    Checker(Program program, const std::vector<ParameterValue>& parameters, lang::Diagnostics& diagnostics);
    Model run();

    // For resolve_names.cpp, which resolves the names of expressions.
    lang::Diagnostics& diagnostics() { return diagnostics_; }
    Model& model() { return model_; }
    Scope& scope() { return scope_; }
    /// The type of a constant that was bound.
    lang::Type type_of_constant(int index) const;
    /// `dt` is mentioned: `time` may not set it any more.
    void note_time_step(Span span) {
        if (!time_step_used_) time_step_used_ = span;
    }

    /// `axis + number` as in accesses and staggers: the coordinate, and the number. None after reporting as
    /// `kind`.
    struct Shifted {
        int coordinate = -1;
        double shift = 0;
    };
    std::optional<Shifted> shifted(lang::Expr& expr, const lang::DiagnosticKind& kind, std::string_view what);

private:
    void check(ProgramName& node, Span span);
    void check(Constants& node, Span span);
    void check(TimeSettings& node, Span span);
    void check(GridDecl& node, Span span);
    void check(FieldDecl& node, Span span);
    void check(ArrayDecl& node, Span span);
    void check(SubdomainDecl& node, Span span);
    void check(CoefficientDecl& node, Span span);
    void check(UpdateDecl& node, Span span);
    void check(SourceDecl& node, Span span);
    void check(BoundaryDecl& node, Span span);
    void check(RecordDecl& node, Span span);
    void check(StepDecl& node, Span span);
    void check(OutputDecl& node, Span span);

    // Expressions.
    lang::Type type(lang::Expr& expr, const ExpressionContext& context);
    /// Types the expression and demands a type; false after reporting.
    bool typed(lang::Expr& expr, lang::Type needed, const ExpressionContext& context);
    std::optional<lang::Value> constant(lang::Expr& expr, const std::string& what);
    std::optional<double> real_constant(lang::Expr& expr, const std::string& what);
    /// Whole reals count as whole.
    std::optional<std::int64_t> whole_constant(lang::Expr& expr, const std::string& what);
    /// `every n`: 1 where it is left out.
    std::int64_t interval(const ExprPtr& expr, const std::string& what);
    ExpressionContext on_cells_of(int grid, std::string what) const; ///< all coordinates of the grid

    // Declarations.
    void bind(NamedValue& item, bool parameter);
    std::optional<Axis> axis(GridAxis& node, double sampling, bool physical);
    std::optional<int> grid_of(const Identifier& name, Span declaration, const std::string& what);
    std::optional<std::array<double, 3>> stagger(std::vector<ExprPtr>& nodes, const Grid& grid,
                                                 Span declaration);
    double array_stagger(ArrayDecl& node, Span declaration);
    std::optional<int> axis_named(const Identifier& name, int grid, const std::string& what);
    void cases_of(CoefficientDecl& node, Coefficient& out, const ExpressionContext& context);

    // Actions.
    Update operations(const Identifier& name, ExprPtr& where, std::vector<Equation>& equations,
                      const std::string& what, bool source);
    std::optional<int> target_field(lang::Expr& target, const std::string& update);
    ExpressionContext equation_context(const Update& update, const std::string& what) const;
    void set_shifts(ExpressionContext& context, const Update& update, const Operation& operation) const;
    bool condition(const ExprPtr& where, int grid, const std::string& what, bool interior);
    std::optional<Box> box(std::vector<PlaceRange>& at, int grid, int field, Span span,
                           const std::string& what);
    std::optional<std::int64_t> cell(lang::Expr& expr, const Grid& grid, std::size_t axis, int field);
    /// Of the first thing on a grid that it mentions.
    std::optional<int> grid_in(const lang::Expr& expr);
    void hazards(const Update& update, bool everywhere);
    void warn_of_unused_temporaries(const Update& update);

    // Names.
    bool declare(const Identifier& name, SymbolKind kind, std::size_t index);
    /// The index of a name of that kind; none after reporting.
    std::optional<int> find(const Identifier& name, SymbolKind kind, std::string_view wanted);

    void finish();
    void check_parameters_used();
    void warn_of_unused();
    void warn_of_never_written();
    void report(const lang::DiagnosticKind& kind, std::optional<Span> span, std::string message,
                std::string remedy = {});

    Model model_;
    const std::vector<ParameterValue>& parameters_;
    lang::Diagnostics& diagnostics_;
    Scope scope_;
    std::vector<bool> parameter_taken_;
    std::vector<bool> field_read_;
    std::vector<bool> field_written_;
    std::optional<Span> time_step_used_;
    bool has_time_ = false;
    bool has_step_ = false;
    bool has_name_ = false;
    bool told_too_many_ = false;
};

} // namespace farfield::stencil
