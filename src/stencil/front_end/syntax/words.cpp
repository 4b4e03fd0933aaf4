// Tables of words.
#include "stencil/front_end/syntax/words.h"

#include "lang/expression_parser.h"

#include <algorithm>
#include <array>

namespace farfield::stencil {
namespace {

constexpr std::array<std::string_view, 14> statements{
    "program",   "param",       "let",    "time",   "grid",     "field",  "array",
    "subdomain", "coefficient", "update", "source", "boundary", "record", "output"};
constexpr std::array<std::string_view, 2> precisions{"double", "float"};
constexpr std::array<std::string_view, 5> boundaries{"none", "zero", "periodic", "mirror", "clamp"};
constexpr std::array<std::string_view, 5> reductions{"value", "sum", "mean", "max", "min"};
constexpr std::array<std::string_view, 4> assignments{"=", "+=", "-=", "*="};

struct Reason {
    std::string_view word;
    std::string_view reason;
};
constexpr std::array<Reason, 23> reasons{{
    {"x", "is a coordinate"},
    {"y", "is a coordinate"},
    {"z", "is a coordinate"},
    {"X", "is the physical coordinate along x"},
    {"Y", "is the physical coordinate along y"},
    {"Z", "is the physical coordinate along z"},
    {"dx", "is the width of a cell along x, which 'sampling' sets"},
    {"dy", "is the width of a cell along y, which 'sampling' sets"},
    {"dz", "is the width of a cell along z, which 'sampling' sets"},
    {"t", "is the time at the start of a step"},
    {"dt", "is the length of a step; set it with 'time dt = …'"},
    {"step", "is the number of the step"},
    {"pi", "is 3.14159…"},
    {"interior", "is the region where every access of an update exists"},
    {"everywhere", "is the whole grid"},
    {"where", "is a function"},
    {"on", "belongs to statements"},
    {"at", "belongs to statements"},
    {"of", "belongs to statements"},
    {"to", "belongs to statements"},
    {"every", "belongs to statements"},
    {"in", "belongs to statements"},
    {"elsewhere", "belongs to coefficients"},
}};

constexpr std::array<Reason, 14> advice{{
    {"const", "constants are declared with 'let'"},
    {"parameter", "parameters are declared with 'param'"},
    {"parameters", "parameters are declared with 'param'"},
    {"var", "fields are declared with 'field', constants with 'let', temporaries with 'let' in an update"},
    {"float", "write: field NAME on GRID : float"},
    {"double", "write: field NAME on GRID : double"},
    {"int", "write: let NAME = VALUE"},
    {"real", "write: let NAME = VALUE"},
    {"for", "an update applies to all cells of its subdomain; 'step:' says in which order updates run"},
    {"while", "a condition for each cell is a subdomain, or 'if c then a else b'"},
    {"if", "a condition for each cell is a subdomain, or 'if c then a else b' within an equation"},
    {"material", "values that depend on subdomains are declared with 'coefficient'"},
    {"domain", "regions are declared with 'subdomain'"},
    {"region", "regions are declared with 'subdomain'"},
}};

template <class Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& table, std::string_view word,
                         std::size_t first = 0) {
    for (auto i = first; i < N; ++i)
        if (table[i] == word) return static_cast<Enum>(i);
    return std::nullopt;
}

} // namespace

std::span<const std::string_view> statement_words() { return statements; }

bool opens_statement(std::string_view word) {
    return std::find(statements.begin(), statements.end(), word) != statements.end();
}

std::string_view reserved_because(std::string_view word) {
    if (opens_statement(word)) return "opens a statement";
    if (lang::is_expression_word(word)) return "belongs to expressions";
    for (const auto& known : reasons)
        if (known.word == word) return known.reason;
    return {};
}

std::string_view statement_advice(std::string_view word) {
    for (const auto& known : advice)
        if (known.word == word) return known.reason;
    return {};
}

std::string_view name_of(Precision precision) { return precisions[static_cast<std::size_t>(precision)]; }
std::string_view name_of(Boundary boundary) { return boundaries[static_cast<std::size_t>(boundary)]; }
std::string_view name_of(Reduction reduction) { return reductions[static_cast<std::size_t>(reduction)]; }
std::string_view name_of(AssignOp op) { return assignments[static_cast<std::size_t>(op)]; }
std::span<const std::string_view> precision_names() { return precisions; }
std::span<const std::string_view> boundary_names() { return std::span(boundaries).subspan(1); }
std::optional<Precision> precision_of(std::string_view word) { return find<Precision>(precisions, word); }
std::optional<Boundary> boundary_of(std::string_view word) { return find<Boundary>(boundaries, word, 1); }
std::optional<Reduction> reduction_of(std::string_view word) { return find<Reduction>(reductions, word, 1); }

int axis_of(std::string_view word) {
    return word.size() == 1 && word[0] >= 'x' && word[0] <= 'z' ? word[0] - 'x' : -1;
}

} // namespace farfield::stencil
