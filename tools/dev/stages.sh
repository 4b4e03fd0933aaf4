# shellcheck shell=bash
# The stages of `./dev test`. Each runs in a shell of its own and goes on after a failure; every single test is
# recorded, and the last line printed counts them all.

TSAN_PARTICLES=(unit_sums unit_dynamics unit_comm unit_ranks) # the test programs whose subject uses threads
TSAN_STENCIL=(unit_stencil_cpu unit_stencil_ranks)
# What the sanitizers leave to each other, and to --all: test programs, and patterns of ctest's names.
ASAN_PROGRAMS_LEFT_OUT=(unit_ranks unit_stencil_ranks unit_harmonics unit_studies unit_far_images unit_treecode_costs
    parity_stencil_emit)
ASAN_LEFT_OUT='^cli\.(sum_gauss|sum_density|sum_periodic|tune|bench_.*|ranks|restart|progress|examples|plot|stencil_.*)$'
ASAN_LEFT_OUT+='|EachCase\.(Survives|HasTheSameBits)|GivenUp|DecayAsLambAndOseen|ConservesTheEnergyOf'
ASAN_LEFT_OUT+='|^TreeOracle\.|LargeProgramsTakeLittleTime|IsNotDrownedByLongPrograms'
ASAN_LEFT_OUT+='|CompilesForAGpu|^PlainPolynomials\.AreTheOperators'
TSAN_LEFT_OUT='EachCase\.(Survives|StopsAndGoesOn)|^(Restart|Reinitialise|Vortices|RunPictures|Run)\.'
TSAN_LEFT_OUT+='|^(Plain|Rotated|Mirrored|Polynomials|ExactRows|DirectVariants|FmmBounds)|^Shapes/Tree\.'
CTEST_WRAPPER=()
STAGES=(build tests cuda check python asan tsan fuzz)
RESULTS=$PWD/build/results.tsv
export RESULTS
BASE="" # lint and sanitizers look at what differs from this commit; empty: at everything
EVERYTHING="" # --all: every size, repetition and instruction set; lint takes each source alone

stages_usage() {
    cat <<'TEXT'
./dev test [STAGE…] [--all]

  build     the program, the tests and the micro-benchmarks, optimised
  tests     all of ctest: unit, oracle, property, command line, install, GPU; the largest inputs a quarter as large
  cuda      the GPU code where nvcc is: compiled, and tested where a GPU is; not optimised where none is
  check     ./dev check
  python    the Python package in build/venv, its pytest tests, and its wheel where none of its libraries are
  asan      the tests with AddressSanitizer and UBSan (and a planted read beyond the end that it must report). Left out
            are those of accuracy (tests/oracle), of examples and studies, of ranks and numbers of threads (tsan has
            them), of runs that are killed and steps that are given up, of conserved quantities, costs and time, of
            emitted projects and what a GPU's compiler says, of some of the tests' own oracles, and of the command line
            those that last: Gaussians, boxes, plots, restarts, progress, stencil runs, `tune` and `bench`. Every path
            is taken once; what repeats does so where nothing watches. Of the loops the AVX2 form is watched, and
            reports of it name no lines. Of UBSan null, object-size and pointer-overflow are left out: AddressSanitizer
            watches the accesses that follow
  tsan      the tests that use threads, with ThreadSanitizer (and a planted race that it must report); of their
            programs not the tests of formulas, of trees and of restarts
  fuzz      each fuzz target of build-asan for FUZZ_SECONDS (10)

Without names all of them run. Lint, the sanitizers and, where no GPU is, the compiler of GPU code look at what differs
from the commit that HEAD and origin's branch share (or FARFIELD_BASE, a commit); at everything where that commit is
unknown or HEAD itself, and with --all.
With --all moreover:

  tests     the largest inputs whole (accuracy of sums at N = 262,144 instead of 65,536, of a cluster over 4 time
            units instead of 1), emulated kernels for more steps, 300 random programs instead of 40, all of them
            compiled for a GPU, 10,000 random fast multipole sums instead of 100
  cuda      optimised even where no GPU is, linked, and tested as far as no GPU is needed
  check     each source is linted alone
  asan      everything, with the loops of every instruction set; all of UBSan; repeated is what is repeated elsewhere
            (300 random programs instead of 18); each source reads the headers that it includes itself
            (FARFIELD_PRECOMPILE=OFF)
  tsan      the same
  fuzz      20 s for each target
  trial     random sums, kills, damaged files and programs, as a new user would meet them (tests/trial)

With --minutes N (where CI is set, and without --all: 87) a stage that would end later, going by the times of those
before it, is left out; it counts as skipped, with the reason.

The last line counts the tests: N passed, N failed, N skipped.
TEXT
}

