# shellcheck shell=bash
# Helpers that every part of ./dev uses: messages, the number of jobs, suggestions.

JOBS=${JOBS:-$(nproc)}

# ccache, where it is installed: objects are shared between build folders
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1

say() { echo "dev: $*"; }

die() {
    echo "dev: $*" >&2
    exit 1
}

usage_error() {
    echo "dev: $*" >&2
    exit 2
}

no_arguments() { # no_arguments COMMAND "$@"
    [ $# -eq 1 ] || usage_error "'$1' takes no arguments, got '$2'; ./dev help lists what there is"
}

did_you_mean() { # did_you_mean WORD CANDIDATE…: ", did you mean 'x'?" for the nearest one, if it is near
    printf '%s\n' "$@" | awk '
        function least(a, b) { return a < b ? a : b }
        function distance(a, b,   d, i, j, cost) {
            for (i = 0; i <= length(a); i++) d[i, 0] = i
            for (j = 0; j <= length(b); j++) d[0, j] = j
            for (i = 1; i <= length(a); i++) for (j = 1; j <= length(b); j++) {
                cost = substr(a, i, 1) != substr(b, j, 1)
                d[i, j] = least(least(d[i - 1, j] + 1, d[i, j - 1] + 1), d[i - 1, j - 1] + cost)
            }
            return d[length(a), length(b)]
        }
        NR == 1 { word = $0; best = 3; next }
        distance(word, $0) < best { best = distance(word, $0); nearest = $0 }
        END { if (nearest != "") printf ", did you mean \047%s\047?", nearest }'
}

joined() { # joined SEPARATOR ITEM…: one word of them
    local IFS=$1
    shift
    echo "$*"
}

in_list() { # in_list WORD ITEM…
    local word=$1 item
    shift
    for item in "$@"; do [ "$item" != "$word" ] || return 0; done
    return 1
}

our_files() { # our_files PATHSPEC…: tracked and new files that exist, NUL-separated
    git ls-files -z --cached --others --exclude-standard -- "$@" | sort -zu |
        while IFS= read -r -d '' file; do [ ! -f "$file" ] || printf '%s\0' "$file"; done
}
