/** A Chromium of its own for one page: an empty profile, a bound on what each of its processes may hold, no variable of
 *  the server's. It is a child of this process and of its group, which ends with it. */
import { mkdirSync, statfsSync, write } from "node:fs";
import { join } from "node:path";
import type { Chromium } from "./job.ts";

interface Browser extends Connection {
  /** Resolves when it has ended: true if a signal ended it, and not the browser itself. */
  killed: Promise<boolean>;
  /** Its last complaint, which says why it did not start. */
  complaint(): string;
}

interface BrowserStart extends Chromium {
  folder: string;
  gate: number | null;
  heard(event: Event): void;
}

/** One process may write to so much memory. The group as a whole is watched from outside. */
const MOST_MEMORY_KB = 512 * 1024;
const STDERR_KEPT = 4000;
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** The browser must not reach the buses of a desktop or of the machine. */
const NO_BUSES = { DBUS_SESSION_BUS_ADDRESS: "disabled:", DBUS_SYSTEM_BUS_ADDRESS: "disabled:" };
const LIMITED = `ulimit -c 0; ulimit -d ${MOST_MEMORY_KB} 2>/dev/null; exec "$0" "$@"`;

/** Whether /dev/shm is large enough: in a container it has 64 MB. */
function hasSharedMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    return bavail * bsize >= 256 * 1024 * 1024;
  } catch {
    return false;
  }
}

async function keepLast(stream: ReadableStream<Uint8Array>, keep: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of stream) keep(decoder.decode(chunk, { stream: true }));
  } catch {} // it ended
}

/** Throws when the machine gives no process. */
export function startBrowser({ program, sandbox, folder, gate, heard }: BrowserStart): Browser {
  const profile = join(folder, "profile");
  mkdirSync(profile, { recursive: true, mode: 0o700 });
  const switches = switchesFor({ sandbox, profile, gate, shared_memory: hasSharedMemory() });
  const child = Bun.spawn(["/bin/sh", "-c", LIMITED, program, ...switches], {
    cwd: folder,
    env: { HOME: folder, TMPDIR: folder, XDG_RUNTIME_DIR: folder, PATH, LC_ALL: "C.UTF-8", ...NO_BUSES },
    stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"],
  });
  let said = "";
  void keepLast(child.stderr, (text) => void (said = (said + text).slice(-STDERR_KEPT)));
  const [, , , to, from] = child.stdio as unknown as (number | null)[];
  const connection = openConnection(to!, from!, heard);
  const killed = child.exited.then(() => child.signalCode !== null);
  void killed.then(() => connection.close(ENDED));
  return { ...connection, killed, complaint: () => said.trim() };
}

/** A name that only the browser knows, so that no address of this machine has to be one that it may resolve. */
const GATE = "svc-gate.invalid";

/** Things a browser does that are not the page's: it asks for updates, experiments, models, a master for its casts. */
const FEATURES_OFF = [
  "AutofillServerCommunication",
  "CertificateTransparencyComponentUpdater",
  "DialMediaRouteProvider",
  "HttpsUpgrades",
  "InterestFeedContentSuggestions",
  "IsolateOrigins",
  "MediaRouter",
  "OptimizationHints",
  "Translate",
  "WebTransport",
  "site-per-process",
];

interface BrowserSwitches extends Pick<Chromium, "sandbox"> {
  profile: string;
  /** Port of the gate; null: no way out at all. */
  gate: number | null;
  /** Whether /dev/shm has room: else what processes share is written to files in the folder. */
  shared_memory: boolean;
}

/** Nothing of this machine for the page, and no way out but the gate. */
const switchesFor = ({ sandbox, profile, gate, shared_memory }: BrowserSwitches): string[] => [
  "--headless",
  "--remote-debugging-pipe",
  `--user-data-dir=${profile}`,
  ...(sandbox ? [] : ["--no-sandbox"]),
  ...(shared_memory ? [] : ["--disable-dev-shm-usage"]),
  `--proxy-server=http://${GATE}:${gate ?? 9}`,
  "--proxy-bypass-list=<-loopback>", // loopback too goes to the gate, which refuses it
  `--host-resolver-rules=${gate === null ? "" : `MAP ${GATE} 127.0.0.1, `}MAP * ~NOTFOUND`,
  "--ignore-certificate-errors", // there is none but the gate's
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-quic",
  `--disable-features=${FEATURES_OFF.join(",")}`,
  "--disable-site-isolation-trials", // a page's foreign frames stay empty: a process for each is a way to take memory
  "--renderer-process-limit=1",
  "--no-first-run",
  "--no-default-browser-check",
  "--no-pings",
  "--no-service-autorun",
  "--block-new-web-contents",
  "--disable-background-networking",
  "--disable-breakpad",
  "--disable-client-side-phishing-detection",
  "--disable-component-extensions-with-background-pages",
  "--disable-component-update",
  "--disable-crash-reporter",
  "--disable-default-apps",
  "--disable-domain-reliability",
  "--disable-extensions",
  "--disable-gpu",
  "--disable-notifications",
  "--disable-sync",
  "--hide-scrollbars",
  "--mute-audio",
  "--metrics-recording-only",
  "--password-store=basic",
  "--use-mock-keychain",
  "about:blank",
];

