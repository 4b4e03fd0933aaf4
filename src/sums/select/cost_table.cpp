#include "sums/select/cost_table.h"

#include <farfield/error.h>

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>

namespace farfield {
namespace {

constexpr std::string_view placeholder = "MODEL";

std::uint64_t fnv1a(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3U;
    }
    return hash;
}

// The shortest text that brings back the same bits, always with an exponent: 5.8e+09.
std::string shortest(double value) {
    std::array<char, 32> buffer{};
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
    return {buffer.data(), end.ptr};
}

// True where `words` stand side by side in `name`; both are words with '_' between.
bool has_words(std::string_view name, std::string_view words) {
    return fmt::format("_{}_", name).find(fmt::format("_{}_", words)) != std::string::npos;
}

} // namespace

CostTable overlaid(CostTable base, const CostTable& other) {
    for (const auto& [name, value] : other.costs) base.costs[name] = value;
    return base;
}

std::string to_text(const CostTable& table) {
    std::string out;
    for (const auto& [name, value] : table.costs) out += fmt::format("{} = {}\n", name, shortest(value));
    return out;
}

std::string hash_of(const CostTable& table) { return fmt::format("{:016x}", fnv1a(to_text(table))); }

std::string cost_word(std::string_view name) {
    std::string out(name);
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')) c = '_';
    }
    return out;
}

std::string of_model(std::string_view pattern, std::string_view model) {
    std::string out(pattern);
    return out.replace(out.find(placeholder), placeholder.size(), model);
}

double cost_of(const CostTable& table, std::string_view name) {
    const auto found = table.costs.find(name);
    if (found == table.costs.end()) throw InternalError(fmt::format("the cost table has no '{}'", name));
    return found->second;
}

double cost_of_gpu(const CostTable& table, std::string_view pattern, std::string_view gpu_name) {
    const auto prefix = pattern.substr(0, pattern.find(placeholder));
    const auto suffix = pattern.substr(prefix.size() + placeholder.size());
    const auto name = cost_word(gpu_name);
    std::string_view best = "generic";
    std::size_t best_length = 0;
    for (const auto& [key, value] : table.costs) {
        const std::string_view coefficient = key;
        if (!coefficient.starts_with(prefix) || !coefficient.ends_with(suffix) ||
            coefficient.size() < prefix.size() + suffix.size())
            continue;
        const auto model =
            coefficient.substr(prefix.size(), coefficient.size() - prefix.size() - suffix.size());
        if (model.size() > best_length && model.find('.') == std::string_view::npos &&
            has_words(name, model)) {
            best = model;
            best_length = model.size();
        }
    }
    return cost_of(table, of_model(pattern, best));
}

} // namespace farfield
