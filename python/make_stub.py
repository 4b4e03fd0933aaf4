"""Writes _core.pyi beside the compiled module: nanobind's stub generator, and the option names as Literals.

Usage: make_stub.py NANOBIND_DIRECTORY MODULE_DIRECTORY. Run by the build; needs neither NumPy nor the package.
"""

import pathlib
import sys

nanobind_directory, module_directory = sys.argv[1:]
sys.path.insert(0, module_directory)
sys.path.insert(0, nanobind_directory)

import _core  # noqa: E402  (the path above decides which)
import stubgen  # noqa: E402

HEADER = '"""Generated with the module from its C++ docstrings and name tables."""\n'


def literals() -> str:
    """`_Kernel: TypeAlias = Literal['gravity', …]` for every enum whose names a user may give."""
    lines = ["from typing import Literal, TypeAlias", ""]
    for enum, names in _core._names().items():
        lines.append(f"_{enum}: TypeAlias = Literal[{', '.join(map(repr, names))}]")
    return "\n".join(lines) + "\n"


def exceptions() -> str:
    """The exception classes, which the generator leaves out because they say they live in `farfield`."""
    text = ""
    for name, value in vars(_core).items():
        if isinstance(value, type) and issubclass(value, BaseException):
            bases = ", ".join(base.__name__ for base in value.__bases__)
            text += f'\n\nclass {name}({bases}):\n    """{value.__doc__}"""\n'
    return text


generator = stubgen.StubGen(module=_core, quiet=True)
generator.put(_core)
text = "\n".join([HEADER, literals() + "\n__version__: str", exceptions(), generator.get()])
text = text.replace("os.PathLike", "os.PathLike[str]")
pathlib.Path(module_directory, "_core.pyi").write_text(text)
