#!/usr/bin/env bash
# The step of action.yml: installs the executable of a release below RUNNER_TEMP, which GitHub empties after each job, and starts
# a cluster there. Inputs are the variables INPUT_….
set -euo pipefail

secondsMax=300
bytesMax=500000000

fail() {
  local text=${1//'%'/%25}
  text=${text//$'\r'/%0D}
  echo "::error title=Coxswain::${text//$'\n'/%0A}" >&2
  exit 1
}

# matches <input> <value> <pattern> <what it must be>
matches() {
  [[ $2 =~ $3 ]] || fail "the input $1 must be $4, not '$2'"
}

version=${INPUT_VERSION#v}
if [[ -z $version ]]; then
  version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "$GITHUB_ACTION_PATH/package.json")
fi
matches version "$version" '^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$' 'a release such as 0.1.0'
matches name "$INPUT_NAME" '^[a-z0-9][-.a-z0-9]*$' "lower case letters, digits, '-' and '.'"
matches nodes "$INPUT_NODES" '^[0-9]+$' 'a number'
matches wait-timeout "$INPUT_WAIT_TIMEOUT" '^[0-9][0-9a-z.]*$' 'a duration such as 2m'
matches install-only "$INPUT_INSTALL_ONLY" '^(true|false)$' 'true or false'

[[ $RUNNER_OS == Linux ]] || fail "there are releases for Linux, not for $RUNNER_OS"
case $RUNNER_ARCH in
  X64) architecture=x64 ;;
  ARM64) architecture=arm64 ;;
  *) fail "there are releases for X64 and ARM64, not for $RUNNER_ARCH" ;;
esac

flags=()
while IFS= read -r line; do
  line="${line#"${line%%[![:space:]]*}"}"
  line="${line%"${line##*[![:space:]]}"}"
  case $line in
    '') ;;
    --data-dir* | --name | --name=*) fail "the input flags must not have $line, which the action sets" ;;
    -*) flags+=("$line") ;;
    *) fail "each line of the input flags must be a flag, not '$line'; write --flag=value" ;;
  esac
done <<<"$INPUT_FLAGS"

url=${INPUT_DOWNLOAD_URL%/}
if [[ -z $url ]]; then
  # An action that is part of the workflow's own repository (uses: ./) has no repository of its own.
  [[ -n $ACTION_REPOSITORY ]] || fail 'an action with a path (uses: ./…) needs the input download-url'
  url=$GITHUB_SERVER_URL/$ACTION_REPOSITORY/releases/download/v$version
fi
# Checksums of the same server protect only what is transferred with TLS.
protocols='=https'
case $url in
  https://*) ;;
  http://127.0.0.1:*/*) protocols='=http' ;;
  *) fail "the input download-url must begin with https://, not '$url'" ;;
esac

archive=coxswain-$version-linux-$architecture.tar.gz
base=$RUNNER_TEMP/coxswain
bin=$base/$version
mkdir -p "$bin"
work=$(mktemp -d "$base/download-XXXXXX")
trap 'rm -rf "$work"' EXIT

download() {
  curl --fail --silent --show-error --location --proto "$protocols" --retry 3 --max-time "$secondsMax" \
    --max-filesize "$bytesMax" --output "$work/$1" "$url/$1" ||
    fail "cannot download $url/$1; is there a release $version?"
}
download SHA256SUMS
grep -E "^[0-9a-f]{64}  ${archive//./\\.}\$" "$work/SHA256SUMS" >"$work/expected" ||
  fail "SHA256SUMS of $url has no $archive"
download "$archive"
(cd "$work" && sha256sum --check --strict --status expected) ||
  fail "$archive of $url does not have the checksum of SHA256SUMS"
tar --extract --gzip --no-same-owner --file "$work/$archive" --directory "$bin"
"$bin/coxswain" version
echo "$bin" >>"$GITHUB_PATH"
echo "version=$version" >>"$GITHUB_OUTPUT"
[[ $INPUT_INSTALL_ONLY == false ]] || exit 0

data=$base/clusters/$INPUT_NAME
# The flags of the input are the last ones, which apply if a flag is there twice.
"$bin/coxswain" up --detach --wait --wait-timeout "$INPUT_WAIT_TIMEOUT" --runtime simulated --nodes "$INPUT_NODES" \
  --name "$INPUT_NAME" --data-dir "$data" --port 0 "${flags[@]}" ||
  fail "the cluster is not ready; its log is $data/up.log"
kubeconfig=$data/admin.kubeconfig
echo "KUBECONFIG=$kubeconfig" >>"$GITHUB_ENV"
{
  echo "kubeconfig=$kubeconfig"
  echo "data-dir=$data"
} >>"$GITHUB_OUTPUT"
