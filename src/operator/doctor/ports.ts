/** Whether the server can listen, or does. */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { isServed } from "../../store/operations.ts";
import { listenError } from "../../config/machine.ts";
import type { Finding, Patient } from "./finding.ts";

const LISTENS = "0A";

/** The sockets that listen at a port, as Linux lists them: number → user. */
function listening(port: number): Map<string, number> {
  const sockets = new Map<string, number>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readText(table).split("\n").slice(1)) {
      const [, local = "", , state, , , , uid, , inode = ""] = line.trim().split(/\s+/);
      const at = Number.parseInt(local.split(":").at(-1)!, 16);
      if (state === LISTENS && at === port) sockets.set(inode, Number(uid));
    }
  }
  return sockets;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return ""; // another system, or no IPv6
  }
}

/** What a process has open; none where that is not ours to know. */
function openIn(pid: string): string[] {
  try {
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).flatMap((name) => linkOf(join(folder, name)));
  } catch {
    return [];
  }
}

function linkOf(path: string): string[] {
  try {
    return [readlinkSync(path)];
  } catch {
    return []; // closed meanwhile
  }
}

const socketsAmong = (open: readonly string[], sockets: ReadonlyMap<string, number>): string[] =>
  open.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []).filter((inode) => sockets.has(inode));

/** Whether a process that listens there has this directory's database open. One with a capability (for a port below 1024)
 *  shows nobody what it has open: then it is this user's socket, while a server has the data directory. */
function isOwnServers(port: number, data_dir: string): boolean {
  const sockets = listening(port);
  if (sockets.size === 0 || !isServed(data_dir)) return false;
  const database = join(realpathSync(data_dir), "db");
  const seen = new Set<string>();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    const open = openIn(name);
    const its = socketsAmong(open, sockets);
    if (its.length > 0 && open.includes(database)) return true;
    for (const inode of its) seen.add(inode);
  }
  return [...sockets].some(([inode, uid]) => uid === process.getuid?.() && !seen.has(inode));
}

/** Listens for a moment; the error where it may not. */
function tryToListen(hostname: string, port: number): NodeJS.ErrnoException | null {
  try {
    Bun.listen({ hostname, port, socket: { data() {} } }).stop(true);
    return null;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
}

export function ports({ config }: Patient): Finding {
  const { host, port, data_dir } = config;
  if (port === 0) return { status: "ok", message: "The server picks a free one (--port 0)." };
  if (isOwnServers(port, data_dir)) {
    return { status: "ok", message: `Port ${port} is held by this data directory's own server.` };
  }
  const error = tryToListen(host, port);
  if (error === null) return { status: "ok", message: `Port ${port} of ${host} is free.` };
  const known = listenError(error, config);
  const taken = `Port ${port} of ${host} is taken by another program: ss -ltnp 'sport = :${port}' names it. Stop that, or set another --port.`;
  return {
    status: "fail",
    message: known ?? (error.code === "EADDRINUSE" ? taken : `${error.message}: set another --port or --host.`),
  };
}
