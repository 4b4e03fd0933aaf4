# shellcheck shell=bash
# The checks of `./dev check`: each is a function check_NAME that prints what is wrong and fails.

CHECKS=(format tidy includes clocks headers isa shellcheck changes tree docs figures)

checks_usage() {
    cat <<'TEXT'
./dev check [NAME…] [--fix] [--fuzz [SECONDS]]

  format      clang-format 14 leaves every source as it is          (--fix reformats)
  tidy        clang-tidy with the list in .clang-tidy finds nothing in our sources
  includes    every file includes only what its layer may see
  clocks      nothing that chooses where or how a sum is computed reads a clock
  headers     every header compiles alone
  isa         no instruction beyond the x86-64 baseline outside the per-ISA objects
  shellcheck  shell scripts are clean
  changes     the choice of what lint and sanitizers look at misses nothing
  tree        no absolute paths, no trailing blanks, no empty folders, a purpose on top of each source
  docs        files and commands that the documentation names exist
  figures     measured figures in the documentation are those of bench/results

Without names all of them run. --fuzz runs the fuzz targets instead, SECONDS each (60).
TEXT
}

run_checks() {
    local names=() fix="" fuzz="" seconds=60
    while [ $# -gt 0 ]; do
        case $1 in
            --fix) fix=--fix ;;
            --fuzz)
                fuzz=yes
                if [[ ${2:-} =~ ^[0-9]+$ ]]; then
                    seconds=$2
                    shift
                fi
                ;;
            --help | -h)
                checks_usage
                return 0
                ;;
            *)
                in_list "$1" "${CHECKS[@]}" ||
                    usage_error "no check '$1'$(did_you_mean "$1" "${CHECKS[@]}"); ./dev check --help lists them"
                names+=("$1")
                ;;
        esac
        shift
    done
    if [ -n "$fuzz" ]; then
        . tools/dev/fuzz.sh
        run_fuzzers "$seconds"
        return
    fi
    [ ${#names[@]} -gt 0 ] || names=("${CHECKS[@]}")
    need build test check
    local name failed=()
    for name in "${names[@]}"; do
        one_check "$name" $fix || failed+=("$name")
    done
    [ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
    say "all checks passed: ${names[*]}"
}

one_check() { # one_check NAME [--fix]: runs it in a shell of its own, tells how long it took
    local name=$1 start=$SECONDS status
    shift
    set +e
    (
        set -e
        "check_$name" "$@"
    )
    status=$?
    set -e
    if [ $status -eq 0 ]; then
        echo "check $name: ok ($((SECONDS - start)) s)"
    else
        echo "check $name: FAILED ($((SECONDS - start)) s)"
    fi
    return $status
}

check_format() {
    local tool=clang-format-14 arguments=(--dry-run --Werror)
    command -v $tool >/dev/null || die "$tool is missing; formatting is pinned to that version"
    [ "${1:-}" != --fix ] || arguments=(-i)
    our_files '*.h' '*.hpp' '*.cpp' '*.cu' '*.cuh' '*.c' | xargs -0 -r -n 20 -P "$JOBS" $tool --style=file "${arguments[@]}"
}

configure_for_lint() { configure lint; } # the command of each source alone, in build-lint; nothing is built there

check_tidy() {
    # The library, the program and the bindings. Tests are compiled with all warnings but not linted: GoogleTest's
    # macros cost more time than the rest together.
    # BASE: set by ./dev test, where only what differs from a commit is linted. EVERYTHING: each source alone.
    # Alone, a few sources cost less than all of the groups that they are in; many cost five times as much.
    local preset=lint since=() few=60
    if [ -n "${BASE:-}" ]; then since=(--since "$BASE"); fi
    if [ -z "${EVERYTHING:-}" ]; then
        configure lint
        [ "$(python3 tools/checks/tidy.py --count "${since[@]}" build-lint)" -le $few ] || preset=lint-together
    fi
    configure "$preset"
    python3 tools/checks/tidy.py --self-test --tool "clang-tidy-$(clang_version)"
    python3 tools/checks/tidy.py --jobs "$JOBS" --tool "clang-tidy-$(clang_version)" "${since[@]}" "build-$preset"
}

check_includes() {
    python3 tools/checks/includes.py --self-test
    python3 tools/checks/includes.py
}

check_clocks() {
    python3 tools/checks/clocks.py --self-test
    python3 tools/checks/clocks.py
}

check_headers() {
    local since=()
    [ -z "${BASE:-}" ] || since=(--since "$BASE")
    configure_for_lint
    python3 tools/checks/headers.py --jobs "$JOBS" "${since[@]}" build-lint
}

check_isa() {
    configure_for_checks
    cmake --build build --target farfield_app -j "$JOBS" >build/check_isa.log 2>&1 || {
        cat build/check_isa.log
        return 1
    }
    python3 tools/checks/isa.py --self-test
    python3 tools/checks/isa.py build/farfield build/libfarfield.a build/src/studies/libfarfield_studies.a
}

check_shellcheck() {
    local scripts=() file
    while IFS= read -r -d '' file; do
        if [[ $file == *.sh ]] || head -c 40 "$file" | grep -qaE '^#!.*\b(ba)?sh\b'; then scripts+=("$file"); fi
    done < <(our_files)
    shellcheck -x -P SCRIPTDIR/.. "${scripts[@]}"
}

check_changes() { bash tools/dev/changes_test.sh; }

check_tree() { python3 tools/checks/tree.py; }

check_figures() {
    python3 tools/checks/figures.py --self-test
    python3 tools/checks/figures.py
}

check_docs() { python3 tools/checks/docs.py; }

configure_for_checks() { # keeps what the build folder was configured for
    if [ -f build/build.ninja ]; then
        cmake -S . -B build >/dev/null # lists new sources
    else
        configure test
    fi
}
