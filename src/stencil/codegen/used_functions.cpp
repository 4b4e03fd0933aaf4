// Cuts a text into declarations by its braces and follows names. It reads our own texts, not any C++.
#include "stencil/codegen/used_functions.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

namespace farfield::stencil::codegen {
namespace {

using Names = std::set<std::string, std::less<>>;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Nor lines of the preprocessor, but for definitions.
std::string without_conditions(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
        const auto line = text.substr(at, end - at);
        if (!line.starts_with('#') || line.starts_with("#define")) out += line;
        at = end;
    }
    return out;
}

std::string without_remarks(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i, 2) == "//") i = std::min(text.find('\n', i), text.size());
        if (i < text.size()) out += text[i];
    }
    return out;
}

// The words of a text; with a prefix only those behind it.
Names words_of(std::string_view text, std::string_view prefix = {}) {
    Names out;
    for (std::size_t i = 0; i < text.size();) {
        if (!is_word(text[i])) {
            ++i;
            continue;
        }
        auto end = i;
        while (end < text.size() && is_word(text[end])) ++end;
        if (text.substr(0, i).ends_with(prefix)) out.emplace(text.substr(i, end - i));
        i = end;
    }
    return out;
}

// A namespace's first or last line, or a declaration.
struct Piece {
    std::string text;
    bool opens = false;
    bool closes = false;
    std::string name; ///< what it declares
    std::string type; ///< of which it is a specialisation: "float" of `struct Format<float>`
    Names mentions;
    bool used = false;
};

// "horner" of "template <class V> FF_HD V horner(V z, …", "Pair" of "struct Pair {", "X" of "#define X 1".
std::string declared(std::string_view code) {
    const auto word_at = [&](std::size_t i) {
        while (i < code.size() && !is_word(code[i])) ++i;
        auto end = i;
        while (end < code.size() && is_word(code[end])) ++end;
        return std::string(code.substr(i, end - i));
    };
    const auto head = code.substr(0, code.find_first_of("{;"));
    for (const std::string_view word : {"#define ", "struct ", "using "}) {
        auto at = head.find(word);
        if (at == std::string_view::npos) continue;
        at += word.size();
        if (head.substr(at).starts_with("alignas")) at = head.find(") ", at) + 1;
        return word_at(at);
    }
    auto end = head.find_first_of("([=", head.starts_with("template") ? head.find('>') : 0);
    while (end != std::string_view::npos && end > 0 && !is_word(head[end - 1])) --end;
    if (end == std::string_view::npos) return {};
    auto begin = end;
    while (begin > 0 && is_word(head[begin - 1])) --begin;
    return std::string(head.substr(begin, end - begin));
}

// What a declaration mentions; the members that a struct declares are not what others call so.
Names mentions_of(std::string_view code) {
    auto out = words_of(code);
    constexpr std::string_view member = "FF_HD static ";
    for (auto at = code.find(member); at != std::string_view::npos; at = code.find(member, at + 1))
        out.erase(declared(code.substr(at)));
    return out;
}

std::string specialised(std::string_view code) {
    if (!code.starts_with("template <>")) return {};
    const auto head = code.substr(0, code.find('{'));
    if (head.find("<float>") != std::string_view::npos) return "float";
    return head.find("<double>") != std::string_view::npos ? "double" : "";
}

std::vector<Piece> pieces_of(std::string_view library) {
    std::vector<Piece> pieces;
    Piece piece;
    int depth = 0;
    int conditions = 0;
    const auto finish = [&] {
        const auto code = without_remarks(piece.text);
        const auto first = code.find_first_not_of(" \n");
        if (first == std::string::npos) return; // remarks of what follows
        const auto declaration = std::string_view(code).substr(first);
        piece.name = declared(without_conditions(declaration));
        piece.type = specialised(declaration);
        piece.mentions = mentions_of(declaration);
        pieces.push_back(std::move(piece));
        piece = {};
    };
    for (std::size_t at = 0; at < library.size();) {
        const auto end = std::min(library.find('\n', at), library.size() - 1) + 1;
        const auto line = library.substr(at, end - at);
        at = end;
        const auto code = without_remarks(line);
        piece.text += line;
        if (depth == 0 && line.starts_with("namespace")) {
            piece.opens = true;
            pieces.push_back(std::move(piece));
            piece = {};
            continue;
        }
        if (depth == 0 && line.starts_with("} // namespace")) {
            piece.closes = true;
            pieces.push_back(std::move(piece));
            piece = {};
            continue;
        }
        conditions += code.starts_with("#if") ? 1 : code.starts_with("#endif") ? -1 : 0;
        depth += static_cast<int>(std::count(code.begin(), code.end(), '{') -
                                  std::count(code.begin(), code.end(), '}'));
        const auto last = code.find_last_not_of(" \n");
        const bool ends = last != std::string::npos && (code[last] == '}' || code[last] == ';');
        if (depth == 0 && conditions == 0 && (ends || code.starts_with('#'))) finish();
    }
    finish();
    return pieces;
}

} // namespace

std::string used_functions(std::string_view library, std::string_view code, std::string_view prefix) {
    auto pieces = pieces_of(library);
    const auto plain = without_remarks(code);
    auto wanted = words_of(plain, prefix);
    const bool floats = words_of(plain).contains("float");
    for (bool more = true; more;) {
        more = false;
        for (auto& piece : pieces) {
            if (piece.used || !wanted.contains(piece.name) || (piece.type == "float" && !floats)) continue;
            piece.used = more = true;
            wanted.insert(piece.mentions.begin(), piece.mentions.end());
        }
    }
    std::string out;
    std::string open; // the first line of a namespace of which nothing was kept so far
    bool kept = false;
    for (const auto& piece : pieces) {
        if (piece.opens) {
            // Remarks above a namespace tell of all that is in it.
            open = piece.text.substr(piece.text.find("namespace "));
            kept = false;
        } else if (piece.closes) {
            if (kept) out += piece.text;
            open.clear();
            kept = false;
        } else if (piece.used) {
            if (!kept) out += open;
            kept = true;
            out += piece.text;
        }
    }
    return out;
}

} // namespace farfield::stencil::codegen
