// The lexer: layout first (lines, blocks, brackets), then tokens within a line.
#include "lang/lexer.h"

#include "lang/diagnostic_kinds.h"
#include "lang/token_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace farfield::lang {
namespace {

constexpr std::size_t most_brackets = 200;
constexpr std::size_t most_blocks = 50;
constexpr std::size_t longest_name = 64;

constexpr std::array<std::pair<std::string_view, TokenKind>, 24> operators{{
    {"//", TokenKind::floor_divide}, {"<=", TokenKind::less_equal},   {">=", TokenKind::greater_equal},
    {"==", TokenKind::equal},        {"!=", TokenKind::not_equal},    {"+=", TokenKind::plus_assign},
    {"-=", TokenKind::minus_assign}, {"*=", TokenKind::times_assign}, {"+", TokenKind::plus},
    {"-", TokenKind::minus},         {"*", TokenKind::times},         {"/", TokenKind::divide},
    {"%", TokenKind::remainder},     {"^", TokenKind::power},         {"<", TokenKind::less},
    {">", TokenKind::greater},       {"=", TokenKind::assign},        {",", TokenKind::comma},
    {":", TokenKind::colon},         {";", TokenKind::semicolon},     {"(", TokenKind::open_paren},
    {")", TokenKind::close_paren},   {"[", TokenKind::open_bracket},  {"]", TokenKind::close_bracket},
}};

class Lexer {
public:
    Lexer(const SourceText& source, std::span<const std::string_view> line_words, Diagnostics& diagnostics)
        : text_(source.text()), line_words_(line_words), diagnostics_(diagnostics) {
        if (source.was_cut())
            diagnostics_.report(kinds::too_long, std::nullopt,
                                fmt::format("the program is longer than {} bytes", SourceText::longest),
                                "put tables of numbers into files and read them with data(\"file.npy\")");
    }

    std::vector<Token> run() {
        if (!is_readable()) at_ = text_.size();
        while (at_ < text_.size() && !diagnostics_.full()) line();
        for (const auto& open : brackets_) report_open(open);
        end_line();
        while (blocks_.size() > 1) close_block();
        add(TokenKind::end, text_.size());
        return std::move(tokens_);
    }

private:
    // What is not text, or has no lines, gets one message instead of one for each character.
    bool is_readable() {
        constexpr auto none = std::string_view::npos;
        if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff"))
            diagnostics_.report(kinds::bad_character, std::nullopt, "the text is in UTF-16",
                                "save it as UTF-8");
        else if (const auto zero = text_.find('\0'); zero != none)
            report(kinds::bad_character, zero, zero + 1, "a zero byte stands here: the file is no text",
                   "give a program, saved as UTF-8");
        else if (const auto ending = text_.find('\r');
                 ending != none && text_.find('\n') == none && ending + 1 < text_.size())
            report(kinds::bad_character, ending, ending + 1, "the lines end with carriage returns alone",
                   "save it with the line ends of Unix (LF) or Windows (CRLF)");
        else
            return true;
        return false;
    }

    bool blank_rest(std::size_t i) const {
        while (i < text_.size() && (text_[i] == ' ' || text_[i] == '\t' || text_[i] == '\r')) ++i;
        return i >= text_.size() || text_[i] == '\n' || text_[i] == '#';
    }

    void line() {
        if (blank_rest(at_)) return skip_line();
        if (!brackets_.empty() && starts_statement()) {
            for (const auto& open : brackets_) report_open(open);
            brackets_.clear();
            end_line();
        }
        if (brackets_.empty()) indentation();
        while (at_ < text_.size() && text_[at_] != '\n' && !diagnostics_.full()) token();
        if (brackets_.empty()) end_line();
        if (at_ < text_.size()) ++at_;
    }

    void skip_line() {
        at_ = std::min(text_.find('\n', at_), text_.size());
        if (at_ < text_.size()) ++at_;
    }

