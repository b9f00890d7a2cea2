#!/bin/sh
# Installs the Debian packages that are missing for the given parts of the work: build, test, format.
# As root directly, otherwise with sudo; without either it prints the command and exits 1. Packages that only some checks
# want, which are skipped without them, never stop anything.
# Looks at programs and files, not at the package database, so that tools from elsewhere count too.
set -eu

missing=
wanted=
need() { missing="$missing $*"; }
want() { wanted="$wanted $*"; }
have() { command -v "$1" > /dev/null 2>&1; }
first_of() { for file in "$@"; do if [ -e "$file" ]; then return 0; fi; done; return 1; }

# The clang version the distribution installs by default decides which versioned packages go with it.
llvm_version() {
  if have clang; then
    clang -dumpversion | cut -d. -f1
  else
    apt-cache depends clang 2> /dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1
  fi
}

need_build() {
  have gcc || need gcc libc6-dev
  have cmake || need cmake
  have ninja || need ninja-build
  have pkg-config || need pkg-config
  if ! have pkg-config || ! pkg-config --exists jansson; then need libjansson-dev; fi
}

need_test() {
  have clang || need clang
  have g++ || need g++
  have python3 || need python3
  have valgrind || need valgrind libc6-dbg
  if ! have pkg-config || ! pkg-config --exists cmocka; then need libcmocka-dev; fi
  if ! have pkg-config || ! pkg-config --exists isl; then need libisl-dev; fi
  if ! first_of /usr/lib/llvm-*/build/utils/lit/lit.py || ! first_of /usr/lib/llvm-*/bin/FileCheck; then
    need llvm-@-tools
  fi
  first_of /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a \
           /usr/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a || need libclang-rt-@-dev
  have chromium || have chromium-browser || want chromium
  have dot || want graphviz
}

need_format() {
  have clang-format || need clang-format
}

for part in "$@"; do
  "need_$part"
done

# Asks for no password: nobody waits for these. The lists of packages may be old or not there yet.
install_wanted() {
  [ -n "$wanted" ] || return 0
  as_root=
  [ "$(id -u)" -eq 0 ] || as_root="sudo -n"
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086 # lists of words
  if have apt-get && $as_root true 2> /dev/null; then
    install="$as_root apt-get install --no-install-recommends -q -y $wanted"
    if $install 2> /dev/null || { $as_root apt-get update -q && $install; }; then return 0; fi
  fi
  echo "Not installed:$wanted. Checks that need it are skipped."
}

if [ -z "$missing" ]; then
  install_wanted
  exit 0
fi

if ! have apt-get; then
  echo "Missing packages (Debian names):$missing" | sed 's/@/14/g' >&2
  exit 1
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
  as_root=sudo
fi
if [ -n "$as_root" ] && ! have sudo; then
  version=$(llvm_version)
  echo "Some packages are missing. As root, run:" >&2
  echo "  apt-get update && apt-get install --no-install-recommends -y$missing" | sed "s/@/${version:-14}/g" >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -q
version=$(llvm_version)
packages=$(echo "$missing" | sed "s/@/${version:-14}/g")
echo "Installing:$packages"
# shellcheck disable=SC2086 # a list of words
$as_root apt-get install --no-install-recommends -q -y $packages
install_wanted
