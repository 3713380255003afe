#!/usr/bin/env bash
# run.sh SCRIPT QTOOL FOLDER: makes a Python environment with the pinned requirements in FOLDER, once, and runs a script of this folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
script=$1 qtool=$2 folder=$3
mkdir -p "$folder"
if ! cmp -s "$here/requirements.txt" "$folder/requirements.txt"; then
  rm -rf "$folder/venv"
  python3 -m venv "$folder/venv"
  "$folder/venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$folder/requirements.txt"
fi
exec "$folder/venv/bin/python" "$here/$script" "$qtool" "$folder/models"