    bool starts_statement() const {
        const auto first = text_.find_first_not_of(" \t", at_);
        auto last = first;
        while (last < text_.size() && continues_name(text_[last])) ++last;
        const auto word = text_.substr(first, last - first);
        return std::find(line_words_.begin(), line_words_.end(), word) != line_words_.end();
    }

    void indentation() {
        const auto begin = at_;
        std::size_t width = 0;
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) {
            width += text_[at_] == '\t' ? 4 : 1;
            ++at_;
        }
        if (text_.substr(begin, at_ - begin).find('\t') != std::string_view::npos && !reported_tab_) {
            reported_tab_ = true; // once: they never come alone
            report(kinds::tab, begin, at_, "this line is indented with a tab",
                   "indent with blanks; most editors can replace all tabs at once");
        }
        if (blocks_.empty()) blocks_.push_back(width); // the first line decides where the program starts
        if (width > blocks_.back())
            open_block(width);
        else
            close_blocks(begin, width);
    }

    void open_block(std::size_t width) {
        if (blocks_.size() >= most_blocks) {
            report(kinds::bad_indentation, at_, at_ + 1, "blocks are nested too deeply",
                   "a program needs one level of blocks");
            return;
        }
        blocks_.push_back(width);
        add(TokenKind::indent, at_);
    }

    void close_blocks(std::size_t begin, std::size_t width) {
        std::string columns;
        for (const auto block : blocks_)
            columns += fmt::format("{}{}", columns.empty() ? "" : " or ", block + 1);
        while (blocks_.size() > 1 && width < blocks_.back()) close_block();
        if (width == blocks_.back()) return;
        report(kinds::bad_indentation, begin, at_,
               fmt::format("this line starts in column {}, where no block does", width + 1),
               fmt::format("start it in column {}, as lines above it do", columns));
    }

    void close_block() {
        blocks_.pop_back();
        add(TokenKind::dedent, at_);
    }

    void end_line() {
        if (!tokens_.empty() && tokens_.back().kind != TokenKind::newline &&
            tokens_.back().kind != TokenKind::indent && tokens_.back().kind != TokenKind::dedent)
            add(TokenKind::newline, at_);
    }

