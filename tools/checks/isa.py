#!/usr/bin/env python3
"""Checks that instructions beyond the x86-64 baseline stay inside the per-ISA objects.

usage: isa.py PROGRAM [LIBRARY.a]

Three things are asked for, each enough to keep the program starting on an old machine:
 1. no object of the library but those named …sse42.o, …avx2.o, …avx512.o holds such an instruction;
 2. those objects define no global symbol but entries called ff_…_<isa>, and no weak one (a weak function could
    be taken by the linker for the whole program);
 3. in the linked program such instructions lie only in those entries and in local symbols of those objects.
"""
import re
import subprocess
import sys

ISAS = ("sse42", "avx2", "avx512")
ENTRY = re.compile(r"ff_\w+_(%s)" % "|".join(ISAS))
ISA_OBJECT = re.compile(r"(%s)[^/]*\.o(bj)?$" % "|".join(ISAS))

# SSE3 … SSE4.2, POPCNT, BMI, AES…; anything in VEX or EVEX encoding starts with v, mask operations with k.
# tzcnt is left out: compilers emit it for the baseline as "rep bsf", which old machines run as bsf.
BEYOND = re.compile(
    r"(v(?!err|erw|mcall|mmcall|mread|mwrite|mload|mrun|msave)[a-z]\w+|k(mov|and|or|xor|xnor|not|test|ortest|shift|unpck|add)\w*"
    r"|addsubp[sd]|haddp[sd]|hsubp[sd]|movddup|movs[hl]dup|lddqu|fisttp\w*"
    r"|pshufb|phadd\w+|phsub\w+|pabs[bwd]|palignr|pmulhrsw|psign[bwd]|pmaddubsw"
    r"|p?blend\w+|dpp[sd]|extractps|insertps|pmov[sz]x\w+|pmulld|pmuldq|ptest|round[sp][sd]|pextr[bdq]|pinsr[bdq]"
    r"|pminsb|pminsd|pminuw|pminud|pmaxsb|pmaxsd|pmaxuw|pmaxud|pcmpeqq|packusdw|phminposuw|mpsadbw|movntdqa"
    r"|pcmpgtq|pcmp[ei]str[im]|crc32\w*|popcnt\w*|lzcnt\w*|andn|bextr|bls[ri]|blsmsk|bzhi|pdep|pext|rorx|sarx|shlx|shrx"
    r"|mulx|adcx|adox|movbe\w*|aes\w+|sha\d\w+|pclmul\w+|gf2p8\w+)$")
SYMBOL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
FILE = re.compile(r"^(?:.*\()?([^()\s]+?)\)?:\s+file format ")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def beyond_baseline(path):
    """(object, symbol, instruction) of the first such instruction of every symbol of a file or archive."""
    found, member, symbol = {}, path, "?"
    process = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", "-w", path], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith(" "):
            fields = line.split("\t", 1)
            words = fields[1].split() if len(fields) == 2 else []
            while words and words[0] in ("rep", "repz", "repnz", "lock", "data16", "bnd", "notrack", "cs", "{vex}", "{evex}"):
                words = words[1:]
            if words and BEYOND.match(words[0]):
                found.setdefault((member, symbol), " ".join(words))
            continue
        match = SYMBOL.match(line)
        if match:
            symbol = match[1]
        elif FILE.match(line):
            member, symbol = FILE.match(line)[1], "?"
    if process.wait() != 0:
        sys.exit(f"objdump could not read {path}")
    return [(where, name, instruction) for (where, name), instruction in found.items()]


def symbols_of(path):
    """member → [(name, type letter)] as nm sees them; types in lower case are local, V W u are merged by the linker."""
    members, current = {}, path
    for line in run("nm", path).splitlines():
        if line.endswith(":") and " " not in line:
            current = line[:-1]
        else:
            fields = line.split(None, 2) if line[:1] != " " else [""] + line.split(None, 1)
            if len(fields) == 3:
                members.setdefault(current, []).append((fields[2], fields[1]))
    return members


def check_library(library):
    problems, local = [], set()
    for member, symbol, instruction in beyond_baseline(library):
        if not ISA_OBJECT.search(member):
            problems.append(f"{library}({member}): {symbol} uses `{instruction}` outside the per-ISA objects")
    isa_members = 0
    for member, symbols in symbols_of(library).items():
        if not ISA_OBJECT.search(member):
            continue
        isa_members += 1
        for name, letter in symbols:
            if letter in "tdrbn":
                local.add(name)
            elif letter in "VWu":
                problems.append(f"{library}({member}): {name} is weak; the linker may take it for the whole program")
            elif letter in "TDBRS" and not ENTRY.fullmatch(name):
                problems.append(f"{library}({member}): {name} is global but not called ff_…_<isa>")
    return problems, local, isa_members


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    problems, local, isa_members = check_library(sys.argv[2]) if len(sys.argv) == 3 else ([], None, 0)
    entries = set()
    for _, symbol, instruction in beyond_baseline(sys.argv[1]):
        if ENTRY.fullmatch(symbol):
            entries.add(symbol)
        elif local is None or symbol not in local:
            problems.append(f"{sys.argv[1]}: {symbol} uses `{instruction}` outside the per-ISA objects")
    if problems:
        print("\n".join(problems[:40]))
        print(f"{len(problems)} leaks. cmake/farfield_isa.cmake says how per-ISA sources are compiled")
        return 1
    print(f"{isa_members} per-ISA objects and {len(entries)} entries hold all instructions beyond the baseline")
    return 0


if __name__ == "__main__":
    sys.exit(main())
