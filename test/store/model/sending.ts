/** A request to the real server, held against what the model expects of it. */
import { DELTA, deltaOf, sha256 } from "../../kit/delta.ts";
import { zipOf } from "../../kit/zip.ts";
import { Violation } from "./reading.ts";
import { begin, contentOf, type ModelSite, type Seen, settle, undo } from "./state.ts";
import type { World } from "./world.ts";

export type Body = Record<string, unknown>;

/** Null: the connection was lost, so that nobody knows whether it took effect. */
type Reply = { status: number; body: Body } | null;

export interface Sent {
  path: string;
  token: string;
  body: Uint8Array<ArrayBuffer> | object;
  /** Of an upload. */
  type?: string;
  /** POST unless it is said; a DELETE sends no body. */
  method?: "DELETE";
}

export async function send(
  world: World,
  { path, token, body, type = "application/zip", method }: Sent,
): Promise<Reply> {
  const { epoch, port } = world;
  const zip = body instanceof Uint8Array;
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: method ?? "POST",
      headers: {
        "content-type": zip ? type : "application/json",
        ...(token && { authorization: `Bearer ${token}` }),
      },
      ...(method === undefined && { body: zip ? body : JSON.stringify(body) }),
      keepalive: world.workers === 1,
    });
    return { status: response.status, body: (await response.json()) as Body };
  } catch (error) {
    if (!world.dying && world.epoch === epoch)
      throw new Violation(`${path}: no answer from a server that lives: ${error}`);
    return null;
  }
}

export function expect(what: string, reply: NonNullable<Reply>, status: number, code?: string): void {
  if (reply.status === status && (code === undefined || reply.body.code === code)) return;
  const expected = [status, code].filter(Boolean).join(" ");
  throw new Violation(`${what}: ${reply.status} ${JSON.stringify(reply.body)}, the model says ${expected}`);
}

/** What a deploy is answered whose process was killed; nothing was stored where it says so. */
export function isHarmed(world: World, reply: NonNullable<Reply>): boolean {
  return world.harmed && reply.status === 503 && reply.body.code === "unavailable";
}

/** A step of one site: `seen` is what it brings, told to the readers before it is sent. `done` is called with a 200. */
export async function change(
  world: World,
  site: ModelSite,
  seen: Seen,
  request: Sent,
  status: number,
  done: (body: Body) => void,
): Promise<void> {
  const span = begin(site, seen);
  const reply = await send(world, request);
  if (!reply) return; // both stay possible until the server tells
  if (isHarmed(world, reply)) return void (/nothing was stored/i.test(String(reply.body.error)) && undo(site, span));
  expect(`${request.path} of ${site.slug}`, reply, status);
  if (status !== 200) return undo(site, span);
  done(reply.body);
  settle(site, seen);
}

export function versionFor(site: ModelSite, what: "new" | "same" | "older"): number {
  if (what === "new") return site.next++;
  if (what === "same") return site.live;
  return [...site.versions.keys()][0]!;
}

/** The oldest beyond so many go, never the live one. */
export function prune(site: ModelSite, keep: number | null): void {
  for (const version of [...site.versions.keys()]) {
    if (keep !== null && site.versions.size > keep && version !== site.live) site.versions.delete(version);
  }
}

/** A delta leaves out what every version of every site has. */
export function uploadOf(name: string, version: number, how: "zip" | "delta"): Pick<Sent, "body" | "type"> {
  const files = new Map(contentOf(name, version));
  if (how === "zip") return { body: zipOf(files) };
  const own = [...files].filter(([path]) => path !== "shared.txt").map(([, content]) => sha256(content));
  return { body: deltaOf(files, own), type: DELTA["content-type"] };
}