    void token() {
        const char c = text_[at_];
        if (c == ' ' || c == '\t' || c == '\r') {
            ++at_;
        } else if (c == '#') {
            at_ = std::min(text_.find('\n', at_), text_.size());
        } else if (starts_name(c)) {
            name();
        } else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
            number();
        } else if (c == '"' || c == '\'') {
            string(c);
        } else {
            symbol();
        }
    }

    void name() {
        const auto begin = at_;
        while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
        add(TokenKind::identifier, begin);
        if (at_ - begin <= longest_name) return;
        report(kinds::too_long, begin, at_, fmt::format("a name of {} characters is too long", at_ - begin),
               fmt::format("names have at most {} characters", longest_name));
        tokens_.back().span.end = static_cast<std::uint32_t>(begin + longest_name);
    }

    void number() {
        const auto begin = at_;
        at_ = end_of_number(text_, at_);
        auto read = read_number(text_.substr(begin, at_ - begin));
        read.token.span = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)};
        if (!read.problem.empty()) report(kinds::bad_number, begin, at_, read.problem, read.remedy);
        tokens_.push_back(read.token);
    }

    void string(char quote) {
        const auto begin = at_++;
        while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') ++at_;
        if (at_ < text_.size() && text_[at_] == quote)
            ++at_;
        else
            report(kinds::unterminated_string, begin, at_,
                   "the text that starts here does not end on its line",
                   fmt::format("close it with {}", quote));
        add(TokenKind::string, begin);
    }

    void symbol() {
        for (const auto& [text, kind] : operators) {
            if (!text_.substr(at_).starts_with(text)) continue;
            const auto begin = at_;
            at_ += text.size();
            if (brackets_allow(kind, begin)) add(kind, begin);
            return;
        }
        const auto begin = at_++;
        while (at_ < text_.size() && (static_cast<unsigned char>(text_[at_]) & 0xC0U) == 0x80U) ++at_;
        const auto [message, remedy] = about_character(text_.substr(begin, at_ - begin));
        report(kinds::bad_character, begin, at_, message, remedy);
    }

    // Keeps the stack of open brackets; false where the token is to be left out.
    bool brackets_allow(TokenKind kind, std::size_t begin) {
        if (kind == TokenKind::open_paren || kind == TokenKind::open_bracket) {
            if (brackets_.size() < most_brackets) {
                brackets_.emplace_back(kind, static_cast<std::uint32_t>(begin));
                return true;
            }
            report(kinds::too_deep, begin, at_,
                   fmt::format("more than {} brackets are open here", most_brackets),
                   "name parts of the expression with let");
            brackets_.clear();
            at_ = text_.size();
            return false;
        }
        if (kind != TokenKind::close_paren && kind != TokenKind::close_bracket) return true;
        const auto partner = kind == TokenKind::close_paren ? TokenKind::open_paren : TokenKind::open_bracket;
        if (!brackets_.empty() && brackets_.back().first == partner) {
            brackets_.pop_back();
            return true;
        }
        auto& stray =
            report(kinds::unbalanced_bracket, begin, at_, fmt::format("'{}' closes nothing", name_of(kind)),
                   brackets_.empty() ? std::string("remove it, or open it before")
                                     : fmt::format("close '{}' first", name_of(brackets_.back().first)));
        if (!brackets_.empty())
            stray.notes.push_back({"the bracket that is open", span_at(brackets_.back().second)});
        return false;
    }

    void report_open(const std::pair<TokenKind, std::uint32_t>& open) {
        diagnostics_.report(
            kinds::unbalanced_bracket, span_at(open.second),
            fmt::format("'{}' is never closed", name_of(open.first)),
            fmt::format("add '{}' where it ends", open.first == TokenKind::open_paren ? ")" : "]"));
    }

    static Span span_at(std::uint32_t offset) { return {offset, offset + 1}; }

    void add(TokenKind kind, std::size_t begin) {
        Token token;
        token.kind = kind;
        token.span = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(std::max(begin, at_))};
        tokens_.push_back(token);
    }

    Diagnostic& report(const DiagnosticKind& kind, std::size_t begin, std::size_t end, std::string message,
                       std::string remedy) {
        return diagnostics_.report(kind,
                                   Span{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)},
                                   std::move(message), std::move(remedy));
    }

    std::string_view text_;
    std::span<const std::string_view> line_words_;
    Diagnostics& diagnostics_;
    std::size_t at_ = 0;
    std::vector<Token> tokens_;
    std::vector<std::size_t> blocks_; // the columns of the open blocks
    std::vector<std::pair<TokenKind, std::uint32_t>> brackets_;
    bool reported_tab_ = false;
};

} // namespace

std::vector<Token> tokenize(const SourceText& source, std::span<const std::string_view> line_words,
                            Diagnostics& diagnostics) {
    return Lexer(source, line_words, diagnostics).run();
}

std::string to_text(std::span<const Token> tokens, const SourceText& source) {
    std::string out;
    std::uint32_t at = 0; // of the token before: columns are counted from there, as a line may be long
    Place place;
    for (const auto& token : tokens) {
        const auto between = source.text({at, token.span.begin});
        const auto line_end = between.rfind('\n');
        place.line += static_cast<int>(std::count(between.begin(), between.end(), '\n'));
        place.column = line_end == std::string_view::npos ? place.column + character_count(between)
                                                          : 1 + character_count(between.substr(line_end + 1));
        at = token.span.begin;
        const bool layout = token.kind >= TokenKind::newline;
        const auto kind = kind_text(token.kind);
        out += layout ? fmt::format("{:4}:{:<4} {}\n", place.line, place.column, kind)
                      : fmt::format("{:4}:{:<4} {:<12} {}\n", place.line, place.column, kind,
                                    source.text(token.span));
    }
    return out;
}

} // namespace farfield::lang
