#!/bin/sh
# Installs svc, or svc-server, from the folder that `bun run build --all` wrote and somebody serves:
#
#     SVC_RELEASE=https://example.com/svc/0.3.0 sh install.sh [svc|svc-server]
#
# SVC_RELEASE      the URL of the folder with the archives and SHA256SUMS
# SVC_INSTALL_DIR  where the program goes; default $HOME/.local/bin
#
# The archive's SHA-256 is compared with SHA256SUMS before anything is unpacked. Both come from the same folder: the sum
# tells a download that was torn or changed on its way, not a folder that lies. Exit codes: 0 installed, 1 not, 2 wrong use.
set -eu

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit "${2:-1}"
}

# linux-x64, darwin-arm64 …: as the archives are named.
platform() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    MINGW* | MSYS* | CYGWIN* | Windows_NT) fail "On Windows unpack $program-windows-x64.zip or $program-windows-arm64.zip from $SVC_RELEASE yourself." ;;
    *) fail "There is no build for $(uname -s), but for Linux, macOS and Windows. $otherwise" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) cpu=x64 ;;
    aarch64 | arm64) cpu=arm64 ;;
    *) fail "There is no build for $(uname -m), but for x64 and arm64. $otherwise" ;;
  esac
  case $(ldd --version 2>&1 || :) in
    *musl*) fail "The builds for Linux need glibc, and this system has musl, as Alpine. $otherwise" ;;
  esac
  printf '%s-%s\n' "$os" "$cpu"
}

# download URL FILE
download() {
  protocols=https
  case $1 in http:*) protocols=http,https ;; esac
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --proto "=$protocols" -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1"
  else
    fail "Neither curl nor wget is here to download with. Install one of them."
  fi || fail "$1 could not be downloaded."
}

# Of stdin; what follows the sum is cut off by who asks.
sum() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256
  elif command -v openssl >/dev/null 2>&1; then
    openssl dgst -sha256 -r
  else
    fail "Neither sha256sum, shasum nor openssl is here to check the sum with. Install one of them."
  fi
}

# check FILE NAME SUMS
check() {
  expected=$(awk -v name="$2" '$2 == name { print $1 }' "$3")
  [ "${#expected}" = 64 ] || fail "SHA256SUMS has no sum for $2. Nothing was installed."
  actual=$(sum <"$1")
  actual=${actual%% *}
  [ "$actual" = "$expected" ] ||
    fail "$2 has the wrong sum ($actual, and SHA256SUMS says $expected). Nothing was installed: download it again."
}

# Into the place by one rename: a program that runs keeps its own file, and a full disk leaves the old one.
place() {
  mkdir -p "$directory"
  directory=$(CDPATH='' cd "$directory" && pwd) # as PATH has it: whole, and without a slash at its end
  new="$directory/.$program.$$"
  cp "$1" "$new"
  chmod 755 "$new"
  # The build's signature for macOS on x64 does not hold (docs/self-hosting.md): sign it for this machine.
  if [ "$2" = darwin-x64 ]; then codesign --remove-signature "$new" && codesign -s - "$new"; fi
  mv -f "$new" "$directory/$program"
}

main() {
  program=${1:-svc}
  case $program in
    svc) otherwise="The npm package has svc too, and runs wherever Node 18 does." ;;
    svc-server) otherwise="From its checkout svc-server runs wherever Bun does: bun server.ts" ;;
    *) fail "$program is no program of these: svc or svc-server." 2 ;;
  esac
  [ -n "${SVC_RELEASE:-}" ] || fail "Set SVC_RELEASE to the URL of the folder with the archives and SHA256SUMS." 2
  case $SVC_RELEASE in
    http://* | https://*) ;;
    *) fail "SVC_RELEASE is $SVC_RELEASE, but must begin with https:// or http://." 2 ;;
  esac
  [ -n "${SVC_INSTALL_DIR:-}${HOME:-}" ] || fail "Set SVC_INSTALL_DIR to the folder that the program goes to." 2
  directory=${SVC_INSTALL_DIR:-$HOME/.local/bin}
  # What is moved to a folder lands inside it.
  [ ! -d "$directory/$program" ] ||
    fail "$directory/$program is a folder. Set SVC_INSTALL_DIR to another place. Nothing was installed."
  target=$(platform)
  archive=$program-$target.tar.gz
  new=
  work=$(mktemp -d)
  trap 'rm -rf "$work" ${new:+"$new"}' EXIT
  trap 'exit 130' INT TERM HUP
  download "${SVC_RELEASE%/}/SHA256SUMS" "$work/SHA256SUMS"
  download "${SVC_RELEASE%/}/$archive" "$work/$archive"
  check "$work/$archive" "$archive" "$work/SHA256SUMS"
  tar -xzf "$work/$archive" -C "$work" "$program"
  place "$work/$program" "$target"
  printf '%s is installed: %s\n' "$program" "$directory/$program"
  case ":$PATH:" in
    *":$directory:"*) ;;
    *) printf 'Your PATH does not have that folder yet: export PATH="%s:%s"\n' "$directory" "\$PATH" ;;
  esac
}

# Here and not above: a script that was cut off on its way does nothing.
main "$@"
