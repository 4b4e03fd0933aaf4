# shellcheck shell=bash
# The Python package: a virtual environment in build/venv with what pyproject.toml asks for, the package, pytest.

ensure_venv() { # fetches nothing when the environment already has everything; one process after the other
    mkdir -p build
    (
        flock 9
        [ -x build/venv/bin/python ] || python3 -m venv build/venv
        missing=$(build/venv/bin/python tools/dev/missing_requirements.py pyproject.toml)
        [ -z "$missing" ] || {
            say "installing with pip into build/venv: ${missing//$'\n'/ }"
            # shellcheck disable=SC2086  # one requirement a line
            (IFS=$'\n' && build/venv/bin/python -m pip install -q --disable-pip-version-check --no-compile $missing </dev/null)
        }
    ) 9>build/venv.lock
}

run_pytest() {
    ensure_venv
    say "building the package and installing it into build/venv"
    build_wheel
    build/venv/bin/python -m pip install -q --disable-pip-version-check --no-deps --no-index --force-reinstall build/wheel/*.whl </dev/null
    rm -f build/python.junit.xml
    build/venv/bin/python -m pytest -q -rs --junitxml=build/python.junit.xml python </dev/null || true
    python3 tools/dev/junit.py python build/python.junit.xml >>"$RESULTS"
}
