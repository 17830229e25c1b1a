#!/bin/sh
# image.sh PROGRAM FOLDER: the root file system of an image that has PROGRAM and nothing else: the system's libraries that
# it loads, a folder for its data that belongs to user 65532, and one for temporary files.
set -eu
program=$1
image=$2
mkdir -p "$image/data" "$image/tmp"
cp "$program" "$image/$(basename "$program")"
# `libc.so.6 => /lib/…/libc.so.6 (0x…)`, and the loader alone on its line.
ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
  mkdir -p "$image$(dirname "$library")"
  cp -L "$library" "$image$library"
done
chmod 1777 "$image/tmp"
chown 65532:65532 "$image/data"
chmod 700 "$image/data"
