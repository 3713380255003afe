#!/usr/bin/env bash
# From an empty machine to a verified INT8 model: installs what is missing, builds qtool, quantizes the demo and compares.
# A second run finds everything done and needs no network.
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
scripts/setup.sh
scripts/build.sh

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}
show build/release/bin/qtool static --config configs/digits.json
show build/release/bin/qtool compare --config configs/digits.json
