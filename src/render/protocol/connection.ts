/** The browser's DevTools protocol over two pipes: JSON, each message ended by a NUL. No port is opened, and a browser whose
 *  pipe closes ends. */
import { write } from "node:fs";

export type Params = Readonly<Record<string, unknown>>;

export interface Event {
  method: string;
  params: Params;
  sessionId: string | undefined;
}

export interface Connection {
  send<T = Params>(method: string, params?: Params, sessionId?: string): Promise<T>;
  /** Rejects what waits and what is asked from now on. */
  close(why: string): void;
}

/** A page can write a string of any length to its console, and the browser tells all of it: more is not read. A picture
 *  of a whole page is under a tenth of this. */
const MOST_MESSAGE = 8 * 1024 * 1024;

export const ENDED = "The browser ended on the page.";

interface Message {
  id?: number;
  method?: string;
  params?: Params;
  sessionId?: string;
  result?: Params;
  error?: { message: string };
}

/** Cuts a stream at its NULs. What is too long is handed over by its beginning alone. */
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

/** `to` and `from` are the ends of the pipes that are ours. */
export function openConnection(to: number, from: number, heard: (event: Event) => void): Connection {
  const waiting = new Map<number, PromiseWithResolvers<Params>>();
  let last = 0;
  let closed: string | null = null;

  function close(why: string): void {
    closed ??= why;
    for (const answer of waiting.values()) answer.reject(new Error(closed));
    waiting.clear();
  }
  function answered(id: number, { result, error }: Message): void {
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
    const message = JSON.parse(text.toString()) as Message;
    if (message.id !== undefined) return answered(message.id, message);
    heard({ method: message.method ?? "", params: message.params ?? {}, sessionId: message.sessionId });
  });
  void read(from, take).then(() => close(ENDED));
  return {
    async send<T = Params>(method: string, params: Params = {}, sessionId?: string): Promise<T> {
      if (closed !== null) throw new Error(closed);
      const answer = Promise.withResolvers<Params>();
      answer.promise.catch(() => {}); // where it cannot even be asked, nobody waits for it
      waiting.set(++last, answer);
      const text = `${JSON.stringify({ id: last, method, params, sessionId })}\0`;
      await writeAll(to, Buffer.from(text)).catch(() => close(ENDED));
      return (await answer.promise) as T;
    },
    close,
  };
}

/** Until the other end closes. */
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
