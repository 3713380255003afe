#!/usr/bin/env bash
# What `cmake --install` leaves behind works from any folder.
#   install_test.sh CMAKE BUILD_FOLDER
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$1" --install "$2" --prefix "$folder/here" >"$folder/log" || { cat "$folder/log"; exit 1; }
mv "$folder/here" "$folder/there"
cd /
"$folder/there/bin/qtool" static --config "$folder/there/share/qtool/configs/digits.json" -o "$folder/digits.int8.onnx"
test -s "$folder/digits.int8.onnx"
