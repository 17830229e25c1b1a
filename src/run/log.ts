/** The access log and the server's own events: one line each; no answer waits for them (CONTRACT 3). */
import { write, writeSync } from "node:fs";
import type { ErrorCode } from "../base/errors.ts";
import { visible, visibleJson } from "../base/visible.ts";
import { ERROR_LINES, type ErrorLine, withoutSecrets } from "./bulletin.ts";

const STDERR = 2;
const FLUSH_MS = 500;
/** A busy server does not wait for that: so much goes out at once. */
const CHUNK_BYTES = 64 * 1024;
const LINE_END = 10;
/** Between two answers a line takes twice as long to make as right behind another: so many are made at a time. */
const BATCH = 64;
/** Past this much unread, lines are dropped and counted: a pipe that is not read must not stop the server. */
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
  /** Null where the answer is no error of ours. */
  code: ErrorCode | null;
  request_id: string;
}

type LogValue = string | number | null | readonly string[] | Readonly<Record<string, number>>;

export interface Log {
  /** Whether answers are logged at all: what only the log needs is not computed otherwise. */
  readonly access_enabled: boolean;
  access(entry: Access): void;
  /** Lines that were not read in time, since the start. */
  dropped(): number;
  /** The last errors, each as one short line without secrets, the newest last; and how many there were. */
  errors(): { errors: ErrorLine[]; errors_in_all: number };
  /** A line of named values, in their order; with `off`, none. */
  record(event: string, values: Readonly<Record<string, LogValue>>): void;
  event(message: string, request_id?: string): void;
  error(message: string, error: unknown, request_id?: string): void;
  /** Resolves when all is written, or after a second when the pipe is not read. */
  close(): Promise<void>;
}

/** A log line is one line, whatever a client sent; a stack keeps its line ends as `\n`. */
const oneLine = (text: string): string => visible(text.replaceAll("\n", "\\n"));

/** Text that a client sent, nearly always plain. */
const PLAIN = /^[\x21\x23-\x5b\x5d-\x7e]*$/;
const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
const sent = (text: string): string => (text.length <= LONGEST && PLAIN.test(text) ? text : oneLine(cut(text)));
const sentJson = (text: string): string =>
  text.length <= LONGEST && PLAIN.test(text) ? `"${text}"` : visibleJson(cut(text));

/** Half of what `toFixed` takes. */
const rounded = (value: number, digits: number): number => Math.round(value * digits) / digits;

const accessText = ({ method, host, path, status, bytes, ms, address, code, request_id }: Access): string =>
  `${method} ${sent(host)} ${sent(path)} ${status} ${bytes} ${rounded(ms, 10)}ms ${address} ${code ?? "-"} ${request_id}`;

/** As `JSON.stringify` has it: only host and path can hold what it would change. */
const accessJson = ({ method, host, path, status, bytes, ms, address, code, request_id }: Access): string =>
  `"method":"${method}","host":${sentJson(host)},"path":${sentJson(path)},"status":${status},"bytes":${bytes},` +
  `"ms":${rounded(ms, 1000)},"address":"${address}",${code ? `"code":"${code}",` : ""}"request_id":"${request_id}"`;

function valueText(value: LogValue): string {
  if (value === null) return "-";
  if (typeof value !== "object") return oneLine(String(value));
  const parts = Array.isArray(value) ? value : Object.entries(value).map(([name, one]) => `${name}=${one}`);
  return oneLine(parts.join(",").replaceAll(" ", "_")) || "-"; // so that spaces part values alone
}

/** The first line of a millisecond makes the text of the time, the others take it. */
function clock(): (ms: number) => string {
  let last = NaN;
  let text = "";
  return (ms) => {
    if (ms !== last) text = new Date(ms).toISOString();
    last = ms;
    return text;
  };
}

/** All of `chunk`, in as many writes as it takes. `wrote` hears of each; `done` whether the descriptor still takes any. */
function writeAll(fd: number, chunk: Buffer, wrote: (bytes: number) => void, done: (open: boolean) => void): void {
  write(fd, chunk, 0, chunk.length, null, (error, written = 0) => {
    wrote(written);
    if (error?.code === "EAGAIN") return void setTimeout(writeAll, 20, fd, chunk, wrote, done).unref();
    if (!error && written < chunk.length) return writeAll(fd, chunk.subarray(written), wrote, done);
    done(!error);
  });
}

/** Lines as bytes, in order. As strings that wait they would cost the collector more than they cost to make. */
function lineBuffer() {
  const full: Buffer[] = [];
  let open = Buffer.allocUnsafe(CHUNK_BYTES);
  let at = 0;
  function turnOver(least = 0): void {
    if (at > 0) full.push(open.subarray(0, at));
    open = Buffer.allocUnsafe(Math.max(CHUNK_BYTES, least));
    at = 0;
  }
  return {
    /** How many bytes that is. */
    add(line: string): number {
      const most = 3 * line.length + 1; // UTF-8
      if (most > open.length - at) turnOver(most);
      const begin = at;
      at += open.write(line, at);
      open[at++] = LINE_END;
      return at - begin;
    },
    hasChunk: () => full.length > 0,
    isEmpty: () => full.length === 0 && at === 0,
    /** The first of what waits. */
    take(): Buffer {
      if (full.length === 0) turnOver();
      return full.shift()!;
    },
  };
}

