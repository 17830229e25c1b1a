/** docs/server-in-ten-minutes.md and docs/self-hosting.md, pasted (CONTRACT 7): `bun test/torture/self-hosting.ts`, a
 *  minute. Needs Linux, root, and Debian's systemd, nginx-light, caddy and strace; what is lacking is said and makes the exit
 *  code 1. In namespaces of its own, with the system's folders under an overlay, the manual's lines are run as an operator
 *  runs them: the server starts as the unit would start it, with its user, umask and capabilities; the first account is
 *  invited; a renewed key is read again; backup and restore; nginx and Caddy before it. Units are judged by systemd-analyze,
 *  for no systemd runs there, and what the server asks of the kernel is compared with what the unit lets through. The lines
 *  that need a domain (certbot, a Caddy with its module) are read by bash and Caddy alone. */
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { build } from "../kit/built.ts";
import { temporaryFolder } from "../kit/process.ts";
import { pasteAll } from "./self-hosting/paste.ts";
import { enterOverlay } from "./self-hosting/shell.ts";

const NEEDED = [
  "systemd-analyze",
  "nginx",
  "caddy",
  "strace",
  "unshare",
  "setpriv",
  "runuser",
  "useradd",
  "ip",
  "curl",
  "npm",
];
/** Of processes, too: with the first one all that it started ends. */
const OWN = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
const [where, folder = ""] = process.argv.slice(2);

if (where === "inside") {
  enterOverlay(folder);
  await pasteAll(folder);
} else {
  const lacking = NEEDED.filter((program) => Bun.which(program) === null);
  if (process.getuid?.() !== 0) lacking.push("root");
  if (lacking.length > 0) {
    console.error(`not run: ${lacking.join(", ")} lacking`);
    process.exit(1);
  }
  await using dir = await temporaryFolder();
  await build(dir.path, ["svc-server"]);
  await cp(join(dir.path, "svc-server"), join(dir.path, "dist", "svc-server"));
  const inside = Bun.spawn(["unshare", ...OWN, process.execPath, import.meta.path, "inside", dir.path], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  process.exitCode = await inside.exited;
}