export type Params = Readonly<Record<string, unknown>>;

export interface Event {
  method: string;
  params: Params;
  sessionId: string | undefined;
}

/** The browser's DevTools protocol over two pipes: JSON, each message ended by a NUL. No port is opened, and a browser whose
 *  pipe closes ends. */
export interface Connection {
  send<T = Params>(method: string, params?: Params, sessionId?: string): Promise<T>;
  /** Rejects calls that wait and all later ones. */
  close(why: string): void;
}

/** A page can write a string of any length to its console, and the browser sends all of it: more is not read. A picture
 *  of a whole page is under a tenth of this. */
const MOST_MESSAGE = 8 * 1024 * 1024;

const ENDED = "The browser ended on the page.";

interface DevToolsMessage {
  id?: number;
  method?: string;
  params?: Params;
  sessionId?: string;
  result?: Params;
  error?: { message: string };
}

/** Cuts a stream at its NULs. For a message that is too long `heard` gets its beginning alone. */
function messagesOf(heard: (message: Buffer, whole: boolean) => void): (chunk: Uint8Array) => void {
  let parts: Buffer[] = [];
  let size = 0;
  const keep = (part: Buffer) => {
    size += part.length;
    if (size <= MOST_MESSAGE || parts.length === 0) parts.push(part);
  };
  return (chunk) => {
    const rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let end = rest.indexOf(0); end !== -1; end = rest.indexOf(0, from)) {
      keep(rest.subarray(from, end));
      heard(Buffer.concat(parts), size <= MOST_MESSAGE);
      parts = [];
      size = 0;
      from = end + 1;
    }
    if (from < rest.length) keep(Buffer.from(rest.subarray(from)));
  };
}

/** `to` and `from` are our ends of the pipes. */
function openConnection(to: number, from: number, heard: (event: Event) => void): Connection {
  const waiting = new Map<number, PromiseWithResolvers<Params>>();
  let last = 0;
  let closed: string | null = null;

  function close(why: string): void {
    closed ??= why;
    for (const answer of waiting.values()) answer.reject(new Error(closed));
    waiting.clear();
  }
  function answered(id: number, { result, error }: DevToolsMessage): void {
    const answer = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) answer?.resolve(result ?? {});
    else answer?.reject(new Error(error.message));
  }
  const take = messagesOf((text, whole) => {
    if (!whole) {
      const id = /^\{"id":(\d+)/.exec(text.toString("latin1", 0, 32))?.[1];
      if (id !== undefined) answered(Number(id), { error: { message: "the answer is too long" } });
      return;
    }
    const message = JSON.parse(text.toString()) as DevToolsMessage;
    if (message.id !== undefined) return answered(message.id, message);
    heard({ method: message.method ?? "", params: message.params ?? {}, sessionId: message.sessionId });
  });
  void read(from, take).then(() => close(ENDED));
  return {
    async send<T = Params>(method: string, params: Params = {}, sessionId?: string): Promise<T> {
      if (closed !== null) throw new Error(closed);
      const answer = Promise.withResolvers<Params>();
      answer.promise.catch(() => {}); // when it cannot even be asked, no caller waits for it
      waiting.set(++last, answer);
      const text = `${JSON.stringify({ id: last, method, params, sessionId })}\0`;
      await writeAll(to, Buffer.from(text)).catch(() => close(ENDED));
      return (await answer.promise) as T;
    },
    close,
  };
}

/** Reads until the other end closes. */
async function read(fd: number, take: (chunk: Uint8Array) => void): Promise<void> {
  try {
    for await (const chunk of Bun.file(fd).stream()) take(chunk);
  } catch {} // it broke: as good as closed
}

function writeAll(fd: number, bytes: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const next = (rest: Buffer): void =>
    write(fd, rest, 0, rest.length, null, (error, written) => {
      if (error?.code === "EAGAIN") return void setTimeout(next, 2, rest);
      if (error) return reject(error);
      if (written < rest.length) return next(rest.subarray(written));
      resolve();
    });
  next(bytes);
  return promise;
}
