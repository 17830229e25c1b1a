#!/bin/sh
# boxed.sh FOLDER COMMAND…: COMMAND with FOLDER for its whole file system, as user 65532, as a container runtime starts it:
# /proc, a few devices and shared memory, and nothing that can be written but /data and /tmp. Needs root. The mounts are
# nobody else's and go with the command: unshare --mount sh boxed.sh …
set -eu
image=$1
shift
mount --bind "$image" "$image"
mkdir -p "$image/proc" "$image/dev"
mount --bind "$image/data" "$image/data"
mount --bind "$image/tmp" "$image/tmp"
mount -t proc proc "$image/proc"
mount -t tmpfs tmpfs "$image/dev"
for device in null zero random urandom; do
  touch "$image/dev/$device"
  mount --bind "/dev/$device" "$image/dev/$device"
done
mkdir "$image/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$image/dev/shm"
ln -s /proc/self/fd "$image/dev/fd"
mount -o remount,bind,ro "$image"
exec chroot --userspec=65532:65532 "$image" "$@"
