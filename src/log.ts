/** The access log and the server's own events: one line each, never in the way of an answer (CONTRACT.md 3). */
import { write } from "node:fs";
import { visible, visibleJson } from "./visible.ts";

const FLUSH_MS = 500;
/** Past this much unread, lines are dropped and counted: a pipe that nobody reads must not stop the server. */
const UNREAD_BYTES = 1024 * 1024;

export interface Access {
  method: string;
  host: string;
  /** Without query: it may hold secrets. */
  path: string;
  status: number;
  bytes: number;
  ms: number;
  address: string;
  request_id: string;
}

export interface Log {
  /** Whether answers are logged at all: what only the log needs is not computed otherwise. */
  readonly access_enabled: boolean;
  access(entry: Access): void;
  /** Lines that nobody read in time, since the start. */
  dropped(): number;
  event(message: string, request_id?: string): void;
  error(message: string, error: unknown, request_id?: string): void;
  /** Resolves when all is written, or after a second where nobody reads. */
  close(): Promise<void>;
}

/** A log line is one line, whatever a client sent; a stack keeps its line ends as `\n`. */
const oneLine = (text: string): string => visible(text.replaceAll("\n", "\\n"));

const accessText = ({ method, host, path, status, bytes, ms, address, request_id }: Access): string =>
  `${method} ${oneLine(host)} ${oneLine(path)} ${status} ${bytes} ${ms.toFixed(1)}ms ${address} ${request_id}`;

/** A file descriptor that is written behind the caller's back, in order, one write at a time. */
function lineWriter(fd: number) {
  let waiting: string[] = [];
  let size = 0;
  let dropped = 0;
  let dropped_in_all = 0;
  let writing = false;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function flush(): void {
    timer = null;
    if (writing || (waiting.length === 0 && dropped === 0)) return;
    if (dropped > 0) waiting.push(`${new Date().toISOString()} log: ${dropped} lines dropped, nobody was reading\n`);
    const chunk = Buffer.from(waiting.join(""));
    waiting = [];
    size = chunk.length;
    dropped = 0;
    writing = true;
    put(chunk);
  }
  function put(chunk: Buffer): void {
    write(fd, chunk, 0, chunk.length, null, (error, written = 0) => {
      size -= written;
      if (error?.code === "EAGAIN") return void setTimeout(put, 20, chunk).unref();
      if (!error && written < chunk.length) return put(chunk.subarray(written));
      if (error) size = 0; // a closed descriptor: nothing can be said to anybody
      writing = false;
      if (waiting.length > 0) schedule();
    });
  }
  const schedule = () => {
    timer ??= setTimeout(flush, FLUSH_MS);
    timer.unref();
  };
  return {
    dropped: () => dropped_in_all,
    line(text: string): void {
      if (size > UNREAD_BYTES) {
        dropped_in_all++;
        return void dropped++;
      }
      size += text.length + 1;
      waiting.push(`${text}\n`);
      schedule();
    },
    async close(): Promise<void> {
      const giveUp = performance.now() + 1000;
      do {
        flush();
        await Bun.sleep(5);
      } while ((writing || waiting.length > 0) && performance.now() < giveUp);
    },
  };
}

/** `text` and `json` go to stderr. With `off`, answers are not logged; events and errors still are, as text. */
export function createLog(format: "text" | "json" | "off", fd = 2): Log {
  const out = lineWriter(fd);
  const say = (level: "info" | "error", message: string, request_id: string | undefined) => {
    const time = new Date().toISOString();
    const line = { time, level, message, request_id };
    out.line(
      format === "json" ? visibleJson(line) : oneLine(`${time} ${level} ${message} ${request_id ?? ""}`).trimEnd(),
    );
  };
  return {
    access_enabled: format !== "off",
    access(entry) {
      const time = new Date().toISOString();
      out.line(format === "json" ? visibleJson({ time, ...entry }) : `${time} ${accessText(entry)}`);
    },
    dropped: out.dropped,
    event: (message, request_id) => say("info", message, request_id),
    error: (message, error, request_id) =>
      say(
        "error",
        `${message}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
        request_id,
      ),
    close: () => out.close(),
  };
}
