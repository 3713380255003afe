#!/usr/bin/env bash
# Formats every C++ file of the tree with clang-format 14 (another version lays out code differently).
#   scripts/format.sh [--check]     --check: change nothing, fail where a file is not formatted
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
wanted=14
formatter=$(command -v "clang-format-$wanted" || command -v clang-format || true)
found=${formatter:+$("$formatter" --version | grep -oE '[0-9]+' | head -1)}
if [ "$found" != "$wanted" ]; then
  echo "format.sh: skipped: clang-format $wanted is not installed${found:+, version $found is}"
  exit 77
fi
case ${1:-} in
  '') options=(-i) ;;
  --check) options=(--dry-run --Werror) ;;
  *) sed -n '2,3s/^# //p' "$0" >&2; exit 2 ;;
esac
find apps lib tests \( -name '*.h' -o -name '*.cpp' \) -print0 | xargs -0 "$formatter" "${options[@]}"
