/** `bun own-mounts.ts ro|rw command…`: becomes the command, with a `/dev/shm` of its own, empty, as in another container.
 *  With the path of a file for `ro|rw`: with that `/etc/resolv.conf`. By system calls: a bare machine need not have the
 *  programs. Needs Linux and root; exit code 77 where it is not allowed. */
import { dlopen, type Pointer, ptr } from "bun:ffi";

const NEW_MOUNTS = 0x20000;
const READ_ONLY = 1;
const BIND = 0x1000;
const SHARED_WITH_NOBODY = 0x44000; // recursive, private
const NOT_ALLOWED = 77;

const text = (word: string): Pointer => ptr(Buffer.from(`${word}\0`));
const { symbols } = dlopen("libc.so.6", {
  unshare: { args: ["i32"], returns: "i32" },
  mount: { args: ["ptr", "ptr", "ptr", "u64", "ptr"], returns: "i32" },
});

const [what, program, ...rest] = process.argv.slice(2) as [string, string, ...string[]];
const is_shm = what === "ro" || what === "rw";
if (symbols.unshare(NEW_MOUNTS) !== 0) process.exit(NOT_ALLOWED);
// In a chroot the root is no mount of its own: /dev is, then.
for (const place of ["/", "/dev", "/etc"])
  symbols.mount(text("none"), text(place), text("none"), SHARED_WITH_NOBODY, text(""));
const [source, place, type, flags] = is_shm
  ? ["tmpfs", "/dev/shm", "tmpfs", what === "ro" ? READ_ONLY : 0]
  : [what, "/etc/resolv.conf", "none", BIND];
if (symbols.mount(text(source), text(place), text(type), flags, text("")) !== 0) process.exit(NOT_ALLOWED);
process.execve!(program, [program, ...rest], process.env as Record<string, string>);
