#!/usr/bin/env python3
"""Checks that instructions beyond the x86-64 baseline stay inside the per-ISA objects.

usage: isa.py PROGRAM LIBRARY.a…
       isa.py --self-test   plants leaks in a small program and demands that each is reported

Three things are asked for, each enough to keep the program starting on an old machine:
 1. no object of the libraries but those named …sse42.o, …avx2.o, …avx512.o holds such an instruction;
 2. those objects define no global symbol but entries called ff_…_<isa>, and no weak one (a weak function could
    be taken by the linker for the whole program);
 3. in the linked program such instructions lie only in those entries and in local symbols of those objects.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

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


def check_all(program, *libraries):
    problems, local, isa_members = [], set(), 0
    for library in libraries:
        of_library, locals_of_library, members = check_library(library)
        problems += of_library
        local |= locals_of_library
        isa_members += members
    entries = set()
    for _, symbol, instruction in beyond_baseline(program):
        if ENTRY.fullmatch(symbol):
            entries.add(symbol)
        elif symbol not in local:
            problems.append(f"{program}: {symbol} uses `{instruction}` outside the per-ISA objects")
    return problems, isa_members, entries


WIDE = """
template <class T> __attribute__((noinline)) T twice(const T* x, int n) {
    T sum = 0;
    for (int i = 0; i < n; ++i) sum += 2 * x[i];
    return sum;
}
extern "C" float ff_wide_avx2(const float* x, int n) { return twice(x, n); }
"""
MAIN = """
extern "C" float ff_wide_avx2(const float*, int);
int main() { float x[9] = {}; return static_cast<int>(ff_wide_avx2(x, 9)); }
"""


def self_test():
    def build(object_name, isolate):
        """Links MAIN with WIDE, compiled for AVX2, from a library; returns what check_all finds."""
        for name in ("libwide.a", "program"):
            pathlib.Path(name).unlink(missing_ok=True)
        run("g++", "-O2", "-mavx2", "-c", "wide.cpp", "-o", "raw.o")
        if isolate:
            run("ld", "-r", "--force-group-allocation", "-o", "grouped.o", "raw.o")
            run("objcopy", "--keep-global-symbol=ff_wide_avx2", "grouped.o", object_name)
        else:
            os.replace("raw.o", object_name)
        run("ar", "rc", "libwide.a", object_name)
        run("g++", "main.cpp", "libwide.a", "-o", "program")
        return check_all("program", "libwide.a")[0]

    with tempfile.TemporaryDirectory() as folder:
        here = os.getcwd()
        os.chdir(folder)
        try:
            pathlib.Path("wide.cpp").write_text(WIDE)
            pathlib.Path("main.cpp").write_text(MAIN)
            isolated = build("ff_wide_avx2.o", isolate=True)
            weak = build("ff_wide_avx2.o", isolate=False)
            misplaced = build("wide.o", isolate=True)
        finally:
            os.chdir(here)
    if isolated:
        sys.exit(f"self-test failed: an isolated object is reported: {isolated}")
    if not any("is weak" in problem for problem in weak) or not any(p.startswith("program: _Z") for p in weak):
        sys.exit(f"self-test failed: an object with shared templates is not reported: {weak}")
    if not any(problem.startswith("libwide.a(wide.o)") for problem in misplaced):
        sys.exit(f"self-test failed: wide instructions in an ordinary object are not reported: {misplaced}")
    print("self-test: planted leaks are reported, an isolated object is not")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    problems, isa_members, entries = check_all(*sys.argv[1:])
    if problems:
        print("\n".join(problems[:40]))
        print(f"{len(problems)} leaks. cmake/farfield_isa.cmake says how per-ISA sources are compiled")
        return 1
    print(f"{isa_members} per-ISA objects and {len(entries)} entries hold all instructions beyond the baseline")
    return 0


if __name__ == "__main__":
    sys.exit(main())
