#!/usr/bin/env bash
# Configures and builds the release preset, with ccache where that is installed: build/release/bin/qtool.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
cmake --preset release >/dev/null
cmake --build --preset release "$@"
