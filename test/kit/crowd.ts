/** Many connections to one server, each as it is: silent, in the middle of a head, or kept open after an answer. */
import { connect, type Socket } from "node:net";
import { connect as connectSecurely } from "node:tls";

export interface Line {
  socket: Socket;
  /** Whether the other end has closed it, or never took it. */
  closed(): boolean;
  /** The status of the next answer; null where the connection is closed instead. */
  next(): Promise<number | null>;
  ask(host: string): Promise<number | null>;
}

/** Resolves once it is connected, or refused. `from`: an address of this machine (on Linux all of 127.0.0.0/8 are). */
export function open(port: number, first = "", secure = false, from = "127.0.0.1"): Promise<Line> {
  const { promise, resolve } = Promise.withResolvers<Line>();
  const to = { port, host: "127.0.0.1", localAddress: from };
  const socket = secure ? connectSecurely({ ...to, rejectUnauthorized: false }) : connect(to);
  let closed = false;
  let waiting: ((status: number | null) => void) | undefined;
  /** The answers that came before anybody asked for them. */
  const early: number[] = [];
  let text = "";
  const answered = () => {
    const end = text.indexOf("\r\n\r\n");
    const length = Number(/^content-length: (\d+)/im.exec(text)?.[1] ?? 0);
    if (end === -1 || text.length < end + 4 + length) return;
    const status = Number(text.slice(9, 12));
    text = text.slice(end + 4 + length);
    if (waiting === undefined) early.push(status);
    else waiting(status);
    waiting = undefined;
  };
  const line: Line = {
    socket,
    closed: () => closed,
    async next() {
      if (early.length > 0) return early.shift()!;
      return closed ? null : new Promise((settle) => (waiting = settle));
    },
    ask(host) {
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      return line.next();
    },
  };
  socket.on(secure ? "secureConnect" : "connect", () => {
    if (first !== "") socket.write(first);
    resolve(line);
  });
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    answered();
  });
  socket.on("error", () => {});
  socket.on("end", () => socket.destroy());
  socket.on("close", () => {
    closed = true;
    waiting?.(null);
    resolve(line);
  });
  return promise;
}

/** So many of them, some at a time. */
export async function crowd(port: number, count: number, first = ""): Promise<Line[] & Disposable> {
  const lines: Line[] = [];
  while (lines.length < count) {
    const next = Array.from({ length: Math.min(50, count - lines.length) }, () => open(port, first));
    lines.push(...(await Promise.all(next)));
  }
  return Object.assign(lines, {
    [Symbol.dispose]() {
      for (const { socket } of lines) socket.destroy();
    },
  });
}