run_stages() {
    local names=() name start minutes="" planned=0
    while [ $# -gt 0 ]; do
        name=$1
        shift
        case $name in
            --help | -h)
                stages_usage
                return 0
                ;;
            --all)
                EVERYTHING=yes
                continue
                ;;
            --minutes)
                [[ ${1:-} =~ ^[1-9][0-9]*$ ]] || usage_error "--minutes takes a whole number from 1, got '${1:-}'"
                minutes=$1
                shift
                continue
                ;;
        esac
        in_list "$name" "${STAGES[@]}" trial ||
            usage_error "no stage '$name'$(did_you_mean "$name" "${STAGES[@]}" trial --all --minutes); ./dev test --help lists them"
        names+=("$name")
    done
    [ ${#names[@]} -gt 0 ] || names=("${STAGES[@]}" ${EVERYTHING:+trial})
    [ -n "$minutes$EVERYTHING" ] || minutes=${CI:+87}
    mkdir -p build
    : >"$RESULTS"
    [ -n "$EVERYTHING" ] || BASE=$(base_commit)
    announce "${names[@]}"
    need build test check clang
    if in_list python "${names[@]}" && [ "${names[0]}" != python ]; then prepare_python; fi
    for name in "${names[@]}"; do
        start=$SECONDS
        echo
        say "stage $name"
        if [ -n "$minutes" ] && ends_late "$name" "$planned" "$minutes"; then
            record skip "$name" "stage $name" "would end after more than $minutes minutes, as fast as the stages before it were"
            say "left out: it would end after more than $minutes minutes"
            continue
        fi
        planned=$((planned + $(seconds_of_stage "$name")))
        set +e
        (
            set -e
            "stage_$name"
        )
        local status=$?
        set -e
        [ $status -eq 0 ] || record fail "$name" "stage $name" "its output is above"
        record time "$name" $((SECONDS - start))
    done
    python3 tools/dev/summary.py "$RESULTS"
}

announce() { # announce STAGE…: what will run, on what, and for about how long
    local name seconds=0
    for name in "$@"; do seconds=$((seconds + $(seconds_of_stage "$name"))); done
    say "stages: $*; about $(((seconds * 2 / (JOBS > 1 ? JOBS : 1) + 59) / 60)) min with $JOBS jobs, with packages installed"
    if [ -n "$BASE" ]; then
        say "lint, sanitizers and GPU code: what differs from ${BASE:0:12} (--all: everything)"
    else
        say "lint, sanitizers and GPU code: everything"
    fi
}

seconds_of_stage() { # on two cores of a slow machine, without ccache, rounded up; with --all estimated
    case $1 in
        build) echo 1300 ;;
        tests) if [ -n "$EVERYTHING" ]; then echo 1500; else echo 850; fi ;;
        cuda) if [ -n "$BASE" ]; then echo 500; else echo 850; fi ;;
        check) if [ -n "$EVERYTHING" ]; then echo 2400; elif [ -n "$BASE" ]; then echo 330; else echo 1500; fi ;;
        python) echo 180 ;;
        asan) if [ -n "$EVERYTHING" ]; then echo 3500; else echo 1300; fi ;;
        tsan) if [ -n "$EVERYTHING" ]; then echo 1100; else echo 600; fi ;;
        fuzz) if [ -n "$EVERYTHING" ]; then echo 250; else echo 70; fi ;;
        trial) echo 1200 ;;
    esac
}

ends_late() { # ends_late STAGE PLANNED MINUTES: PLANNED: seconds that the stages before it take on a slow machine
    local seconds
    seconds=$(seconds_of_stage "$1")
    # a machine that is slower still stays so; one that is faster is not relied upon
    if [ "$2" -gt 0 ] && [ "$SECONDS" -gt "$2" ]; then seconds=$((seconds * SECONDS / $2)); fi
    [ $((SECONDS + seconds)) -gt $(($3 * 60)) ]
}

record() { # record pass|fail|skip|time STAGE NAME [REASON]
    [ -z "${RESULTS:-}" ] || printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "${4:-}" >>"$RESULTS"
}

