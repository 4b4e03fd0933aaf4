#!/usr/bin/env python3
"""Measured figures of the documentation are those of files under bench/results.

usage: figures.py [--self-test]

A marker behind a figure says where it comes from; the value has to round to the figure as it is written:

    2.9 µs<!-- h200/simulation_step.json rows[n=1024 precision=float chosen].median_us_a_step -->
    1.46<!-- cpu/direct_n16384.json rows[rung=symmetric threads=1].pairs_per_second / rows[rung=naive].pairs_per_second -->

A selector is a path of keys; [key=value …] picks the one entry of a list, [key] one where it is true, [3] by number. A
marker without a file takes that of the marker before it. A marker alone on the lines before a table has a formula for
each column, by its heading; `{0}` is the first cell, (N=4,096) in a first cell replaces n, and a leading . continues the
selector of the row; | separates formulas of several figures in a cell; {1} and {2} are the parts of a first cell with a
comma; * stands for all columns, 2 for the third, {h} for the number that heads one; a formula may name a file of its own; `first cell => conditions` say what {row} is, - that
the row is from elsewhere:

    <!-- table h200/direct.json rows[rung={0} n=65536 precision=float]; ms: .seconds*1e3; error: .error -->
    <!-- table cpu/direct_n16384.json; 1: rows[{row} precision=float].error; 5 symmetric => rung=symmetric threads=1 -->
    <!-- study h200/reproduce_ladder.json 0 -->         a table that `farfield reproduce` printed: the first of the file

    1 %<!-- given: setting -->        nothing was measured: a setting, a definition, a number of the source that the text
                                      names, or arithmetic that stands in the text

Each file of results names its commit, machine, command and repeats. Figures with a unit of measurement that no marker
covers are counted by file in figures_unmarked.json: the number may only fall.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/results"
UNMARKED = pathlib.Path(__file__).with_name("figures_unmarked.json")
NUMBER = r"\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?"
UNIT = (r"(?:\s?(?:ns|µs|ms|s|GB/s|TB/s|MB/s|Tflop/s|Gflop/s|pairs/s|cell-steps/s|FMA/s|min)(?![\w/])|·10[⁰¹²³⁴⁵⁶⁷⁸⁹]+|\s?%)")
FIGURE = re.compile(rf"(?<![\w²])(?<!\d )×\s?{NUMBER}|(?<![\w.,]){NUMBER}{UNIT}")
UNIT_AFTER_MARKER = re.compile(rf"^{UNIT}")
MARKED = re.compile(rf"({NUMBER})(\D{{0,12}}?)<!-- (?!table |study )(.*?)-->", re.DOTALL)
SELECTOR = re.compile(r"(?<![\w.])(\.?[a-z_]\w*(?:\[[^\]]*\])*(?:\.\w+(?:\[[^\]]*\])*)*)")


GIVEN = ("setting", "definition", "source", "arithmetic")


class Wrong(Exception):
    pass


def written(text):
    """The value of a number as written, and half a unit of its last digit."""
    plain = text.replace(",", "")
    mantissa, _, exponent = plain.partition("e")
    digits = len(mantissa.partition(".")[2])
    return float(plain), 0.5 * 10.0 ** (int(exponent or 0) - digits)


def entry_of(value, inside):
    if re.fullmatch(r"-?\d+", inside):
        return value[int(inside)]
    found = value
    for condition in re.findall(r'(\w+)(?:=("[^"]*"|\S+))?', inside):
        key, wanted = condition[0], condition[1].strip('"')
        found = [row for row in found if (str(row.get(key)) == wanted if wanted else bool(row.get(key)))]
    if len(found) != 1:
        raise Wrong(f"[{inside}] finds {len(found)} entries, not one")
    return found[0]


def selected(document, path):
    value = document
    for key, inside in re.findall(r"(\w+)((?:\[[^\]]*\])*)", path):
        if not isinstance(value, dict) or key not in value:
            raise Wrong(f"there is no '{key}' in {path}")
        value = value[key]
        for one in re.findall(r"\[([^\]]*)\]", inside):
            value = entry_of(value, one)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Wrong(f"{path} is no number")
    return value


def evaluated(document, formula, row=""):
    def number(match):
        path = match.group(1)
        return repr(float(selected(document, row + path if path.startswith(".") else path)))

    text = SELECTOR.sub(number, formula)
    if not re.fullmatch(r"[\d.eE+\-*/() infa]*", text):
        raise Wrong(f"'{formula}' is no formula")
    return eval(text, {"__builtins__": {}})  # numbers and + - * / ( ) alone, by the line above


def compared(text, value):
    shown, half = written(text)
    if abs(value - shown) > half * (1 + 1e-9):
        raise Wrong(f"{text} is written, {value:.6g} was measured")


def blanked(match):
    return re.sub(r"[^\n]", " ", match.group())


class Page:
    def __init__(self, name, text, results=RESULTS):
        self.name, self.text, self.results = name, text, results
        self.errors, self.file, self.checked = [], None, 0

    def document(self, words):
        """The file that a marker names first, and the rest of the marker."""
        first, _, rest = " ".join(words.split()).partition(" ")
        if first.endswith(".json"):
            self.file, words = first, rest
        if self.file is None:
            raise Wrong("a marker names no file, nor does one before it")
        path = self.results / self.file
        if not path.is_file():
            raise Wrong(f"there is no bench/results/{self.file}")
        return json.loads(path.read_text()), words

    def line_of(self, position):
        return self.text.count("\n", 0, position) + 1

    def guarded(self, position, work):
        try:
            work()
            self.checked += 1
        except Wrong as wrong:
            self.errors.append(f"{self.name}:{self.line_of(position)}: {wrong}")

    def check_figure(self, match):
        def work():
            if match.group(3).startswith("given"):
                if match.group(3).strip() not in [f"given: {reason}" for reason in GIVEN]:
                    raise Wrong(f"'{match.group(3).strip()}' is none of {', '.join(f'given: {reason}' for reason in GIVEN)}")
                return
            document, formula = self.document(match.group(3))
            compared(match.group(1), evaluated(document, " ".join(formula.split())))
        self.guarded(match.start(), work)

    def check_table(self, marker, rows, heading):
        document, words = self.document(marker)
        row_selector, *parts = [part.strip() for part in " ".join(words.split()).split(";")]
        named = dict(map(str.strip, part.split("=>")) for part in parts if "=>" in part)
        formulas = dict(re.match(r"(.*?): (.*)", part).groups() for part in parts if "=>" not in part)
        rest = formulas.pop("*", None)
        for name in formulas:
            if name not in heading and not name.isdigit():
                raise Wrong(f"the table has no column '{name}'")
        columns = {i: formulas.get(name, formulas.get(str(i), rest)) for i, name in enumerate(heading) if i}
        columns = {i: formula for i, formula in columns.items() if formula}
        for position, cells in rows:
            size = re.search(r"\(N=([\d,]+)\)", cells[0])
            first = re.sub(r"\s*\(.*", "", cells[0]) or cells[0]
            if named and first not in named:
                raise Wrong(f"the marker has no conditions for '{first}'")
            if named.get(first) == "-":
                continue
            words = {"0": first, "row": named.get(first, "")}
            words.update({str(i + 1): part for i, part in enumerate(first.split(", "))})
            for i, formula in columns.items():
                words["h"] = re.sub(r"[,²³]", "", heading[i])
                def filled(text):
                    text = re.sub(r"\{(\w+)\}", lambda m: words.get(m.group(1), m.group()), text)
                    return re.sub(r"\bn=\d+", "n=" + size.group(1).replace(",", ""), text) if size else text
                for number, one in zip(re.findall(NUMBER, cells[i]), formula.split("|")):
                    own, formula = self.document(filled(one)) if ".json " in one else (document, filled(one.strip()))
                    self.guarded(position, lambda n=number, d=own, o=formula, r=filled(row_selector):
                                 compared(n, evaluated(d, o, r)))
        return {heading[i] for i in columns}

    def check_study(self, marker, rows, heading):
        document, number = self.document(marker)
        lines = document["tables"][int(number)]["rows"]
        if [cells[0] for _, cells in rows] != [line["what"] for line in lines]:
            raise Wrong("the study has other lines")
        for (position, cells), line in zip(rows, lines):
            for cell, value in zip(cells[1:], line["values"]):
                if (cell == "") != (value is None):
                    self.errors.append(f"{self.name}:{self.line_of(position)}: '{cell}' is written where the study has {value}")
                elif cell:
                    self.guarded(position, lambda c=cell, v=value: compared(c, v))
        return set(heading)

    def check(self):
        """Checks every marker; what is left of the text are figures that no marker covers."""
        rest = re.sub(r"<!--.*?-->", blanked, self.text, flags=re.DOTALL)
        rest = re.sub(r"```.*?```|^ {4}.*?$|`[^`\n]*`", blanked, rest, flags=re.DOTALL | re.MULTILINE)
        for match in MARKED.finditer(self.text):
            self.check_figure(match)
            start = match.start(1)
            tail = UNIT_AFTER_MARKER.match(rest[match.end():])
            end = match.end() + (tail.end() if tail else 0)
            rest = rest[:start] + re.sub(r"[^\n]", " ", rest[start:end]) + rest[end:]
        for match in re.finditer(r"<!-- (table|study) (.*?)-->\n\n?((?:\|[^\n]*\n)+)", self.text, re.DOTALL):
            lines, position, rows = match.group(3).splitlines(), match.start(3), []
            for line in lines:
                rows.append((position, [cell.strip() for cell in line.strip()[1:-1].split("|")]))
                position += len(line) + 1
            heading, rows = rows[0][1], rows[2:]
            try:
                check = self.check_table if match.group(1) == "table" else self.check_study
                covered = check(match.group(2), rows, heading)
            except Wrong as wrong:
                self.errors.append(f"{self.name}:{self.line_of(match.start())}: {wrong}")
                covered = set()
            for position, cells in rows:
                end = self.text.index("\n", position)
                left = "|".join(" " if heading[i] in covered else cell for i, cell in enumerate(cells) if i < len(heading))
                rest = rest[:position] + left[:end - position].ljust(end - position) + rest[end:]
        return len(FIGURE.findall(rest))


def results_without_origin():
    wrong = []
    for path in sorted(RESULTS.glob("*/*.json")):
        document = json.loads(path.read_text())
        missing = [key for key in ("commit", "machine", "command", "repeats") if not document.get(key)]
        if missing:
            wrong.append(f"{path.relative_to(ROOT)} lacks {', '.join(missing)}")
    return wrong


def pages():
    names = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [name for name in names if (ROOT / name).is_file()]


def self_test():
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "a.json").write_text(json.dumps({
            "rows": [{"rung": "soa", "n": 8, "seconds": 0.00314, "good": True}, {"rung": "fma", "n": 4, "seconds": 0.002}],
            "tables": [{"rows": [{"what": "soa", "values": [1.5, None]}]}]}))
        table = "<!-- table a.json rows[rung={0} n=8]; ms: .seconds*1e3 -->\n| rung | ms |\n| - | - |\n"
        cases = [  # text, errors, unmarked figures
            ("3.1 ms<!-- a.json rows[rung=soa].seconds*1e3 -->", 0, 0),
            ("3.1<!-- a.json rows[good].seconds*1e3 --> ms", 0, 0),
            ("×1.57<!-- a.json rows[rung=soa].seconds / rows[rung=fma].seconds -->", 0, 0),
            ("3.2 ms<!-- a.json rows[rung=soa].seconds*1e3 -->", 1, 0),
            ("3.1 ms<!-- a.json rows[rung=no].seconds*1e3 -->", 1, 0),
            ("3.1 ms<!-- b.json rows[rung=soa].seconds*1e3 -->", 1, 0),
            ("3.1 ms<!-- a.json rows[rung=soa].rung -->", 1, 0),
            ("3.1 ms and `3 ms`", 0, 1),
            ("3.1 ms<!-- given: setting --> and 50, 90 %<!-- given: definition -->", 0, 0),
            ("3.1 ms<!-- given: somehow -->", 1, 0),
            ("3.1 ms<!-- given -->", 1, 0),
            (table.replace("{0}", "{row}").replace(" -->", "; (1,0) => soa -->") + "| (1,0) | 3.14 |\n", 0, 0),
            (table.replace("{0}", "{row}").replace(" -->", "; (1,0) => soa -->") + "| (1,0) | 3.15 |\n", 1, 0),
            ("about ×40, 12 % and 2.9 µs of N×3 and 4 × 8", 0, 3),
            (table + "| soa | 3.14 |\n| fma (N=4) | 2.00 |\n", 0, 0),
            (table.replace("; ms", "\n     ; ms") + "| soa | 3.14 |\n\n7 ms", 0, 1),
            (table + "| soa | 3.15 |\n| fma (N=4) | 2.00 |\n", 1, 0),
            (table + "| soa | 3.14 |\n| fma | 2.00 |\n", 1, 0),
            (table.replace("ms: ", "us: ") + "| soa | 3.14 |\n", 1, 0),
            ("<!-- table a.json rows[{row} n={h}]; *: .seconds*1e3; x => rung=soa -->\n| | 8 |\n| - | - |\n| x | 3.1 ms |\n", 0, 0),
            ("<!-- table a.json rows[{row} n={h}]; *: .seconds*1e3; x => rung=soa -->\n| | 8 |\n| - | - |\n| x | 3.2 ms |\n", 1, 0),
            ("<!-- table a.json rows[{row} n={h}]; *: .seconds*1e3; x => rung=soa -->\n| | 8 |\n| - | - |\n| y | 3.1 ms |\n", 1, 1),
            ("<!-- study a.json 0 -->\n| | a | b |\n| - | - | - |\n| soa | 1.5 | |\n", 0, 0),
            ("<!-- study a.json 0 -->\n| | a | b |\n| - | - | - |\n| soa | 1.6 | |\n", 1, 0),
            ("<!-- study a.json 0 -->\n| | a | b |\n| - | - | - |\n| soa | 1.5 | 2 |\n", 1, 0),
        ]
        for text, errors, unmarked in cases:
            page = Page("page", text, folder)
            left = page.check()
            if (len(page.errors), left) != (errors, unmarked):
                sys.exit(f"figures.py: {text!r} gives {page.errors} and {left} figures without a marker")
    print(f"figures.py: {len(cases)} planted pages are judged as they should be")


def main():
    if "--self-test" in sys.argv:
        return self_test()
    errors, allowed, counts, checked = results_without_origin(), json.loads(UNMARKED.read_text()), {}, 0
    for name in pages():
        page = Page(name, (ROOT / name).read_text(encoding="utf-8"))
        left = page.check()
        errors += page.errors
        checked += page.checked
        if left:
            counts[name] = left
    for name in sorted(counts.keys() | allowed.keys()):
        now, before = counts.get(name, 0), allowed.get(name, 0)
        if now > before:
            errors.append(f"{name}: {now} figures without a marker, {before} are allowed; mark the new ones")
        elif now < before:
            errors.append(f"{name}: {now} figures without a marker; say so in {UNMARKED.relative_to(ROOT)} ({before})")
    if "--count" in sys.argv:
        print(json.dumps(counts, indent=1))
    print("\n".join(errors))
    print(f"figures: {checked} agree with their files, {sum(counts.values())} have no marker yet")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
