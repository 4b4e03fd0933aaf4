// Statements of the builder, as the parser would make them.
#include "stencil/api/checked_name.h"
#include "stencil/front_end/syntax/printer.h"

#include <farfield/stencil_builder.h>

#include <utility>

namespace farfield::stencil_builder {
namespace {

lang::ExprPtr copy(const Expr& expr) { return !expr.empty() ? lang::clone(*expr.node()) : nullptr; }

lang::ExprPtr required(const Expr& expr, const char* what) {
    if (expr.empty()) throw InvalidArgument(std::string(what) + " is missing; give an expression");
    return lang::clone(*expr.node());
}

std::vector<lang::ExprPtr> copies(const std::vector<Expr>& list) {
    std::vector<lang::ExprPtr> out;
    out.reserve(list.size());
    for (const auto& expr : list) out.push_back(required(expr, "a place in the cell"));
    return out;
}

stencil::Identifier identifier(const std::string& name) { return {checked_name(name)}; }

stencil::Identifier grid_name(const FieldOptions& options) {
    return options.grid.empty() ? stencil::Identifier{} : identifier(options.grid);
}

stencil::Precision precision(const FieldOptions& options) {
    return options.single_precision ? stencil::Precision::single_precision
                                    : stencil::Precision::double_precision;
}

std::vector<stencil::Equation> equations_of(const std::vector<Equation>& equations) {
    std::vector<stencil::Equation> out;
    for (const auto& equation : equations) {
        auto value = required(equation.value, "the value of an equation");
        if (equation.op == Equation::Op::let) {
            out.emplace_back(stencil::Temporary{identifier(equation.name), std::move(value)});
            continue;
        }
        auto target = lang::make_expr({}, lang::Name{checked_name(equation.name)});
        out.emplace_back(stencil::Assignment{std::move(target), static_cast<stencil::AssignOp>(equation.op),
                                             std::move(value)});
    }
    return out;
}

std::vector<stencil::PlaceRange> place_of(const Place& place) {
    std::vector<stencil::PlaceRange> out;
    for (const auto& range : place) out.push_back({required(range.first, "a place"), copy(range.last)});
    return out;
}

std::vector<stencil::Identifier> names_of(const std::vector<Field>& fields) {
    std::vector<stencil::Identifier> out;
    out.reserve(fields.size());
    for (const auto& field : fields) out.push_back(identifier(field.text()));
    return out;
}

} // namespace

struct Builder::Impl {
    stencil::Program program;

    void add(stencil::StatementNode node) { program.statements.push_back({{}, std::move(node)}); }

