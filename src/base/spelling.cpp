#include "base/spelling.h"

#include <atomic>

namespace farfield {
namespace {

// As a member of `SumOptions`.
std::string as_member(std::string_view option, std::string_view value) {
    std::string out(option);
    return value.empty() ? out : out.append(" = ").append(value);
}

std::atomic<OptionSpelling> spelling_in_use = as_member;

} // namespace

OptionSpelling spell_options(OptionSpelling spelling) { return spelling_in_use.exchange(spelling); }

std::string spelled(std::string_view option, std::string_view value) {
    return spelling_in_use.load()(option, value);
}

} // namespace farfield