/** Answers whose lines are still to be made. */
function linesDue(lineOf: (entry: Access, ms: number) => string) {
  let entries: Access[] = [];
  let times: number[] = [];
  return {
    waits: () => entries.length > 0,
    /** Whether it is time to make them. */
    add(entry: Access, ms: number): boolean {
      entries.push(entry);
      return times.push(ms) >= BATCH;
    },
    make(line: (text: string) => void): void {
      const [made, at] = [entries, times];
      [entries, times] = [[], []];
      for (const [n, entry] of made.entries()) line(lineOf(entry, at[n]!));
    },
  };
}

/** Lines for a file descriptor, written later, in order, one write at a time: no caller waits for them. */
function lineWriter(fd: number, time: () => string, due: ReturnType<typeof linesDue>) {
  const lines = lineBuffer();
  let size = 0;
  const dropped = { untold: 0, in_all: 0 };
  let writing = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    due.make(line);
    if (writing || (lines.isEmpty() && dropped.untold === 0)) return;
    if (dropped.untold > 0) size += lines.add(`${time()} log: ${dropped.untold} lines dropped, nobody was reading`);
    dropped.untold = 0;
    writing = true;
    writeAll(fd, lines.take(), (bytes) => void (size -= bytes), written);
  }
  function written(open: boolean): void {
    if (!open) size = 0; // what is left has no reader
    writing = false;
    if (!lines.isEmpty() || due.waits()) schedule();
  }
  /** Within the time that lines may wait. */
  const schedule = () => {
    if (writing) return;
    if (lines.hasChunk()) return flush();
    timer ??= setTimeout(flush, FLUSH_MS).unref();
  };
  function line(text: string): void {
    if (size > UNREAD_BYTES) return void (dropped.untold++, dropped.in_all++);
    size += lines.add(text);
    schedule();
  }
  const idle = () => !writing && lines.isEmpty() && !due.waits();
  return { line, dropped: () => dropped.in_all, flush, schedule, idle };
}

/** Waits until all is written, or for a second when the pipe is not read. */
async function drain({ flush, idle }: ReturnType<typeof lineWriter>): Promise<void> {
  const giveUp = performance.now() + 1000;
  do {
    flush();
    await Bun.sleep(5);
  } while (!idle() && performance.now() < giveUp);
}

type LogFormat = "text" | "json" | "off";

/** A sentence of the server itself. */
interface ServerLine {
  time: string;
  level: "info" | "error";
  message: string;
  request_id: string | undefined;
}

function saidText(format: LogFormat, said: ServerLine): string {
  const { time, level, message, request_id } = said;
  return format === "json" ? visibleJson(said) : oneLine(`${time} ${level} ${message} ${request_id ?? ""}`).trimEnd();
}

/** Events of a start, each written before the next thing is done: an upgrade of the database holds the thread, and a log that
 *  writes later would tell of all of it at its end. */
export const createLogAtOnce = (format: LogFormat, now: () => number, fd = STDERR): Pick<Log, "event"> => ({
  event(message, request_id) {
    const said: ServerLine = { time: new Date(now()).toISOString(), level: "info", message, request_id };
    try {
      writeSync(fd, `${saidText(format, said)}\n`);
    } catch {} // nobody reads it: the start goes on
  },
});

/** The log has the whole story of a request that failed, under this id. */
const told = (message: string, request_id: string | undefined): string =>
  request_id === undefined ? withoutSecrets(message) : `${withoutSecrets(message)} (${request_id})`;

/** `text` and `json` go to stderr. With `off`, answers are not logged; events and errors still are, as text. */
export function createLog(format: LogFormat, now: () => number, fd = STDERR): Log {
  const timeOf = clock();
  const timeNow = () => timeOf(now());
  const due = linesDue((entry, ms) =>
    format === "json" ? `{"time":"${timeOf(ms)}",${accessJson(entry)}}` : `${timeOf(ms)} ${accessText(entry)}`,
  );
  const out = lineWriter(fd, timeNow, due);
  function line(text: string): void {
    due.make(out.line);
    out.line(text);
  }
  let errors: ErrorLine[] = [];
  let errors_in_all = 0;
  const say = (level: ServerLine["level"], message: string, request_id: string | undefined) => {
    const time = timeNow();
    if (level === "error") {
      errors = [...errors, { at: time, message: told(message, request_id) }].slice(-ERROR_LINES);
      errors_in_all++;
    }
    line(saidText(format, { time, level, message, request_id }));
  };
  return {
    access_enabled: format !== "off",
    access(entry) {
      if (due.add(entry, now())) due.make(out.line);
      else out.schedule();
    },
    dropped: out.dropped,
    errors: () => ({ errors, errors_in_all }),
    record(event, values) {
      if (format === "off") return;
      const said = { time: timeNow(), level: "info", event, ...values };
      line(format === "json" ? visibleJson(said) : Object.values(said).map(valueText).join(" "));
    },
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
