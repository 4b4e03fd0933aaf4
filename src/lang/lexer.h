// Cuts a program into tokens. Blocks are indented with blanks; inside brackets lines continue; `#` starts a
// remark that ends with the line.
#pragma once

#include "lang/diagnostics.h"
#include "lang/token.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace farfield::lang {

/// `line_words` open statements and are no names: one at the start of a line closes brackets that were
/// forgotten, so that a missing bracket costs one statement and not the rest of the program.
///
/// Whatever the text, tokens come back: newlines, indents and dedents balanced, `end` last. What could not be
/// read is reported and left out.
std::vector<Token> tokenize(const SourceText& source, std::span<const std::string_view> line_words,
                            Diagnostics& diagnostics);

/// One token a line with its place: what `explain --after lex` shows.
std::string to_text(std::span<const Token> tokens, const SourceText& source);

} // namespace farfield::lang
