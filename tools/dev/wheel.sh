# shellcheck shell=bash
# Wheels: pip builds one in build-pip, auditwheel puts the shared libraries into it that it needs, and a test
# installs it where these libraries are not.

wheel_usage() {
    cat <<'TEXT'
./dev wheel [DIR]

Builds a wheel of the Python package (CPU) that carries its libraries, and puts it into DIR (dist) in place of an
earlier one. pip installs it without a compiler where Python is the same version and the C library (glibc) is as new
as the wheel's name says. The licences of the libraries are in it.
TEXT
}

make_wheel() {
    local folder=dist wheel
    case ${1:-} in
        --help | -h)
            wheel_usage
            return 0
            ;;
        -*) usage_error "wheel has no option '$1'$(did_you_mean "$1" --help); ./dev wheel --help says more" ;;
    esac
    [ $# -le 1 ] || usage_error "wheel takes one folder at most; ./dev wheel --help says more"
    [ $# -eq 0 ] || folder=$1
    need build test
    ensure_venv
    build_wheel
    repair_wheel "$folder"
    wheel=$(only_wheel "$folder")
    say "$wheel, $(($(stat -c %s "$wheel") >> 10)) KiB; try: pip install $wheel"
}

build_wheel() { # into build/wheel, for this machine alone; what is compiled stays in build-pip for the next time
    rm -rf build/wheel
    build/venv/bin/python -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps \
        -C build-dir=build-pip -w build/wheel . </dev/null || die "the wheel could not be built (its output is above)"
}

repair_wheel() { # repair_wheel FOLDER: puts the libraries into the wheel of build/wheel; earlier wheels of FOLDER go
    local log=build/auditwheel.log
    rm -rf build/repaired
    make_no_curl
    if ! PATH=$PWD/build/venv/bin:$PATH AUDITWHEEL_LD_LIBRARY_PATH=$PWD/build/no_curl \
        auditwheel repair --exclude 'libmpi.so.*' -w build/repaired "$(only_wheel build/wheel)" >"$log" 2>&1; then
        cat "$log" >&2
        die "auditwheel could not put the libraries into the wheel (its output is above)"
    fi
    build/venv/bin/python tools/dev/wheel_notices.py "$(only_wheel build/repaired)" ||
        die "the licences of the libraries could not be added"
    mkdir -p "$1"
    rm -f "$1"/farfield-*.whl
    mv build/repaired/farfield-*.whl "$1"/
}

make_no_curl() { # build/no_curl/libcurl.so.4, which auditwheel takes in place of the machine's
    mkdir -p build/no_curl
    echo 'CURL_OPENSSL_4 { global: curl_*; local: *; };' >build/no_curl/versions
    cc -O2 -shared -fPIC -Wl,-soname,libcurl.so.4 -Wl,--version-script=build/no_curl/versions \
        tools/dev/no_curl.c -o build/no_curl/libcurl.so.4 ||
        die "tools/dev/no_curl.c could not be compiled"
}

only_wheel() { # only_wheel FOLDER: the one wheel in it
    local found=("$1"/farfield-*.whl)
    [ -f "${found[0]}" ] || die "there is no wheel in $1"
    echo "${found[0]}"
}

test_wheel() { # the wheel of build/wheel with its libraries, in an environment of its own
    say "installing the wheel into a clean environment"
    if (repair_wheel build/dist) &&
        build/venv/bin/python tests/install/wheel_elsewhere.py "$(only_wheel build/dist)" build/clean; then
        record pass python "wheel"
    else
        record fail python "wheel" "build/venv/bin/python tests/install/wheel_elsewhere.py build/dist/*.whl build/clean"
    fi
}
