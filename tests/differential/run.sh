#!/usr/bin/env bash
# run.sh QTOOL FOLDER [OPTION...]: makes a Python environment with the pinned requirements in FOLDER, once, and runs the comparison.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
qtool=$1 folder=$2
shift 2
mkdir -p "$folder"
if ! cmp -s "$here/requirements.txt" "$folder/requirements.txt"; then
  rm -rf "$folder/venv"
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$folder/requirements.txt"
fi
exec "$folder/venv/bin/python" "$here/differential.py" "$qtool" "$folder/peer" "$@"
