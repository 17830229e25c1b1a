/** Requests that strangers without credentials can send to exhaust the codings: everything in each of them, with or without
 *  reading it.
 *  Figures are of the server's process, so it is one of its own. Needs Linux. */
import { connect, type Socket } from "node:net";
import { residentBytes } from "../torture/parts/figures.ts";
import { cpuSecondsOf, type ServerProcess } from "./process.ts";
import { zipOf } from "./zip.ts";

export const CODINGS = ["br", "zstd", "gzip"];

/** Text like that of scripts and pages: it shrinks to a third, and no two seeds give the same. */
export function prose(bytes: number, seed: number): string {
  let state = seed + 1;
  let text = "";
  while (text.length < bytes) {
    state = (state * 48_271) % 2_147_483_647;
    text += `word${(state % 5_000).toString(36)} `;
  }
  return text.slice(0, bytes);
}

interface Deployed {
  site_id: string;
  slug: string;
  version_id: string;
  manage_token: string;
}

export async function deploy(server: ServerProcess, files: Record<string, string>, to?: Deployed): Promise<Deployed> {
  const headers = {
    "content-type": "application/zip",
    ...(to && { authorization: `Bearer ${to.manage_token}` }),
  };
  const url = `http://127.0.0.1:${server.port}/sites${to ? `/${to.site_id}/deploys` : ""}`;
  const answer = await fetch(url, { method: "POST", headers, body: zipOf(files) });
  if (answer.status !== 200) throw new Error(`the deploy was answered ${answer.status}: ${await answer.text()}`);
  return { ...to, ...((await answer.json()) as Deployed) };
}

/** The answer to one request, read whole. */
export const get = (server: ServerProcess, slug: string, path: string, coding: string): Promise<Response> =>
  fetch(`http://127.0.0.1:${server.port}${path}`, {
    headers: { host: `${slug}.localhost`, "accept-encoding": coding },
    decompress: false,
  });

/** Watches the most that the process holds until the end of the block. */
export function peakOf(server: ServerProcess): { bytes(): number } & Disposable {
  let peak = 0;
  const look = () => (peak = Math.max(peak, residentBytes(server.pid)));
  const timer = setInterval(look, 20);
  return { bytes: look, [Symbol.dispose]: () => clearInterval(timer) };
}

/** Each of these hosts is asked for `path` in each coding at once, by clients that never read more than the beginning.
 *  Resolves when each has its answer's first bytes. */
export async function askWithoutReading(
  server: ServerProcess,
  slugs: readonly string[],
  path: string,
  field = "X-Nothing: more",
): Promise<Socket[]> {
  const asks = slugs.flatMap((slug) => CODINGS.map((coding) => [slug, coding] as const));
  return Promise.all(
    asks.map(async ([slug, coding]) => {
      const socket = connect(server.port, "127.0.0.1");
      const begun = Promise.withResolvers<void>();
      socket.on("error", begun.reject);
      socket.once("data", () => (socket.pause(), begun.resolve()));
      socket.write(`GET ${path} HTTP/1.1\r\nHost: ${slug}.localhost\r\nAccept-Encoding: ${coding}\r\n${field}\r\n\r\n`);
      await begun.promise;
      return socket;
    }),
  );
}

/** Seconds of processor time that the server takes meanwhile. */
export async function workOf(server: ServerProcess, during: () => Promise<unknown>): Promise<number> {
  const before = cpuSecondsOf(server.pid);
  await during();
  return cpuSecondsOf(server.pid) - before;
}

/** Every file of every site in every coding, eight at a time, as a crawler does. Returns how many were read. */
export async function crawl(
  server: ServerProcess,
  slugs: readonly string[],
  paths: readonly string[],
  codings = CODINGS,
): Promise<number> {
  const all = slugs.flatMap((slug) => paths.flatMap((path) => codings.map((coding) => [slug, path, coding] as const)));
  let next = 0;
  const reader = async () => {
    for (let at = next++; at < all.length; at = next++) {
      const [slug, path, coding] = all[at]!;
      const answer = await get(server, slug, path, coding);
      if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 8 }, reader));
  return all.length;
}
