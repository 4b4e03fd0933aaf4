"""farfield.run_stencil: stencil programs with their files, callbacks, Ctrl-C and restart."""

import json
import logging
import os
import signal

import numpy as np
import pytest

import farfield
from farfield import stencil

COUNT = """program count
param n = 4, rate = 1.5
grid g[x: n, y: 3]
field u on g = x + 10*y
update add: u += rate
step: add
record corner = u at (0, 0) every 2
output u every 4
time dt = 0.25, steps = 8
"""
FILES = {"program.ff", "series.csv", "u_00000004.vtkhdf", "u_00000008.vtkhdf"}


def outputs(folder):
    """What must not depend on how often a run was interrupted."""
    return {name: (folder / name).read_bytes() for name in FILES}


def test_run_leaves_its_files(tmp_path):
    seen = []
    result = farfield.run_stencil(stencil.parse(COUNT), tmp_path / "out", target="interpreter", progress=seen.append,
                                  plots={"u": tmp_path / "u.png"}, animations={"u": (tmp_path / "moving.png", 2)})  # fmt: skip
    assert (result.finished, result.step, result.time, result.steps_here) == (True, 8, 2.0, 8)
    assert {path.name for path in result.files} >= FILES | {"checkpoint.h5", "summary.json", "u.png", "moving.png"}
    assert all(path.exists() for path in result.files)
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["target"]["name"] == "interpreter"
    assert seen[0].step == 0 and seen[-1].step == seen[-1].steps_total == 8 and seen[-1].time == seen[-1].end == 2.0
    assert "StencilRunProgress(step=8" in repr(seen[-1]) and result.asdict()["step"] == 8
    table = np.genfromtxt(tmp_path / "out" / "series.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(table["corner"], [3.0, 6.0, 9.0, 12.0])


def test_looks_of_pictures(tmp_path):
    program, pictures = stencil.parse(COUNT), {}
    looks = {"plain": {}, "narrow": {"range": (0, 6)}, "grey": {"colours": "grey"}, "line": {"slice": ("x", 1)}}
    for name, look in looks.items():
        file, film = tmp_path / f"{name}.png", tmp_path / f"{name}_film.png"
        farfield.run_stencil(program, tmp_path / name, target="interpreter", plots={"u": {"file": file, **look}},
                             animations={"u": {"file": film, "every": 2, **look}})  # fmt: skip
        pictures[name] = file.read_bytes()
        assert film.read_bytes().count(b"fcTL") == 5
    assert len(set(pictures.values())) == len(looks)
    for wrong, error, words in (({"range": (1, 0)}, ValueError, "the range 1 to 0"), ({"range": 3}, TypeError, "a pair of floats"),
                                ({"slice": ("z", 0)}, ValueError, "the axes of the field are"), ({"slice": ("up", 0)}, ValueError, "x, y or z"),
                                ({"colours": "rainbow"}, ValueError, "'rainbow'"), ({"color": "grey"}, ValueError, "'color' is not known"),
                                ({"every": 2}, ValueError, "'every' is not known")):  # fmt: skip
        with pytest.raises(error, match=words):
            farfield.run_stencil(program, tmp_path / "out", plots={"u": {"file": "a.png", **wrong}})
    with pytest.raises(ValueError, match='needs the key "file"'):
        farfield.run_stencil(program, tmp_path / "out", plots={"u": {}})
    assert not (tmp_path / "out").exists()


def test_a_file_with_parameters_and_an_end(tmp_path):
    path = tmp_path / "count.ff"
    path.write_text(COUNT)
    result = farfield.run_stencil(path, tmp_path / "out", parameters={"rate": 2.0}, end=0.9, target="interpreter")
    assert result.step == 4  # steps of 1/4: the fourth one passes 0.9
    table = np.genfromtxt(tmp_path / "out" / "series.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(table["corner"], [4.0, 8.0])


def test_callback_that_raises_stops_the_run_and_restart_completes_it(tmp_path, caplog):
    program = stencil.parse(COUNT)
    farfield.run_stencil(program, tmp_path / "undisturbed", target="interpreter")

    def stop(progress):
        if progress.step >= 1:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        farfield.run_stencil(program, tmp_path / "out", target="interpreter", progress=stop)
    assert (tmp_path / "out" / "checkpoint.h5").exists()
    with caplog.at_level(logging.WARNING, logger="farfield"):
        result = farfield.run_stencil(program, tmp_path / "out", restart=True, target="interpreter")
    assert result.finished and 0 < result.steps_here < 8 and "continuing from step" in caplog.text
    assert outputs(tmp_path / "out") == outputs(tmp_path / "undisturbed")


def test_ctrl_c_writes_a_checkpoint_and_restart_completes_the_run(tmp_path):
    program = stencil.parse(COUNT)
    farfield.run_stencil(program, tmp_path / "undisturbed", target="interpreter")
    with pytest.raises(KeyboardInterrupt):
        farfield.run_stencil(program, tmp_path / "out", target="interpreter",
                             progress=lambda p: p.step == 1 and os.kill(os.getpid(), signal.SIGINT))  # fmt: skip
    messages = []
    result = farfield.run_stencil(program, tmp_path / "out", restart=True, target="interpreter", message=messages.append)
    assert result.finished and messages[0].startswith("continuing from step")
    assert outputs(tmp_path / "out") == outputs(tmp_path / "undisturbed")


def test_what_is_refused(tmp_path):
    program = stencil.parse(COUNT)
    out = tmp_path / "out"
    with pytest.raises(ValueError, match="steps and end are both given"):
        farfield.run_stencil(program, out, steps=3, end=1.0)
    with pytest.raises(ValueError, match="two animations|two pictures"):
        farfield.run_stencil(program, out, plots={"u": "a.png"}, animations={"u": "a.png"})
    with pytest.raises(ValueError, match="mask is 'some'; allowed are auto"):
        farfield.run_stencil(program, out, mask="some")
    with pytest.raises(TypeError, match="steps must be int"):
        farfield.run_stencil(program, out, steps="many")
    with pytest.raises(TypeError, match="progress must be a function or None"):
        farfield.run_stencil(program, out, progress=3)
    with pytest.raises(TypeError, match="no keyword 'step'"):
        farfield.run_stencil(program, out, step=3)
    with pytest.raises(TypeError, match="plots must be a dict"):
        farfield.run_stencil(program, out, plots=["u"])
    with pytest.raises(TypeError, match="program must be a StencilProgram or the path of a program"):
        farfield.run_stencil(3, out)
    with pytest.raises(OSError, match="absent.ff"):
        farfield.run_stencil(tmp_path / "absent.ff", out)
    assert not out.exists()
    farfield.run_stencil(program, out, target="interpreter")
    with pytest.raises(farfield.InvalidArgument, match="earlier run"):
        farfield.run_stencil(program, out, target="interpreter")
