#!/usr/bin/env bash
# Builds what is missing and runs all tests.
#   scripts/test.sh [--real] [--scaling] [CTEST OPTION...]
#     --real      also the tests on other people's models, which are downloaded
#     --scaling   also shards on GNU parallel and Slurm, which are installed
set -euo pipefail
cd "$(dirname "$(dirname "$(readlink -f "$0")")")"
left_out=(real scaling)
while [ "${1:-}" = --real ] || [ "${1:-}" = --scaling ]; do
  left_out=("${left_out[@]/${1#--}/}")
  shift
done
scripts/setup.sh
scripts/build.sh
ctest --preset release --no-tests=error --label-exclude "^($(IFS='|'; echo "${left_out[*]}"))$" "$@"
