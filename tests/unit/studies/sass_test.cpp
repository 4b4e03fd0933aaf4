// The reader of disassembly, on a piece of a real one (rung `shared`, sm_90, with lines left out) and on
// loops made up to be hard.
#include "studies/sass.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace farfield {
namespace {

const std::string shared_rung = R"sass(
Fatbin elf code:
================
arch = sm_90

		Function : _ZN8farfield4cuda12tiled_kernelIfLi1ENS0_8TileRungILi1ELb1ELb0ELb0EEEEEvv
	.headerflags	@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
    /*0000*/ LDC R1,
                  c[0x0][0x28]; /* 0x00000a00ff017b82 */
/* 0x000fe20000000800 */
/*0010*/ ULDC UR4, c[0x3][0x28];
/*0060*/ ISETP.GE.AND P0, PT, R13, 0x1, PT;
/*0070*/ @!P0 BRA 0x5b0;
/*0180*/ IADD3 R17, R3, UR4, RZ;
/*01c0*/ BAR.SYNC.DEFER_BLOCKING 0x0;
/*0380*/ BAR.SYNC.DEFER_BLOCKING 0x0;
/*0390*/ ISETP.NE.AND P1, PT, R8, RZ, PT;
/*03a0*/ BSSY B0, 0x540;
/*03b0*/ IADD3 R9, R9, 0x4, RZ;
/*03c0*/ ISETP.NE.AND P0, PT, R9, 0xc00, PT;
/*03d0*/ @!P1 BRA 0x530;
/*03e0*/ LDS R10, [UR5 + 0x400];
/*03f0*/ LDS R11, [UR5];
/*0400*/ LDS R13, [UR5 + 0x800];
/*0410*/ LDS R18, [UR5 + 0xc00];
/*0420*/ FADD R10, -R7, R10;
/*0430*/ FADD R11, -R2, R11;
/*0440*/ FMUL R12, R10, R10;
/*0450*/ FADD R13, -R16, R13;
/*0460*/ FFMA R12, R11, R11, R12;
/*0470*/ FFMA R12, R13, R13, R12;
/*0480*/ FADD R12, R12, UR6;
/*0490*/ FSETP.GEU.AND P1, PT, | R12 |, 1.175494350822287508e-38, PT;
/*04a0*/ @!P1 FMUL R12, R12, 16777216;
/*04b0*/ MUFU.RSQ R14, R12;
/*04c0*/ @!P1 FMUL R14, R14, 4096;
/*04d0*/ FMUL R15, R14, R14;
/*04e0*/ FMUL R15, R14, R15;
/*04f0*/ FMUL R15, R15, R18;
/*0500*/ FFMA R4, R11, R15.reuse, R4;
/*0510*/ FFMA R5, R10, R15.reuse, R5;
/*0520*/ FFMA R6, R13, R15, R6;
/*0530*/ BSYNC B0;
/*0540*/ UIADD3 UR5, UR5, 0x4, URZ;
/*0550*/ IADD3 R8, R8, 0x1, RZ;
/*0560*/ @P0 BRA 0x390;
/*0570*/ LDC R13, c[0x3][0x28];
/*0580*/ UIADD3 UR4, UR4, 0x100, URZ;
/*0590*/ ISETP.LE.AND P0, PT, R13, UR4, PT;
/*05a0*/ @!P0 BRA 0x180;
/*05f0*/ @P0 EXIT;
/*0630*/ STG.E .128 desc[UR8][R2 .64], R4;
/*0640*/ EXIT;
/*0650*/ BRA 0x650;
/*0660*/ NOP;
                ..........
)sass";

LoopCounts read(const std::string& text) {
    std::istringstream stream(text);
    return pair_loops(stream);
}

std::string function(const std::string& name, const std::string& code) {
    return "\t\tFunction : " + name + "\n" + code;
}

TEST(Sass, CountsTheInnermostLoopOfARealKernel) {
    const auto loops = read(shared_rung);
    ASSERT_EQ(loops.size(), 1U);
    const auto& [name, found] = *loops.begin();
    EXPECT_EQ(name, "_ZN8farfield4cuda12tiled_kernelIfLi1ENS0_8TileRungILi1ELb1ELb0ELb0EEEEEvv");
    // counted by hand: 0x390 to 0x560, one pair; the loop over tiles around it does not count
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0], (LoopCount{.instructions = 30, .roots = 1, .special = 1, .doubles = 0}));
}

