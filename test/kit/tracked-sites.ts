/** Sites whose every file tells which version it is of, and the invariants of RELIABILITY 2 asked of them: as a reader
 *  sees them over HTTP (I1, I2) and as the data directory shows them (I3 to I5). */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { contentHash } from "../../src/base/version-id.ts";
import { blobOf } from "./operator.ts";
import { read } from "./database.ts";
import type { ServerProcess } from "./process.ts";
import { DELTA, deltaOf, planned } from "./delta.ts";
import { ZIP } from "./server.ts";
import { zipOf } from "./zip.ts";

const FILES = 12;

/** All files of a version tell its number, so that a mixture of two versions cannot go unseen. */
function contentOf(site: string, version: number): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>([
    ["index.html", Buffer.from(`<title>${site}</title><p>version ${version}.</p>`)],
    ["shared.txt", Buffer.from("the same in every version of every site")],
  ]);
  for (let n = 0; n < FILES; n++) {
    files.set(`data/${n}.bin`, Buffer.from(`${site} ${version} ${n} `.repeat(400 + n * 50)));
  }
  return files;
}

export interface TrackedSite {
  name: string;
  site_id: string;
  slug: string;
  manage_token: string;
  /** The last version that was answered 200. */
  acked: number;
  /** A deploy that was sent and not answered: it took effect whole or not at all. */
  in_flight: number | null;
}

export async function send(server: ServerProcess, path: string, name: string, version: number, token?: string) {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method: "POST",
    body: zipOf(contentOf(name, version)),
    headers: { ...ZIP, ...(token && { authorization: `Bearer ${token}` }) },
  });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as { site_id: string; slug: string; manage_token: string };
}

/** The same by a plan and a delta. */
export async function sendDelta(server: ServerProcess, site: TrackedSite, version: number): Promise<void> {
  const files = contentOf(site.name, version);
  const post = async (route: string, type: string, body: string | Uint8Array<ArrayBuffer>): Promise<Response> => {
    const headers = { "content-type": type, authorization: `Bearer ${site.manage_token}` };
    const init = { method: "POST", headers, body };
    const response = await fetch(`http://127.0.0.1:${server.port}/sites/${site.site_id}/${route}`, init);
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    return response;
  };
  const plan = await post("plan", "application/json", JSON.stringify(planned(files)));
  const { need } = (await plan.json()) as { need: string[] };
  await (await post("deploys", DELTA["content-type"], deltaOf(files, need))).arrayBuffer();
}

async function get(server: ServerProcess, slug: string, path: string): Promise<Uint8Array> {
  const headers = { host: `${slug}.localhost` };
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers });
  if (response.status !== 200) throw new Error(`${slug}${path} answers ${response.status}`);
  return response.bytes();
}

/** I1 and I2, as a reader sees them. */
export async function checkServed(server: ServerProcess, site: TrackedSite): Promise<void> {
  const page = Buffer.from(await get(server, site.slug, "/")).toString();
  const live = Number(/version (\d+)\./.exec(page)?.[1]);
  const allowed = [site.acked, ...(site.in_flight === null ? [] : [site.in_flight])];
  if (!allowed.includes(live)) throw new Error(`${site.name} serves version ${live}, allowed are ${allowed}`);
  for (const [path, bytes] of contentOf(site.name, live)) {
    if (path === "index.html") continue; // served with attribution
    const served = await get(server, site.slug, `/${path}`);
    if (Buffer.compare(served, bytes) !== 0) throw new Error(`${site.name} ${path} is not version ${live}'s`);
  }
  site.acked = live;
  site.in_flight = null;
}

/** I3 to I5, as the data directory shows them. */
export async function checkStored(data_dir: string): Promise<void> {
  const column = (sql: string) => read(data_dir, sql).map((row) => Object.values(row)[0]);
  if (column("PRAGMA integrity_check").join() !== "ok") throw new Error("integrity_check failed");
  if (column("PRAGMA foreign_key_check").length > 0) throw new Error("foreign_key_check failed");
  for (const sha256 of column("select distinct sha256 from files join blobs using (blob_no)") as string[]) {
    const bytes = await Bun.file(blobOf(data_dir, sha256)).bytes();
    if (contentHash(bytes) !== sha256) throw new Error(`blob ${sha256} is damaged`);
  }
  const temporary = readdirSync(join(data_dir, "tmp"));
  if (temporary.length > 0) throw new Error(`tmp holds ${temporary.length} files after the start`);
}
