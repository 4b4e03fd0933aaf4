// From the text of a program to its model: lexer, parser, check.
#pragma once

#include "lang/diagnostics.h"
#include "lang/token.h"
#include "stencil/front_end/check/check.h"
#include "stencil/front_end/model/model.h"

#include <string>
#include <string_view>
#include <vector>

namespace farfield::stencil {

/// The stages after which a program can be shown.
enum class Stage : std::uint8_t { lex, parse, names };

class FrontEnd {
public:
    /// Runs all stages. Mistakes of the program are in `diagnostics`; nothing is thrown for them.
    /// @param name what messages call the text.
    FrontEnd(std::string name, std::string text, const std::vector<ParameterValue>& parameters = {});
    FrontEnd(const FrontEnd&) = delete;
    FrontEnd& operator=(const FrontEnd&) = delete;

    bool good() const { return !diagnostics_.has_errors(); }
    const lang::Diagnostics& diagnostics() const { return diagnostics_; }
    /// For the stages behind, which add theirs.
    lang::Diagnostics& diagnostics() { return diagnostics_; }
    /// Complete where good().
    const Model& model() const { return model_; }
    Model& model() { return model_; }
    /// What the program is after a stage, for people.
    std::string explain(Stage stage) const;

private:
    lang::SourceText source_;
    lang::Diagnostics diagnostics_;
    std::vector<lang::Token> tokens_;
    Model model_;
};

} // namespace farfield::stencil
