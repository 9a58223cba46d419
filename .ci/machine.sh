# What `.ci/run` and `.ci/long` need of a bare Debian.  Sourced in the root of the repository.
#
# Sets `python_of` (the oldest release of each supported Python here, by version) and `found` (those versions, oldest first),
# and defines `say` and `in_a_clone`.

# A Debian package is installed only where its command is missing.
declare -A package_of=([git]=git [make]=make [python3]=python3 [pgbouncer]=pgbouncer [chromium-headless-shell]=chromium-headless-shell)
missing=()
for command in "${!package_of[@]}"; do
  command -v "$command" >/dev/null || missing+=("${package_of[$command]}")
done
for python in $(type -ap python3); do
  "$python" -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
done
if ((${#missing[@]})); then
  as_root=()
  [[ $EUID == 0 ]] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

# The oldest release of each version: what an older one gets wrong, no newer one shows.
supported=(3.11 3.12 3.13)
declare -A python_of
while read -r version path; do
  : "${python_of[${version%.*}]:=$path}"
done < <({
  type -ap python3 "${supported[@]/#/python}" || true
  command -v pyenv >/dev/null && ls "$(pyenv root)"/versions/3.1[1-3].*/bin/python3 2>/dev/null
} | while read -r path; do
  "$path" -c 'import ensurepip, platform, sys; print(platform.python_version(), sys.executable)' 2>/dev/null || true
done | sort -V)

say() { printf '\n== %s\n' "$*"; }

found=()
for version in "${supported[@]}"; do
  if [[ ${python_of[$version]-} ]]; then found+=("$version"); else say "this machine has no Python $version"; fi
done
((${#found[@]})) || { echo "no supported Python: install Python ${supported[0]} or newer" >&2; exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# in_a_clone PYTHON TARGET...: run make in a fresh clone with an empty home; only pip's configuration is this machine's.
in_a_clone() {
  local python=$1 folder
  shift
  folder=$(mktemp -d -p "$scratch")
  mkdir "$folder/home"
  git clone --quiet . "$folder/chatmemory"
  env -u VIRTUAL_ENV HOME="$folder/home" PIP_CONFIG_FILE="${PIP_CONFIG_FILE:-$HOME/.config/pip/pip.conf}" \
    make -C "$folder/chatmemory" PYTHON="$python" "$@"
  rm -rf "$folder"
}

export NEEDS_CHROMIUM=1  # without a browser, the tests of the page are skipped elsewhere; here they fail
