#!/usr/bin/env bash
# scripts/fetch.sh trusts no file that differs from its lock. Needs no network: every file lies there already.
set -euo pipefail
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf 'hello' >"$folder/good-1.0.tar.gz"
printf 'evil' >"$folder/bad-2.0.tar.gz"
cat >"$folder/lock" <<LOCK
# a comment
good 1.0 good-1.0.tar.gz 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
bad  2.0 bad-2.0.tar.gz  2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
LOCK

# expect NAME STATUS TEXT: what fetch.sh answers, stdout and stderr together
expect() {
  local status=0 text
  text=$(QTOOL_LOCK="$folder/lock" "$root/scripts/fetch.sh" "$1" "$folder" 2>&1) || status=$?
  if [ "$status" != "$2" ] || [ "$text" != "$3" ]; then
    printf 'fetch.sh %s: exit %s, expected %s\n%s\nexpected:\n%s\n' "$1" "$status" "$2" "$text" "$3" >&2
    exit 1
  fi
}

expect good 0 "$folder/good-1.0.tar.gz"
expect bad 1 "fetch.sh: error: $folder/bad-2.0.tar.gz: SHA-256 is b5c1fb2efc6d6b4674c2fdcc48ce01b43a3b7c03763c0c3355de0099ee0f8c73, expected 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
  hint: not the file that the lock names; delete it to download it again"
expect absent 1 "fetch.sh: error: $folder/lock: no file of 'absent' for $(uname -m)"
