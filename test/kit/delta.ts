/** Plans and deltas (BEYOND 6), as a client that knows nothing of the server's code writes them. */
import { createHash } from "node:crypto";
import type { Archive, Member } from "./zip.ts";
import { buildZip } from "./zip.ts";
import { type Contents, type DeployResult, JSON_TYPE, type TestServer } from "./server.ts";

export const DELTA = { "content-type": "application/vnd.svc.delta+zip" };
export const LIST = "svc-delta.json";

export const sha256 = (content: string | Uint8Array): string => createHash("sha256").update(content).digest("hex");

export const entriesOf = (files: Contents): [string, string | Uint8Array][] =>
  files instanceof Map ? [...files] : Object.entries(files);

/** The body that a plan sends. */
export const planned = (files: Contents) => ({
  files: entriesOf(files).map(([path, content]) => ({
    path,
    sha256: sha256(content),
    bytes: Buffer.byteLength(content),
  })),
});

/** The list of a delta. */
export const listed = (files: Contents) => ({
  files: entriesOf(files).map(([path, content]) => ({ path, sha256: sha256(content) })),
});

/** The whole content listed, and those files sent whose hash is in `need`, each once. */
export function deltaOf(files: Contents, need: Iterable<string>): Uint8Array<ArrayBuffer> {
  const wanted = new Set(need);
  const sent = new Map(entriesOf(files).map(([, content]) => [sha256(content), content]));
  const members = [...sent].filter(([hash]) => wanted.has(hash)).map(([name, data]) => ({ name, data }));
  return rawDelta(listed(files), members);
}

/** Any list, or any text or bytes in its place, and any entries behind it. */
export function rawDelta(list: unknown, members: readonly Member[], archive: Archive = {}): Uint8Array<ArrayBuffer> {
  const data = typeof list === "string" || list instanceof Uint8Array ? list : JSON.stringify(list);
  return buildZip([{ name: LIST, data }, ...members], archive);
}

type Managed = Pick<DeployResult, "site_id" | "manage_token">;
const bearer = ({ manage_token }: Managed) => ({ authorization: `Bearer ${manage_token}` });

const asText = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body));

export const askPlan = (server: TestServer, site: Managed, body: unknown): Promise<Response> =>
  server.api(`/sites/${site.site_id}/plan`, {
    method: "POST",
    headers: { ...JSON_TYPE, ...bearer(site) },
    body: body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : asText(body),
  });

export const sendDelta = (
  server: TestServer,
  site: Managed,
  delta: Uint8Array<ArrayBuffer>,
  query = "",
  route: "deploys" | "previews" = "deploys",
): Promise<Response> =>
  server.api(`/sites/${site.site_id}/${route}${query}`, {
    method: "POST",
    headers: { ...DELTA, ...bearer(site) },
    body: delta,
  });

export interface Plan {
  version_id: string;
  live: boolean;
  stored: boolean;
  need: string[];
}

export async function planOf(server: TestServer, site: Managed, files: Contents): Promise<Plan> {
  const response = await askPlan(server, site, planned(files));
  if (response.status !== 200) throw new Error(`the plan was answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as Plan;
}

/** Plans, and sends what is needed. */
export async function updateByDelta(server: TestServer, site: Managed, files: Contents, query = ""): Promise<Response> {
  const { need } = await planOf(server, site, files);
  return sendDelta(server, site, deltaOf(files, need), query);
}

export const refusal = async (response: Response): Promise<Record<string, unknown> & { code: string }> => {
  if (response.status === 200) throw new Error(`it was taken: ${await response.text()}`);
  return (await response.json()) as Record<string, unknown> & { code: string };
};
