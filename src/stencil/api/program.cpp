// StencilProgram: texts and files through the front end.
#include "stencil/api/program_data.h"

#include "base/names.h"
#include "io/file.h"
#include "stencil/front_end/syntax/printer.h"

#include <fmt/format.h>

#include <cmath>

namespace farfield {
namespace {

constexpr NameTable<6> mask_names{"auto", "none", "select", "branch", "spans", "multiply"};

std::vector<stencil::ParameterValue> values_of(const StencilParameters& parameters) {
    std::vector<stencil::ParameterValue> out;
    for (const auto& parameter : parameters) {
        const auto* real = std::get_if<double>(&parameter.value);
        if (real != nullptr && !std::isfinite(*real))
            throw InvalidArgument(fmt::format("the parameter {} = {} is not finite; give it a finite number",
                                              parameter.name, *real));
        std::erase_if(out, [&](const auto& other) { return other.name == parameter.name; });
        out.push_back({parameter.name, parameter.value}); // the last one counts
    }
    return out;
}

lang::ExprPtr literal(const lang::Value& value) {
    const auto negated = [](lang::ExprPtr operand) {
        return lang::make_expr({}, lang::Unary{lang::UnaryOp::negate, std::move(operand)});
    };
    if (const auto* truth = std::get_if<bool>(&value))
        return lang::make_expr({}, lang::BooleanLiteral{*truth});
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        if (*whole >= 0) return lang::make_expr({}, lang::IntegerLiteral{*whole});
        return negated(lang::make_expr({}, lang::IntegerLiteral{-*whole}));
    }
    const double real = std::get<double>(value);
    if (!std::signbit(real)) return lang::make_expr({}, lang::RealLiteral{real});
    return negated(lang::make_expr({}, lang::RealLiteral{-real}));
}

void bind(stencil::Constants& constants, const stencil::Model& model) {
    if (!constants.parameters) return;
    for (auto& entry : constants.list)
        for (const auto& constant : model.constants)
            if (constant.name == entry.name.text) entry.value = literal(constant.value);
}

} // namespace

FF_DEFINE_ENUM_NAMES(StencilMask, mask_names)

StencilParameter stencil_parameter(std::string_view assignment) {
    auto parsed = stencil::parse_parameter(assignment);
    return std::visit([&](const auto& value) { return StencilParameter(std::move(parsed.name), value); },
                      parsed.value);
}

void require_good(const lang::Diagnostics& diagnostics) {
    if (!diagnostics.has_errors()) return;
    const auto n = diagnostics.errors();
    throw StencilError(lang::to_text(diagnostics),
                       fmt::format("{}: {} error{}", diagnostics.source().name(), n, n == 1 ? "" : "s"));
}

StencilProgram::Data::Data(std::string source_name, std::string source_text,
                           const std::vector<stencil::ParameterValue>& replaced)
    : source(std::move(source_text)), parameters(replaced),
      front(std::move(source_name), source, parameters) {
    require_good(front.diagnostics());
    warnings = lang::to_text(front.diagnostics());
}

std::int64_t steps_until(double end, double dt) {
    const double steps = end / dt;
    constexpr double limit = 0x1p63;
    if (!(steps < limit))
        throw InvalidArgument(
            fmt::format("the end t = {:g} is {:.3g} steps of length {:g} away, more than can "
                        "be counted; make the end earlier",
                        end, steps, dt));
    return static_cast<std::int64_t>(std::ceil(steps - 1e-9 * std::max(1.0, std::abs(steps))));
}

std::optional<std::int64_t> steps_of(const stencil::Model& model) {
    if (model.steps) return model.steps;
    if (model.end) return steps_until(*model.end, model.dt);
    return std::nullopt;
}

std::string deciding_text(const stencil::Model& model) {
    stencil::Program program;
    // The text is parsed once more because statements cannot be copied.
    stencil::FrontEnd copy("", to_text(model.program));
    auto& statements = copy.model().program.statements;
    for (auto& statement : statements) {
        if (auto* constants = std::get_if<stencil::Constants>(&statement.node)) bind(*constants, model);
        if (auto* time = std::get_if<stencil::TimeSettings>(&statement.node)) {
            std::erase_if(time->list, [](const auto& entry) { return entry.name.text != "dt"; });
            if (time->list.empty()) continue;
        }
        program.statements.push_back(std::move(statement));
    }
    return to_text(program);
}

StencilProgram StencilProgram::from_text(std::string text, const StencilParameters& parameters,
                                         const std::string& name, const std::filesystem::path& folder) {
    auto data = std::make_shared<Data>(name, std::move(text), values_of(parameters));
    data->name =
        data->model().name.empty() ? std::filesystem::path(name).stem().string() : data->model().name;
    data->folder = folder;
    return StencilProgram(std::move(data));
}

StencilProgram StencilProgram::from_file(const std::filesystem::path& path,
                                         const StencilParameters& parameters) {
    const auto bytes = read_file(path, lang::SourceText::longest + 4); // more is refused there
    return from_text(std::string(as_text(bytes)), parameters, path.string(), path.parent_path());
}

const std::string& StencilProgram::name() const { return data_->name; }
const std::filesystem::path& StencilProgram::folder() const { return data_->folder; }
const std::string& StencilProgram::warnings() const { return data_->warnings; }
std::string StencilProgram::text() const { return to_text(data_->model().program); }
double StencilProgram::dt() const { return data_->model().dt; }
std::optional<std::int64_t> StencilProgram::steps() const { return steps_of(data_->model()); }

StencilParameters StencilProgram::parameters() const {
    StencilParameters out;
    for (const auto& constant : data_->model().constants)
        if (constant.parameter)
            std::visit([&](const auto& value) { out.emplace_back(constant.name, value); }, constant.value);
    return out;
}

StencilParameters StencilProgram::given_parameters() const {
    StencilParameters out;
    for (const auto& parameter : data_->parameters)
        std::visit([&](const auto& value) { out.emplace_back(parameter.name, value); }, parameter.value);
    return out;
}

StencilProgram StencilProgram::with(const StencilParameters& parameters) const {
    auto all = given_parameters();
    all.insert(all.end(), parameters.begin(), parameters.end());
    return from_text(data_->source, all, data_->front.diagnostics().source().name(), data_->folder);
}

std::vector<std::string> StencilProgram::fields() const {
    std::vector<std::string> names;
    for (const auto& field : data_->model().fields) names.push_back(field.name);
    return names;
}

std::vector<std::string> StencilProgram::records() const {
    std::vector<std::string> names;
    for (const auto& record : data_->model().records) names.push_back(record.name);
    return names;
}

} // namespace farfield
