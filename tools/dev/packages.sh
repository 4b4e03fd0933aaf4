# shellcheck shell=bash
# Which Debian packages each part of ./dev needs, and why; `need GROUP…` installs those that are missing.
# The names are the same on Debian 12 and Ubuntu 24.04, but for Clang: each has the one that suits its C++ library.

clang_version() { # the distribution's Clang: 14 on Debian 12, 18 on Ubuntu 24.04
    if [ -z "${CLANG_VERSION:-}" ]; then
        CLANG_VERSION=$(apt-cache depends clang 2>/dev/null | sed -n 's/^ *Depends: clang-\([0-9]*\)$/\1/p' | head -1)
        CLANG_VERSION=${CLANG_VERSION:-$(. /etc/os-release && [ "${ID:-}" = ubuntu ] && echo 18 || echo 14)}
    fi
    echo "$CLANG_VERSION"
}

packages_of() { # lines of "package reason"
    case $1 in
        build) cat <<'LIST' ;;
g++ the C++20 compiler
cmake configures the build
ninja-build runs the build
libfmt-dev text formatting
libhdf5-dev snapshots and checkpoints
libpng-dev pictures
libtomlplusplus-dev reads case files
libcli11-dev the command line
nlohmann-json3-dev reports
libxsimd-dev SIMD loops
libeigen3-dev linear algebra
LIST
        test) cat <<'LIST' ;;
libgtest-dev the test framework
ccache compiles nothing twice
git lists the files of the checkout
libopenmpi-dev sums and grids on several ranks
openmpi-bin starts several ranks
python3 test drivers and the Python package
python3-dev builds the Python package
python3-venv a private place for Python packages
LIST
        format) cat <<'LIST' ;;
git lists the files of the checkout
clang-format-14 formatting; the version is pinned
LIST
        check) cat <<LIST ;;
git lists the files of the checkout
python3 the checks' scripts
clang-format-14 formatting; the version is pinned
clang-tidy-$(clang_version) lint
libomp-$(clang_version)-dev OpenMP headers for Clang
shellcheck lint for shell scripts
LIST
        clang) cat <<LIST ;;
clang-$(clang_version) sanitizers that understand OpenMP, fuzzing
libclang-rt-$(clang_version)-dev run-time libraries of the sanitizers
libomp-$(clang_version)-dev OpenMP that tells ThreadSanitizer what it does
llvm-$(clang_version) names in the sanitizers' reports
lld links what sanitizers watch
LIST
        *) die "no package group '$1'" ;;
    esac
}

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

need() { # need GROUP…
    command -v dpkg-query >/dev/null || return 0 # not Debian: CMake says what it misses
    local group package reason missing=() lines=()
    for group in "$@"; do
        while read -r package reason; do
            if ! is_installed "$package" && ! in_list "$package" "${missing[@]}"; then
                missing+=("$package")
                lines+=("$(printf '  %-22s %s' "$package" "$reason")")
            fi
        done < <(packages_of "$group")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "this machine lacks:"
    printf '%s\n' "${lines[@]}"
    if [ -n "${FARFIELD_NO_INSTALL:-}" ]; then
        say "FARFIELD_NO_INSTALL is set, so nothing is installed; going on with what is here"
        return 0
    fi
    install_packages "${missing[@]}"
}

install_packages() {
    local run=(env DEBIAN_FRONTEND=noninteractive)
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            die "not root and no sudo here; have these installed, then run this again: apt-get install $*"
        if [ -t 0 ]; then
            run=(sudo "${run[@]}")
        elif sudo -n true 2>/dev/null; then
            run=(sudo -n "${run[@]}")
        else
            die "not root and no terminal to ask for sudo's password; run: sudo apt-get install $*"
        fi
    fi
    say "installing with apt: ${run[*]} apt-get install -y --no-install-recommends $*"
    local package
    for package in "$@"; do
        if [ -z "$(apt-cache policy "$package" 2>/dev/null | sed -n 's/^  Candidate: \(.*[0-9].*\)/\1/p')" ]; then
            "${run[@]}" apt-get update -q || die "apt-get update failed; is this machine offline?"
            break
        fi
    done
    apt_install() { "${run[@]}" apt-get install -y -q --no-install-recommends "$@" </dev/null; }
    if ! apt_install "$@"; then
        say "that failed; trying once more with fresh package lists"
        "${run[@]}" apt-get update -q || die "apt-get update failed; is this machine offline?"
        apt_install "$@" || die "apt could not install: $*"
    fi
}
