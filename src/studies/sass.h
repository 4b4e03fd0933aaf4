// Reads the disassembly of GPU code as `cuobjdump -sass` prints it, for two questions. How many machine
// instructions does a kernel's pair loop spend on a pair? How many integer operations go with its flop?
#pragma once

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace farfield {

/// A loop that computes pairs. A pair takes one MUFU.RSQ (the estimate of 1/√x that square roots start from
/// as well), so their number is the number of pairs in the loop's unrolled body.
struct LoopCount {
    int instructions = 0; ///< of the body as it stands, both sides of branches, without NOP
    int roots = 0;        ///< MUFU.RSQ among them
    int special = 0;      ///< all MUFU among them: reciprocals too
    int doubles = 0;      ///< instructions of the double-precision pipe among them
    friend bool operator==(const LoopCount&, const LoopCount&) = default;
};

/// The innermost loops with a MUFU.RSQ of each kernel, by its mangled name: those that are unrolled most come
/// first, of equals the shortest. A kernel may have several: for tiles on the diagonal, for the last few.
using LoopCounts = std::map<std::string, std::vector<LoopCount>>;
LoopCounts pair_loops(std::istream& disassembly);

/// The same of the program or library that holds Farfield's kernels; runs cuobjdump, which is looked for on
/// PATH and in the usual places. Empty where it is not installed or finds no code.
LoopCounts library_pair_loops();

/// What the instructions of a stretch of code are.
struct InstructionMix {
    int instructions = 0; ///< without NOP
    int flop = 0;         ///< a fused multiply-add counts twice; in float or double, not on tensor cores
    int integers = 0;     ///< arithmetic and comparisons of whole numbers; no moves
    friend bool operator==(const InstructionMix&, const InstructionMix&) = default;
};

/// Of each kernel that innermost loop which has the most flop as it stands; all code where it has no loop.
using InstructionMixes = std::map<std::string, InstructionMix>;
InstructionMixes main_mixes(std::istream& disassembly);

/// The same of these kernels, by their mangled names, in the program or library that holds them. Empty where
/// cuobjdump is not installed.
InstructionMixes library_mixes(const std::vector<std::string>& kernels);

} // namespace farfield
