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

# Test programs that only one side can change. The others, such as those of the command line, run whatever differs.
STENCIL_ALONE='stencil|_lang$|^unit_jit$'
PARTICLES_ALONE='^(unit_sums|unit_dynamics|unit_case_file|unit_initial|property_direct|oracle_kernels|oracle_direct)$'

labels_left_out() { # labels_left_out SIDE: a pattern of the labels of ctest that have nothing of the side
    case $1 in
        stencil) echo "$PARTICLES_ALONE" ;;
        particles) echo "$STENCIL_ALONE" ;;
    esac
}
