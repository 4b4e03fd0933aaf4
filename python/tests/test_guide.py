"""Runs the snippets of the guide, in order, in one namespace and an empty folder."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.filterwarnings("default")  # yt and its dependencies warn when imported
def test_snippets_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) >= 10
    namespace = {}
    for block in blocks:
        for module in re.findall(r"^import (h5py|yt)$", block.group(1), re.MULTILINE):
            pytest.importorskip(module, reason=f"{module} is not installed: the rest of the guide is not run")
        line = text.count("\n", 0, block.start(1))
        code = compile("\n" * line + block.group(1), str(GUIDE), "exec")  # the line numbers of the guide
        exec(code, namespace)