run_ctest() { # run_ctest STAGE BUILD_FOLDER [CTEST_ARG…]: failures are recorded case by case, not by its status
    local stage=$1 folder=$2 report=$PWD/$2/$1.junit.xml
    shift 2
    rm -f "$report"
    "${CTEST_WRAPPER[@]}" ctest --test-dir "$folder" -j "$JOBS" --output-on-failure --no-tests=error --output-junit "$report" "$@" </dev/null || true
    python3 tools/dev/junit.py "$stage" "$report" >>"$RESULTS"
}

stage_build() {
    configure test
    cmake --build build -j "$JOBS"
    record pass build "compile and link"
}

stage_tests() {
    [ -f build/CTestTestfile.cmake ] || stage_build
    if [ -n "$EVERYTHING" ]; then
        export FARFIELD_RANDOM_DEVICE_CODE=all FARFIELD_RANDOM_SUMS=10000
    else
        export FARFIELD_SHORTER_TESTS=1 FARFIELD_RANDOM_PROGRAMS=40 FARFIELD_RANDOM_SUMS=100
    fi
    run_ctest tests build
}

stage_cuda() { # compiling needs no GPU; the tests skip without one and say why
    if ! PATH=$PATH:/usr/local/cuda/bin command -v nvcc >/dev/null; then
        record skip cuda "the GPU code" "no nvcc on this machine"
        return 0
    fi
    CUDACXX=$(PATH=$PATH:/usr/local/cuda/bin command -v nvcc)
    export CUDACXX CCACHE_DEPEND=1 # as in stage_asan
    local quickly="" # where nothing runs the code it need not be fast
    if [ -z "$EVERYTHING" ] && ! nvidia-smi -L >/dev/null 2>&1 && "$CUDACXX" --help | grep Ofast-compile >/dev/null; then quickly=-Ofc=max; fi
    configure cuda "-DCMAKE_CUDA_FLAGS=$quickly"
    python3 tools/checks/gpu_objects.py --self-test
    if [ -n "$BASE" ] && [ -n "$quickly" ]; then
        local objects
        objects=$(python3 tools/checks/gpu_objects.py "$BASE" build-cuda)
        if [ -n "$objects" ]; then
            # shellcheck disable=SC2086  # one object a line
            cmake --build build-cuda -j "$JOBS" --target $objects
            record pass cuda "compile what differs"
        else
            record skip cuda "compile" "no source for GPUs differs from ${BASE:0:12}"
        fi
        record skip cuda "link and run without a GPU" "sources that do not differ from ${BASE:0:12} were not compiled"
        return 0
    fi
    cmake --build build-cuda -j "$JOBS" --target farfield_app gpu_tests gpu_box_tests unit_sums unit_backend unit_cuda unit_studies
    record pass cuda "compile and link"
    # the GPU's tests, and what a build with CUDA does where there is no GPU
    run_ctest cuda build-cuda -L '^(gpu_direct|unit_sums|unit_backend|unit_cuda|unit_studies)$|^cli_device$'
}

stage_check() {
    local name
    for name in "${CHECKS[@]}"; do
        if one_check "$name"; then record pass check "$name"; else record fail check "$name" "./dev check $name"; fi
    done
}

stage_python() {
    if [ ! -f pyproject.toml ]; then
        record skip python "the Python package" "this checkout has no pyproject.toml"
        return 0
    fi
    . tools/dev/python.sh
    . tools/dev/wheel.sh
    run_pytest
    test_wheel
}

prepare_python() { # while the first stages compile, what the network has for a later one
    [ -f pyproject.toml ] || return 0
    . tools/dev/python.sh
    ensure_venv >build/venv.log 2>&1 &
}

side_to_sanitize() { # all, particles, stencil or none
    if [ -n "$BASE" ]; then changed_side "$BASE"; else echo all; fi
}

stage_asan() {
    local side labels without=$ASAN_LEFT_OUT programs=("${ASAN_PROGRAMS_LEFT_OUT[@]}")
    if [ -n "$EVERYTHING" ]; then without='^$' programs=(); fi
    labels="^($(joined '|' "${programs[@]}"))$"
    without+="|${labels%$}_NOT_BUILT$"
    side=$(side_to_sanitize)
    case $side in
        none)
            record skip asan "tests with AddressSanitizer" "no source differs from ${BASE:0:12}"
            return 0
            ;;
        all) ;;
        *) labels+="|$(labels_left_out "$side")" ;;
    esac
    configure_clang asan "-DFARFIELD_TESTS_LEFT_OUT=$(joined ';' "${programs[@]}")"
    export CCACHE_DEPEND=1 # nothing else compiles these objects: what is not known yet need not be preprocessed first
    cmake --build build-asan -j "$JOBS"
    planted_overflow
    # Up to LLVM 16 the interceptor of __tls_get_addr takes some blocks of memory for others of older C libraries,
    # by chance, and then the search for leaks dies (LeakSanitizer: "Tracer caught signal 11").
    local options=detect_stack_use_after_return=1:strict_string_checks=1:intercept_tls_get_addr=0
    [ -n "$EVERYTHING" ] || export FARFIELD_RANDOM_PROGRAMS=18 FARFIELD_FEWER_TESTS=1
    ASAN_OPTIONS=$options UBSAN_OPTIONS=print_stacktrace=1 \
        LSAN_OPTIONS=suppressions=$PWD/tools/dev/lsan.supp:print_suppressions=0 \
        run_ctest asan build-asan -LE "$labels" -E "$without"
}

