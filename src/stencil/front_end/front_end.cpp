// The stages of the front end in their order.
#include "stencil/front_end/front_end.h"

#include "lang/lexer.h"
#include "stencil/front_end/model/describe.h"
#include "stencil/front_end/syntax/parser.h"
#include "stencil/front_end/syntax/printer.h"
#include "stencil/front_end/syntax/words.h"

#include <utility>

namespace farfield::stencil {

FrontEnd::FrontEnd(std::string name, std::string text, const std::vector<ParameterValue>& parameters)
    : source_(std::move(name), std::move(text)), diagnostics_(source_) {
    tokens_ = lang::tokenize(source_, statement_words(), diagnostics_);
    auto program = parse_program(tokens_, diagnostics_);
    model_ = check_program(std::move(program), parameters, diagnostics_);
}

std::string FrontEnd::explain(Stage stage) const {
    switch (stage) {
    case Stage::lex:
        return lang::to_text(tokens_, source_);
    case Stage::parse:
        return to_text(model_.program, lang::Brackets::all);
    default:
        return describe(model_);
    }
}

} // namespace farfield::stencil
