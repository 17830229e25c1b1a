/** Whether the server can listen, or does. */
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { listenError } from "../../config/listen-error.ts";
import type { Finding, Patient } from "./finding.ts";

const LISTENS = "0A";

/** Numbers of the sockets that listen at a port, as Linux lists them. */
function listening(port: number): Set<string> {
  const sockets = new Set<string>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readText(table).split("\n").slice(1)) {
      const [, local = "", , state, , , , , , inode = ""] = line.trim().split(/\s+/);
      if (state === LISTENS && Number.parseInt(local.split(":").at(-1)!, 16) === port) sockets.add(inode);
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

/** Whether a process that listens there has this directory's database open. */
function isOwnServers(port: number, data_dir: string): boolean {
  const sockets = listening(port);
  if (sockets.size === 0) return false;
  let database: string;
  try {
    database = join(realpathSync(data_dir), "db");
  } catch {
    return false;
  }
  const isServer = (open: string[]) =>
    open.includes(database) && open.some((link) => sockets.has(/^socket:\[(\d+)\]$/.exec(link)?.[1] ?? ""));
  return readdirSync("/proc").some((name) => /^\d+$/.test(name) && isServer(openIn(name)));
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