planted_overflow() { # as planted_race: AddressSanitizer must see a read beyond the end and accept correct code
    local program=build-asan/planted_overflow log=build-asan/planted_overflow.log
    "clang++-$(clang_version)" -O1 -g1 -fsanitize=address,undefined tools/dev/planted_overflow.cpp -o $program
    if ! $program >$log 2>&1; then
        cat $log
        record fail asan "planted overflow" "correct code is reported"
    elif $program overflow >$log 2>&1 || ! grep -q heap-buffer-overflow $log; then
        record fail asan "planted overflow" "a read beyond the end is not reported"
    else
        record pass asan "planted overflow"
    fi
}

stage_tsan() {
    local programs without=$TSAN_LEFT_OUT
    [ -z "$EVERYTHING" ] || without='^$'
    case $(side_to_sanitize) in
        none)
            record skip tsan "tests with ThreadSanitizer" "no source differs from ${BASE:0:12}"
            return 0
            ;;
        stencil) programs=("${TSAN_STENCIL[@]}") ;;
        particles) programs=("${TSAN_PARTICLES[@]}") ;;
        *) programs=("${TSAN_PARTICLES[@]}" "${TSAN_STENCIL[@]}") ;;
    esac
    local quiet=() # randomised addresses of newer kernels do not suit this version of the sanitizer
    if setarch "$(uname -m)" -R true 2>/dev/null; then quiet=(setarch "$(uname -m)" -R); fi
    configure_clang tsan
    [ -n "$EVERYTHING" ] || export FARFIELD_FEWER_TESTS=1
    export CCACHE_DEPEND=1 # as in stage_asan
    "${quiet[@]}" cmake --build build-tsan -j "$JOBS" --target "${programs[@]}"
    # libomp tells the sanitizer about its barriers (archer), and is itself not instrumented
    export TSAN_OPTIONS="ignore_noninstrumented_modules=1 halt_on_error=1"
    OMP_TOOL_LIBRARIES=/usr/lib/llvm-$(clang_version)/lib/libarcher.so
    export OMP_TOOL_LIBRARIES
    CLANG_VERSION=$(clang_version)
    FARFIELD_CXX=$PWD/tools/dev/tsan_cxx # code that programs generate is instrumented as well
    export CLANG_VERSION FARFIELD_CXX
    planted_race
    CTEST_WRAPPER=("${quiet[@]}")
    run_ctest tsan build-tsan -L "^($(joined '|' "${programs[@]}"))$" -E "$without"
}

planted_race() { # a sanitizer that reports nothing proves nothing: it must see this race and not its cure
    "clang++-$(clang_version)" -O1 -g1 -fopenmp -fsanitize=thread tools/dev/planted_race.cpp -o build-tsan/planted_race
    if ! "${quiet[@]}" build-tsan/planted_race >build-tsan/planted_race.log 2>&1; then
        cat build-tsan/planted_race.log
        record fail tsan "planted race" "correct OpenMP code is reported"
    elif "${quiet[@]}" build-tsan/planted_race race >build-tsan/planted_race.log 2>&1; then
        record fail tsan "planted race" "a real race is not reported"
    else
        record pass tsan "planted race"
    fi
}

stage_fuzz() {
    . tools/dev/fuzz.sh
    run_fuzzers "${FUZZ_SECONDS:-$([ -n "$EVERYTHING" ] && echo 20 || echo 10)}" || true # each finding is recorded
}

stage_trial() { # prints its seed; tests/trial/trial.py --seed repeats it
    [ -x build/tests/property_stencil ] || stage_build
    if python3 tests/trial/trial.py build/farfield build/tests/property_stencil; then
        record pass trial "random sums, kills, damaged files and programs"
    else
        record fail trial "random sums, kills, damaged files and programs" "its output is above"
    fi
}
