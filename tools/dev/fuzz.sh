# shellcheck shell=bash
# Builds the fuzz targets of tests/fuzz with Clang and runs each for some seconds from its corpus, as many at a time as there are jobs.

run_fuzzers() { # run_fuzzers SECONDS: findings stay in build-asan/findings
    local seconds=$1 target name names=() failed=()
    need build test clang
    configure_clang asan
    cmake --build build-asan --target fuzzers -j "$JOBS"
    mkdir -p build-asan/findings
    for target in build-asan/fuzz/fuzz_*; do
        [ -x "$target" ] || continue
        name=${target##*/fuzz_}
        names+=("$name")
        mkdir -p "build-asan/corpus/$name" "tests/fuzz/corpus/$name"
        while [ "$(jobs -rp | wc -l)" -ge "$JOBS" ]; do wait -n || true; done
        say "fuzzing $name for $seconds s"
        fuzz_one "$target" "$name" "$seconds" &
    done
    wait
    for name in "${names[@]}"; do
        if [ "$(cat "build-asan/$name.status")" = 0 ]; then
            record pass fuzz "$name"
        else
            tail -40 "build-asan/$name.log"
            record fail fuzz "$name" "see build-asan/$name.log; the input is in build-asan/findings"
            failed+=("$name")
        fi
    done
    [ ${#failed[@]} -eq 0 ] || die "fuzzing found something in: ${failed[*]}"
}

fuzz_one() { # fuzz_one TARGET NAME SECONDS: leaves its exit status in build-asan/NAME.status
    local status=0
    echo started >"build-asan/$2.status"
    "$1" -max_total_time="$3" -rss_limit_mb=2048 -timeout=10 -max_len=65536 -print_final_stats=0 -verbosity=0 \
        -artifact_prefix="build-asan/findings/$2-" "build-asan/corpus/$2" "tests/fuzz/corpus/$2" >"build-asan/$2.log" 2>&1 || status=$?
    echo $status >"build-asan/$2.status"
}
