# shellcheck shell=bash
# Builds the fuzz targets of tests/fuzz with Clang and runs each for some seconds from its corpus.

run_fuzzers() { # run_fuzzers SECONDS: findings stay in build-asan/findings
    local seconds=$1 target name failed=()
    need build test clang
    configure_clang asan
    cmake --build build-asan --target fuzzers -j "$JOBS"
    mkdir -p build-asan/findings
    for target in build-asan/fuzz/fuzz_*; do
        [ -x "$target" ] || continue
        name=${target##*/fuzz_}
        mkdir -p "build-asan/corpus/$name" "tests/fuzz/corpus/$name"
        say "fuzzing $name for $seconds s"
        if "$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -max_len=65536 -print_final_stats=0 \
            -verbosity=0 -artifact_prefix="build-asan/findings/$name-" \
            "build-asan/corpus/$name" "tests/fuzz/corpus/$name" >"build-asan/$name.log" 2>&1; then
            record pass fuzz "$name"
        else
            tail -40 "build-asan/$name.log"
            record fail fuzz "$name" "see build-asan/$name.log; the input is in build-asan/findings"
            failed+=("$name")
        fi
    done
    [ ${#failed[@]} -eq 0 ] || die "fuzzing found something in: ${failed[*]}"
}
