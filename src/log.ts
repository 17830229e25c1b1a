/** The access log and the server's own events: one line each; no answer waits for them (CONTRACT 3). */
import { write } from "node:fs";
import { visible, visibleJson } from "./visible.ts";

const STDERR = 2;
const FLUSH_MS = 500;
/** Past this much unread, lines are dropped and counted: a pipe that nobody reads must not stop the server. */
const UNREAD_BYTES = 1024 * 1024;
/** Characters of what a client sent: a few long addresses must not fill that. */
const LONGEST = 500;

interface Access {
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

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

const accessText = ({ method, host, path, status, bytes, ms, address, request_id }: Access): string =>
  `${method} ${oneLine(host)} ${oneLine(path)} ${status} ${bytes} ${ms.toFixed(1)}ms ${address} ${request_id}`;

/** All of `chunk`, in as many writes as it takes. `wrote` hears of each; `done` whether the descriptor still takes any. */
function writeAll(fd: number, chunk: Buffer, wrote: (bytes: number) => void, done: (open: boolean) => void): void {
  write(fd, chunk, 0, chunk.length, null, (error, written = 0) => {
    wrote(written);
    if (error?.code === "EAGAIN") return void setTimeout(writeAll, 20, fd, chunk, wrote, done).unref();
    if (!error && written < chunk.length) return writeAll(fd, chunk.subarray(written), wrote, done);
    done(!error);
  });
}

/** Lines for a file descriptor, written later, in order, one write at a time: nobody waits for them. */
function lineWriter(fd: number, time: () => string) {
  let waiting: string[] = [];
  let size = 0;
  const dropped = { untold: 0, in_all: 0 };
  let writing = false;
  let timer: ReturnType<typeof setTimeout> | null = null;

  function flush(): void {
    timer = null;
    if (writing || (waiting.length === 0 && dropped.untold === 0)) return;
    if (dropped.untold > 0) waiting.push(`${time()} log: ${dropped.untold} lines dropped, nobody was reading\n`);
    const chunk = Buffer.from(waiting.join(""));
    waiting = [];
    size = chunk.length;
    dropped.untold = 0;
    writing = true;
    writeAll(fd, chunk, (bytes) => void (size -= bytes), written);
  }
  function written(open: boolean): void {
    if (!open) size = 0; // what is left has no reader
    writing = false;
    if (waiting.length > 0) schedule();
  }
  const schedule = () => {
    timer ??= setTimeout(flush, FLUSH_MS);
    timer.unref();
  };
  function line(text: string): void {
    if (size > UNREAD_BYTES) return void (dropped.untold++, dropped.in_all++);
    size += text.length + 1;
    waiting.push(`${text}\n`);
    schedule();
  }
  return { line, dropped: () => dropped.in_all, flush, idle: () => !writing && waiting.length === 0 };
}

/** Until all is written, or for a second where nobody reads. */
async function drain({ flush, idle }: ReturnType<typeof lineWriter>): Promise<void> {
  const giveUp = performance.now() + 1000;
  do {
    flush();
    await Bun.sleep(5);
  } while (!idle() && performance.now() < giveUp);
}

/** `text` and `json` go to stderr. With `off`, answers are not logged; events and errors still are, as text. */
export function createLog(format: "text" | "json" | "off", now: () => number, fd = STDERR): Log {
  const timeNow = () => new Date(now()).toISOString();
  const out = lineWriter(fd, timeNow);
  const say = (level: "info" | "error", message: string, request_id: string | undefined) => {
    const time = timeNow();
    const line = { time, level, message, request_id };
    out.line(
      format === "json" ? visibleJson(line) : oneLine(`${time} ${level} ${message} ${request_id ?? ""}`).trimEnd(),
    );
  };
  return {
    access_enabled: format !== "off",
    access(sent) {
      const time = timeNow();
      const entry = { ...sent, host: cut(sent.host), path: cut(sent.path) };
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
    close: () => drain(out),
  };
}
