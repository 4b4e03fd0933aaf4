// The lines of interest look like
//     \t\tFunction : MANGLED_NAME
//         /*0330*/              @!P0 BRA 0x240 ;
// and a loop is what lies between a branch and an earlier address that it goes to.
#include "studies/sass.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace farfield {
namespace {

struct Instruction {
    unsigned address = 0;
    std::string opcode;               ///< with its suffixes, without the predicate
    std::optional<unsigned> target{}; ///< of a branch
};

std::optional<unsigned> hexadecimal(std::string_view text) {
    unsigned value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (result.ec != std::errc() || result.ptr == text.data()) return std::nullopt;
    return value;
}

std::string_view next_word(std::string_view& rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    const auto word = rest.substr(0, rest.find_first_of(" ;"));
    rest.remove_prefix(word.size());
    return word;
}

std::optional<Instruction> instruction_of(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with("/*")) return std::nullopt;
    const auto address = hexadecimal(line.substr(2));
    const auto end = line.find("*/");
    if (!address || end == std::string_view::npos) return std::nullopt;
    auto rest = line.substr(end + 2);
    auto word = next_word(rest);
    if (word.starts_with('@')) word = next_word(rest);
    if (word.empty()) return std::nullopt; // the second half of an encoding
    Instruction found{*address, std::string(word)};
    if (word == "BRA" || word.starts_with("BRA."))
        if (const auto at = rest.find("0x"); at != std::string_view::npos)
            found.target = hexadecimal(rest.substr(at + 2));
    return found;
}

bool is_root(const Instruction& instruction) { return instruction.opcode.starts_with("MUFU.RSQ"); }

bool is_double(const Instruction& instruction) {
    for (const std::string_view name : {"DADD", "DMUL", "DFMA", "DSETP", "DMNMX"})
        if (instruction.opcode.starts_with(name)) return true;
    return false;
}

struct Range {
    unsigned first, last;
    friend bool operator==(const Range&, const Range&) = default;
};

// One for each address that is jumped back to: `continue` and the loop's end go to the same place.
std::vector<Range> loops_of(const std::vector<Instruction>& code) {
    std::map<unsigned, unsigned> end_of;
    for (const auto& instruction : code)
        if (instruction.target && *instruction.target < instruction.address)
            end_of[*instruction.target] = std::max(end_of[*instruction.target], instruction.address);
    std::vector<Range> loops;
    loops.reserve(end_of.size());
    for (const auto& [first, last] : end_of) loops.push_back({first, last});
    return loops;
}

LoopCount counted(const std::vector<Instruction>& code, const Range& loop) {
    LoopCount count;
    for (const auto& instruction : code) {
        if (instruction.address < loop.first || instruction.address > loop.last ||
            instruction.opcode == "NOP")
            continue;
        ++count.instructions;
        count.roots += is_root(instruction) ? 1 : 0;
        count.special += instruction.opcode.starts_with("MUFU") ? 1 : 0;
        count.doubles += is_double(instruction) ? 1 : 0;
    }
    return count;
}

// Those that hold no other of them.
std::vector<Range> innermost(const std::vector<Range>& loops) {
    std::vector<Range> found;
    for (const auto& outer : loops)
        if (std::none_of(loops.begin(), loops.end(), [&](const Range& inner) {
                return inner != outer && inner.first >= outer.first && inner.last <= outer.last;
            }))
            found.push_back(outer);
    return found;
}

std::vector<LoopCount> pair_loops_of(const std::vector<Instruction>& code) {
    auto loops = loops_of(code);
    std::erase_if(loops, [&](const Range& loop) { return counted(code, loop).roots == 0; });
    std::vector<LoopCount> found;
    for (const auto& loop : innermost(loops)) found.push_back(counted(code, loop));
    std::sort(found.begin(), found.end(), [](const LoopCount& a, const LoopCount& b) {
        return a.roots != b.roots ? a.roots > b.roots : a.instructions < b.instructions;
    });
    return found;
}

bool starts_with_any(std::string_view opcode, std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(), [&](auto name) { return opcode.starts_with(name); });
}

int flop_of(std::string_view opcode) {
    if (starts_with_any(opcode, {"FFMA", "DFMA"})) return 2;
    return starts_with_any(opcode, {"FADD", "FMUL", "DADD", "DMUL", "MUFU"}) ? 1 : 0;
}

bool is_integer(std::string_view opcode) {
    if (opcode.starts_with("IMAD.MOV")) return false;
    if (opcode.starts_with('U')) opcode.remove_prefix(1); // of a whole warp
    return starts_with_any(opcode, {"IADD", "IMAD", "IMUL", "ISETP", "IABS", "IMNMX", "IDP", "ISCADD", "LEA",
                                    "LOP3", "SHF", "SHL", "SHR", "VIADD", "VIMNMX", "POPC", "FLO", "SGXT"});
}

InstructionMix mix_of(const std::vector<Instruction>& code, const Range& range) {
    InstructionMix mix;
    for (const auto& instruction : code) {
        if (instruction.address < range.first || instruction.address > range.last ||
            instruction.opcode == "NOP")
            continue;
        ++mix.instructions;
        mix.flop += flop_of(instruction.opcode);
        mix.integers += is_integer(instruction.opcode) ? 1 : 0;
    }
    return mix;
}

InstructionMix main_mix_of(const std::vector<Instruction>& code) {
    InstructionMix most;
    for (const auto& loop : innermost(loops_of(code)))
        if (const auto mix = mix_of(code, loop); mix.flop > most.flop) most = mix;
    return most.flop > 0 ? most : mix_of(code, {code.front().address, code.back().address});
}

// Hands over each kernel's name and code.
template <class Use>
void for_each_kernel(std::istream& disassembly, const Use& use) {
    constexpr std::string_view mark = "Function : ";
    std::string name;
    std::string line;
    std::vector<Instruction> code;
    const auto finish = [&] {
        if (!code.empty()) use(name, code);
        code.clear();
    };
    while (std::getline(disassembly, line)) {
        if (const auto at = line.find(mark); at != std::string::npos) {
            finish();
            name = line.substr(at + mark.size());
        } else if (auto instruction = instruction_of(line)) {
            code.push_back(std::move(*instruction));
        }
    }
    finish();
}

} // namespace

LoopCounts pair_loops(std::istream& disassembly) {
    LoopCounts found;
    for_each_kernel(disassembly, [&](const std::string& name, const std::vector<Instruction>& code) {
        if (auto loops = pair_loops_of(code); !loops.empty()) found[name] = std::move(loops);
    });
    return found;
}

InstructionMixes main_mixes(std::istream& disassembly) {
    InstructionMixes found;
    for_each_kernel(disassembly, [&](const std::string& name, const std::vector<Instruction>& code) {
        found[name] = main_mix_of(code);
    });
    return found;
}

} // namespace farfield
