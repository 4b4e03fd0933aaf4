# shellcheck shell=bash
# What differs from the commit that a branch started from: lint and the sanitizers look at that alone.

base_commit() { # the commit that origin's branch and HEAD share; nothing where it is unknown or HEAD itself
    local upstream base
    for upstream in "${FARFIELD_BASE:-}" origin/HEAD origin/main; do
        [ -n "$upstream" ] || continue
        base=$(git merge-base HEAD "$upstream" 2>/dev/null) || continue
        if [ "$base" != "$(git rev-parse HEAD)" ] || ! git diff --quiet HEAD; then echo "$base"; fi
        return 0
    done
}

changed_side() { # changed_side BASE: all, particles, stencil or none: the half of the house that differs
    local name side=none
    while IFS= read -r name; do
        case $name in
            *.md | docs/* | bench/results/* | tools/checks/*) continue ;;
            src/lang/* | src/stencil/* | tests/*stencil* | tests/unit/lang/* | examples/stencil/*)
                if [ $side = none ] || [ $side = stencil ]; then side=stencil; else side=all; fi
                ;;
            src/sums/* | src/dynamics/* | tests/unit/sums/* | tests/unit/dynamics/* | tests/unit/initial/*)
                if [ $side = none ] || [ $side = particles ]; then side=particles; else side=all; fi
                ;;
            *) side=all ;;
        esac
        [ $side != all ] || break
    done < <(
        git diff --name-only "$1"
        git ls-files --others --exclude-standard
    )
    echo $side
}

# What of ctest a side is: programs whose names tell them to be of stencil programs and their language, or the others.
STENCIL_LABELS='stencil|lang|jit|harmonics|parity|property|golden|guide'
ctest_of_side() { # ctest_of_side SIDE: arguments that leave out the tests of the other side, one a line
    case $1 in
        stencil) printf '%s\n' -L "$STENCIL_LABELS" ;;
        particles) printf '%s\n' -LE "$STENCIL_LABELS|^oracle_direct\$" ;;
    esac
}
