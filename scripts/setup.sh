#!/usr/bin/env bash
# Installs what qtool is built from: the distribution's packages (as root or by sudo), and the pinned ONNX and ONNX Runtime of
# scripts/dependencies.lock in one cache folder, ${QTOOL_DEPS:-${XDG_CACHE_HOME:-~/.cache}/qtool}. What is there already is left
# alone: a second run needs no network. CMake learns where they are from build/dependencies.cmake.
#   scripts/setup.sh [--tools]      --tools: also clang-format, clang-tidy, clang and ccache, which only developers need
set -euo pipefail
shopt -s inherit_errexit
root=$(dirname "$(dirname "$(readlink -f "$0")")")
deps=${QTOOL_DEPS:-${XDG_CACHE_HOME:-$HOME/.cache}/qtool}

# package of Debian and Ubuntu, and what shows that it is there on any other distribution
packages='
g++                 command g++
cmake               command cmake
ninja-build         command ninja
pkg-config          command pkg-config
python3-venv        python venv
ca-certificates     file /etc/ssl/certs/ca-certificates.crt
protobuf-compiler   command protoc
libprotobuf-dev     header google/protobuf/message.h
libcli11-dev        header CLI/CLI.hpp
libspdlog-dev       header spdlog/spdlog.h
nlohmann-json3-dev  header nlohmann/json.hpp
catch2              header catch2/catch.hpp catch2/catch_all.hpp
libhwy-dev          header hwy/highway.h
libssl-dev          header openssl/evp.h
libzip-dev          header zip.h
libre2-dev          header re2/re2.h
'
tools='
clang-format        command clang-format
clang-tidy-19       command clang-tidy-19
clang-19            command clang++-19
libclang-rt-19-dev  command clang++-19
ccache              command ccache
'

fail() {
  echo "setup.sh: error: $1" >&2
  if [ $# -gt 1 ]; then echo "  hint: $2" >&2; fi
  exit 1
}

# Whether the thing that shows a package is there: command NAME, file PATH, python MODULE, or header ANY-OF...
is_there() {
  local kind=$1 name
  shift
  for name in "$@"; do
    case $kind in
      command) command -v "$name" ;;
      file) test -e "$name" ;;
      python) python3 -c "import $name, ensurepip" ;;
      header) echo "#include <$name>" | g++ -E -x c++ - ;;
    esac >/dev/null 2>&1 && return 0
  done
  return 1
}

is_debian_like() {
  [ -r /etc/os-release ] && [[ " $(. /etc/os-release && echo "${ID:-} ${ID_LIKE:-}") " =~ \ (debian|ubuntu)\  ]] &&
    command -v apt-get >/dev/null
}