TEST(Sass, TakesTheMostUnrolledLoopFirstAndLeavesOutLoopsWithoutPairs) {
    const auto loops = read(function("k", R"(
        /*0000*/                   MUFU.RSQ R1, R2 ;            /* 0x000000 */
                                                                /* 0x004fc8 */
        /*0010*/               @P0 BRA 0x0 ;
        /*0020*/                   MUFU.RSQ R1, R2 ;
        /*0030*/                   FFMA.FTZ R1, R2, R3, R4 ;
        /*0040*/                   MUFU.RSQ R1, R2 ;
        /*0050*/              @!P1 BRA 0x20 ;
        /*0060*/                   FADD R1, R2, R3 ;
        /*0070*/                   BRA.U 0x60 ;
        /*0080*/                   BRA 0x80;
)"));
    ASSERT_EQ(loops.at("k").size(), 2U);
    EXPECT_EQ(loops.at("k")[0], (LoopCount{.instructions = 4, .roots = 2, .special = 2, .doubles = 0}));
    EXPECT_EQ(loops.at("k")[1], (LoopCount{.instructions = 2, .roots = 1, .special = 1, .doubles = 0}));
}

TEST(Sass, ContinueAndEndOfALoopAreOneLoop) {
    const auto loops = read(function("k", R"(
        /*0100*/                   ISETP.NE.AND P0, PT, R1, R2, PT ;
        /*0110*/                   MUFU.RSQ64H R1, R2 ;
        /*0120*/               @P0 BRA 0x100 ;
        /*0130*/                   DFMA R4, R2, R2, R4 ;
        /*0140*/                   MUFU.RCP R1, R2 ;
        /*0150*/                   NOP ;
        /*0160*/               @P1 BRA 0x100 ;
)"));
    ASSERT_EQ(loops.at("k").size(), 1U);
    EXPECT_EQ(loops.at("k")[0], (LoopCount{.instructions = 6, .roots = 1, .special = 2, .doubles = 1}));
}

TEST(Sass, KernelsWithoutPairsAndOtherTextsGiveNothing) {
    EXPECT_TRUE(read("").empty());
    EXPECT_TRUE(read("cuobjdump info    : File 'x' does not contain device code\n").empty());
    EXPECT_TRUE(
        read(function("k", "        /*0000*/   MUFU.RSQ R1, R2 ;\n        /*0010*/   EXIT ;\n")).empty());
}

InstructionMixes read_mixes(const std::string& text) {
    std::istringstream stream(text);
    return main_mixes(stream);
}

TEST(Sass, TheMainLoopIsTheInnermostWithTheMostFlop) {
    const auto mixes = read_mixes(function("loops", R"(
        /*0000*/                   FFMA R1, R1, R1, R1 ;
        /*0010*/                   IADD3 R2, R2, 0x1, RZ ;
        /*0020*/                   FADD R1, R1, R1 ;
        /*0030*/               @P0 BRA 0x10 ;
        /*0040*/                   FFMA R4, R2, R2, R4 ;
        /*0050*/                   FMUL R4, R2, R2 ;
        /*0060*/                   IMAD.MOV.U32 R4, RZ, RZ, R2 ;
        /*0070*/                   UIADD3 UR4, UR4, 0x4, URZ ;
        /*0080*/                   ISETP.NE.AND P0, PT, R4, R2, PT ;
        /*0090*/                   FSETP.GEU.AND P1, PT, R4, R2, PT ;
        /*00a0*/                   NOP ;
        /*00b0*/               @P0 BRA 0x40 ;
        /*00c0*/                   IADD3 R2, R2, 0x1, RZ ;
        /*00d0*/               @P0 BRA 0x0 ;
        /*00e0*/                   BRA 0xe0 ;
)"));
    EXPECT_EQ(mixes.at("loops"), (InstructionMix{.instructions = 7, .flop = 3, .integers = 2}));
}

TEST(Sass, CodeWithoutALoopIsTakenWhole) {
    const auto mixes = read_mixes(function("straight", R"(
        /*0000*/                   LOP3.LUT R1, R1, 0x1f, RZ, 0xc0, !PT ;
        /*0010*/                   FFMA R1, R1, R1, R1 ;
        /*0020*/                   DFMA R4, R2, R2, R4 ;
        /*0030*/                   EXIT ;
        /*0040*/                   BRA 0x40 ;
)"));
    EXPECT_EQ(mixes.at("straight"), (InstructionMix{.instructions = 5, .flop = 4, .integers = 1}));
    EXPECT_TRUE(read_mixes("").empty());
}

} // namespace
} // namespace farfield
