#!/usr/bin/env bash
# Proves in a repository of its own that changes.sh finds what differs, and leaves nothing out that may be affected.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
git init -q -b main
git config user.email test@example.org
git config user.name test
# shellcheck source=tools/dev/changes.sh
. "$here/changes.sh"
cases=0 failures=0

expect() { # expect WHAT FOUND WANTED
    cases=$((cases + 1))
    if [ "$2" = "$3" ]; then return; fi
    echo "changes.sh: $1: found '$2', expected '$3'"
    failures=$((failures + 1))
}

change() { # change FILE…: commits them anew
    local file
    for file in "$@"; do
        mkdir -p "$(dirname "$file")"
        echo "$RANDOM $RANDOM" >>"$file"
    done
    git add -A
    git commit -qm change
}

change README.md src/base/a.h
expect "no origin" "$(base_commit)" ""
git clone -q . clone
cd clone
git config user.email test@example.org
git config user.name test
expect "HEAD itself" "$(base_commit)" ""
start=$(git rev-parse HEAD)
expect "another commit by name" "$(FARFIELD_BASE=HEAD base_commit)" ""
change docs/a.md
expect "ahead of origin" "$(base_commit)" "$start"
expect "documents" "$(changed_side "$start")" none
echo new >src_new.cpp
expect "a file that is not added yet" "$(changed_side "$start")" all
rm src_new.cpp
change src/stencil/a.cpp
expect "stencil" "$(changed_side "$start")" stencil
change tests/unit/sums/a.cpp
expect "both sides" "$(changed_side "$start")" all
start=$(git rev-parse HEAD)
change src/sums/a.cpp src/dynamics/b/c.cpp
expect "particles" "$(changed_side "$start")" particles
change src/base/a.h
expect "what both sides see" "$(changed_side "$start")" all

runs() { # runs SIDE LABEL: yes, or no where the side leaves the label out
    local pattern
    pattern=$(labels_left_out "$1")
    if [ -n "$pattern" ] && [[ $2 =~ $pattern ]]; then echo no; else echo yes; fi
}

for label in cli unit_studies golden_guide parity_portable unit_base; do
    expect "$label on the side of stencil programs" "$(runs stencil $label)" yes
    expect "$label on the side of particles" "$(runs particles $label)" yes
done
for label in unit_stencil_cpu property_stencil property_lang unit_lang unit_jit; do
    expect "$label on its side" "$(runs stencil $label)" yes
    expect "$label on the other side" "$(runs particles $label)" no
done
for label in unit_sums property_direct unit_initial oracle_kernels; do
    expect "$label on its side" "$(runs particles $label)" yes
    expect "$label on the other side" "$(runs stencil $label)" no
done
[ $failures -eq 0 ] && echo "changes.sh finds what differs in $cases cases"
exit $((failures > 0))