    void add_constant(bool parameter, const std::string& name, const Expr& value) {
        auto& statements = program.statements;
        auto* last = statements.empty() ? nullptr : std::get_if<stencil::Constants>(&statements.back().node);
        if (last == nullptr || last->parameters != parameter) {
            add(stencil::Constants{parameter, {}});
            last = &std::get<stencil::Constants>(statements.back().node);
        }
        last->list.push_back({identifier(name), required(value, "the value of a constant")});
    }
};

Builder::Builder(const std::string& name) : impl_(std::make_unique<Impl>()) {
    if (!name.empty()) impl_->add(stencil::ProgramName{identifier(name)});
}
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;
Builder::~Builder() = default;

Name Builder::param(const std::string& name, const Expr& value) {
    impl_->add_constant(true, name, value);
    return Name(name);
}

Name Builder::let(const std::string& name, const Expr& value) {
    impl_->add_constant(false, name, value);
    return Name(name);
}

void Builder::time(const TimeOptions& options) {
    stencil::TimeSettings settings;
    const auto add = [&](const char* word, const Expr& value) {
        if (value.empty()) return;
        auto& entry = settings.list.emplace_back();
        entry.name.text = word;
        entry.value = copy(value);
    };
    add("dt", options.dt);
    add("steps", options.steps);
    add("end", options.end);
    if (settings.list.empty()) throw InvalidArgument("time() sets nothing; give dt, steps or end");
    impl_->add(std::move(settings));
}

Name Builder::grid(const std::string& name, const std::vector<AxisSize>& axes, const Expr& sampling) {
    stencil::GridDecl grid{identifier(name), {}, copy(sampling)};
    for (const auto& axis : axes)
        grid.axes.push_back(
            {identifier(axis.axis), copy(axis.first), required(axis.last, "the size of an axis")});
    impl_->add(std::move(grid));
    return Name(name);
}

void Builder::declare_fields(const std::vector<std::string>& names, const FieldOptions& options) {
    stencil::FieldDecl field;
    for (const auto& name : names) field.names.push_back(identifier(name));
    field.grid = grid_name(options);
    field.stagger = copies(options.at);
    field.precision = precision(options);
    field.read_only = options.read_only;
    field.double_buffered = options.double_buffered;
    field.initial = copy(options.initial);
    impl_->add(std::move(field));
}

Field Builder::field(const std::string& name, const FieldOptions& options) {
    declare_fields({name}, options);
    return Field(name);
}

Field Builder::array(const std::string& name, const Name& axis, const Expr& value,
                     const FieldOptions& options) {
    impl_->add(stencil::ArrayDecl{identifier(name), identifier(axis.text()), grid_name(options),
                                  copies(options.at), precision(options),
                                  required(value, "the value of an array")});
    return Field(name);
}

Name Builder::subdomain(const std::string& name, const std::vector<Name>& coordinates, const Expr& condition,
                        const FieldOptions& options) {
    stencil::SubdomainDecl subdomain;
    subdomain.name = identifier(name);
    for (const auto& coordinate : coordinates) subdomain.coordinates.push_back(identifier(coordinate.text()));
    subdomain.grid = grid_name(options);
    subdomain.stagger = copies(options.at);
    subdomain.condition = required(condition, "the condition of a subdomain");
    impl_->add(std::move(subdomain));
    return Name(name);
}

Field Builder::coefficient(const std::string& name, const std::vector<CoefficientCase>& cases,
                           const FieldOptions& options) {
    stencil::CoefficientDecl coefficient{identifier(name), grid_name(options), precision(options), {}};
    for (const auto& one : cases)
        coefficient.cases.push_back({copy(one.where), required(one.value, "the value of a case"), {}});
    impl_->add(std::move(coefficient));
    return Field(name);
}

void Builder::boundary(const std::vector<Field>& fields, const std::vector<BoundaryAlong>& rules) {
    constexpr std::array kinds{stencil::Boundary::zero, stencil::Boundary::periodic,
                               stencil::Boundary::mirror, stencil::Boundary::clamp};
    stencil::BoundaryDecl boundary{names_of(fields), {}};
    for (const auto& rule : rules) {
        stencil::BoundaryRule out{kinds[static_cast<std::size_t>(rule.rule)], {}};
        for (const auto& axis : rule.axes) out.axes.push_back(identifier(axis));
        boundary.rules.push_back(std::move(out));
    }
    impl_->add(std::move(boundary));
}

Name Builder::update(const std::string& name, const Expr& on, const std::vector<Equation>& equations) {
    impl_->add(stencil::UpdateDecl{identifier(name), copy(on), equations_of(equations)});
    return Name(name);
}

Name Builder::source(const std::string& name, const Place& at, const std::vector<Equation>& equations) {
    impl_->add(stencil::SourceDecl{identifier(name), place_of(at), nullptr, equations_of(equations)});
    return Name(name);
}

Name Builder::source_on(const std::string& name, const Expr& on, const std::vector<Equation>& equations) {
    impl_->add(stencil::SourceDecl{
        identifier(name), {}, required(on, "the region of a source"), equations_of(equations)});
    return Name(name);
}

Name Builder::record(const std::string& name, const Expr& value, const RecordOptions& options) {
    impl_->add(stencil::RecordDecl{identifier(name), static_cast<stencil::Reduction>(options.reduce),
                                   required(value, "the value of a record"), copy(options.on),
                                   place_of(options.at), copy(options.every)});
    return Name(name);
}

void Builder::step(const std::vector<StepOf>& actions) {
    stencil::StepDecl step;
    for (const auto& action : actions) step.entries.push_back({identifier(action.name), copy(action.every)});
    impl_->add(std::move(step));
}

void Builder::output(const std::vector<Field>& fields, const OutputTimes& times) {
    impl_->add(stencil::OutputDecl{names_of(fields), copy(times.every), times.at_start, times.at_end});
}

std::string Builder::text() const { return to_text(impl_->program); }

StencilProgram Builder::program(const StencilParameters& parameters) const {
    return StencilProgram::from_text(text(), parameters, "program");
}

} // namespace farfield::stencil_builder
