#!/usr/bin/env bash
# Configures and builds the release preset, with ccache where that is installed: build/release/bin/qtool.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
if command -v ccache >/dev/null; then
  # A clone in another folder finds the same objects.
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
fi
cmake --preset release >/dev/null
cmake --build --preset release "$@"
