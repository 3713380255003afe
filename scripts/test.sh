#!/usr/bin/env bash
# Builds what is missing and runs all tests.
#   scripts/test.sh [--real] [CTEST OPTION...]     --real: also the tests on other people's models, which are downloaded
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
scope=(--label-exclude '^real$')
if [ "${1:-}" = --real ]; then
  scope=()
  shift
fi
scripts/setup.sh
scripts/build.sh
ctest --preset release --no-tests=error "${scope[@]}" "$@"