missing_packages() {
  local package probe
  while read -r package probe; do
    if is_debian_like; then
      [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || echo "$package"
    else
      # shellcheck disable=SC2086
      is_there $probe || echo "$package"
    fi
  done < <(grep . <<<"$packages")
}

install_packages() {
  local missing as_root=()
  missing=$(missing_packages | xargs)
  [ -n "$missing" ] || return 0
  is_debian_like || fail "unknown distribution, these packages are missing: $missing" \
    "the names are Debian's; install them, development files included, and run this again"
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "not root, and no sudo; these packages are missing: $missing" "as root: apt-get install $missing"
    as_root=(sudo)
  fi
  echo "setup.sh: installing $missing"
  "${as_root[@]}" apt-get update -qq
  # shellcheck disable=SC2086
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# make_folder FOLDER FUNCTION: runs FUNCTION to fill a temporary folder, which gets its name when it is complete. An
# interrupted run leaves no FOLDER behind.
make_folder() {
  local folder=$1 function=$2 scratch
  [ ! -d "$folder" ] || return 0
  mkdir -p "$deps"
  find "$deps" -maxdepth 1 -name 'tmp.*' -mmin +120 -exec rm -rf {} +  # of a run that was killed
  scratch=$(mktemp -d "$deps/tmp.XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$scratch'" EXIT
  echo "setup.sh: making $folder"
  mkdir "$scratch/out"
  "$function" "$scratch" "$scratch/out"
  mv -T "$scratch/out" "$folder" 2>/dev/null || [ -d "$folder" ]  # another run may have been first
  rm -rf "$scratch"
  trap - EXIT
}

locked_version() { awk -v name="$1" '$1 == name { print $2; exit }' "$root/scripts/dependencies.lock"; }
unpack_wheel() { python3 -m zipfile -e "$1" "$2"; }

# Prints a cmake of at least 3.26, which ONNX needs: the system's or the pinned one, unpacked into folder $1.
cmake_for_onnx() {
  local version wheel
  version=$(cmake --version | awk 'NR == 1 { print $3 }')
  if [ "$(printf '3.26\n%s\n' "$version" | sort -V | head -1)" = 3.26 ]; then
    command -v cmake
    return
  fi
  wheel=$("$root/scripts/fetch.sh" cmake "$1/download")
  unpack_wheel "$wheel" "$1/cmake"
  chmod +x "$1/cmake/cmake/data/bin/cmake"
  echo "$1/cmake/cmake/data/bin/cmake"
}

build_onnx() {
  local scratch=$1 out=$2 source cmake launcher=()
  cmake=$(cmake_for_onnx "$scratch")
  source=$("$root/scripts/fetch.sh" onnx "$scratch/download")
  mkdir "$scratch/source"
  tar -xf "$source" -C "$scratch/source" --strip-components 1
  ! command -v ccache >/dev/null || launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  {
    "$cmake" -G Ninja -S "$scratch/source" -B "$scratch/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$out" \
      -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DONNX_USE_PROTOBUF_SHARED_LIBS=ON \
      -DONNX_GEN_PB_TYPE_STUBS=OFF -DONNX_BUILD_TESTS=OFF "${launcher[@]}" &&
      "$cmake" --build "$scratch/build" --target install
  } >"$scratch/log" 2>&1 || {
    tail -30 "$scratch/log" >&2
    fail "building onnx failed"
  }
  cp "$scratch/source/LICENSE" "$out/"
}

# The library comes from the Python wheel, which has no headers; those are Debian's, of an older release, which is what
# ONNX Runtime's C API allows: it keeps every older version of itself.
unpack_onnxruntime() {
  local scratch=$1 out=$2 wheel headers library
  wheel=$("$root/scripts/fetch.sh" onnxruntime "$scratch/download")
  headers=$("$root/scripts/fetch.sh" libonnxruntime-dev "$scratch/download")
  unpack_wheel "$wheel" "$scratch/wheel"
  dpkg-deb -x "$headers" "$scratch/headers"
  mkdir "$out/lib"
  library=libonnxruntime.so.$(locked_version onnxruntime)
  cp "$scratch/wheel/onnxruntime/capi/$library" "$out/lib/"
  ln -s "$library" "$out/lib/libonnxruntime.so.1"
  ln -s libonnxruntime.so.1 "$out/lib/libonnxruntime.so"
  cp -r "$scratch/headers/usr/include/onnxruntime" "$out/include"
  cp "$scratch/wheel/onnxruntime/LICENSE" "$scratch/wheel/onnxruntime/ThirdPartyNotices.txt" "$out/"
}

# cmake/QtoolDependencies.cmake reads this file; it is only rewritten where it changes, so that CMake has nothing to do again.
write_cmake_file() {
  local file=$root/build/dependencies.cmake text
  text=$(printf 'set(QTOOL_ONNX_ROOT "%s")\nset(QTOOL_ONNXRUNTIME_ROOT "%s")' "$1" "$2")
  mkdir -p "$root/build"
  [ "$(cat "$file" 2>/dev/null)" = "$text" ] || echo "$text" >"$file"
}

case ${1:-} in
  '') ;;
  --tools) packages+=$tools ;;
  *) sed -n '2,5s/^# //p' "$0" >&2; exit 2 ;;
esac
install_packages
onnx=$deps/onnx-$(locked_version onnx)-protobuf-$(pkg-config --modversion protobuf)-gcc-$(g++ -dumpversion)-$(uname -m)
onnxruntime=$deps/onnxruntime-$(locked_version onnxruntime)-headers-$(locked_version libonnxruntime-dev)-$(uname -m)
make_folder "$onnx" build_onnx
if [ -n "${ONNXRUNTIME_ROOT:-}" ]; then
  onnxruntime=$ONNXRUNTIME_ROOT
else
  make_folder "$onnxruntime" unpack_onnxruntime
fi
write_cmake_file "$onnx" "$onnxruntime"
