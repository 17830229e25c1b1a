/** Previews in the model: one name a site, what it shows, and until when. */

import { get, versionOf, Violation } from "./reading.ts";
import { change, prune, type Sent, uploadOf, versionFor } from "./sending.ts";
import { alive, type ModelSite } from "./state.ts";
import type { World } from "./world.ts";

export type PreviewOperation =
  | { op: "preview"; site: number; what: "new" | "same" | "older"; how: "zip" | "delta" }
  | { op: "promote"; site: number };

const NAME = "model";

/** Null: none, or one that is over. */
const shown = (world: World, { preview }: ModelSite): number | null =>
  preview !== null && preview.until > world.now() ? preview.version : null;

function make(
  world: World,
  site: ModelSite,
  { what, how }: Extract<PreviewOperation, { op: "preview" }>,
): Promise<void> {
  const version = versionFor(site, what);
  const request: Sent = {
    path: `/sites/${site.site_id}/previews?name=${NAME}`,
    token: site.manage_token,
    ...uploadOf(site.name, version, how),
  };
  site.maybe = version;
  // What is live stays: a reader sees nothing of it.
  return change(world, site, site.live, request, alive(site) ? 200 : 404, ({ expires_at }) => {
    site.preview = { version, until: Number(expires_at) };
    prune(site, world.keep); // what a deploy that was killed could not remove any more
  });
}

function promote(world: World, site: ModelSite): Promise<void> {
  const version = shown(world, site);
  const request: Sent = { path: `/sites/${site.site_id}/previews/${NAME}/promote`, token: site.manage_token, body: {} };
  const status = alive(site) && version !== null ? 200 : 404;
  const before = site.versions.get(site.live);
  return change(world, site, version ?? site.live, request, status, (body) => {
    if (body.previous_version_id !== before) throw new Violation(`a promote came from ${body.previous_version_id}`);
    site.versions.set(version!, String(body.version_id));
    site.live = version!;
    site.preview = null;
    prune(site, world.keep);
  });
}

export const performPreview = (world: World, site: ModelSite, operation: PreviewOperation): Promise<void> =>
  operation.op === "promote" ? promote(world, site) : make(world, site, operation);

/** The version at the name's address, whole; null where there is nothing. */
async function seenAt(world: World, site: ModelSite): Promise<number | null> {
  let seen: number | null = null;
  for (const path of ["data/noise.bin", "style.css"]) {
    const response = await get(world, `${NAME}--${site.slug}`, path);
    if (response.status !== 200) return null;
    const version = versionOf(site, path, await response.bytes())!;
    if (seen !== null && version !== seen) throw new Violation(`${site.slug}'s preview mixes ${seen} and ${version}`);
    seen = version;
  }
  return seen;
}

/** With nothing under way. */
export async function checkPreview(world: World, site: ModelSite): Promise<void> {
  const seen = await seenAt(world, site);
  const expected = alive(site) ? shown(world, site) : null;
  if (seen !== expected) throw new Violation(`${site.slug}'s preview shows ${seen}, the model says ${expected}`);
}

/** When it ends, as the server has it. */
async function endOf(world: World, { site_id, manage_token }: ModelSite): Promise<number> {
  const headers = { authorization: `Bearer ${manage_token}` };
  const response = await fetch(`http://127.0.0.1:${world.port}/sites/${site_id}/previews`, {
    headers,
    keepalive: false,
  });
  const { previews } = (await response.json()) as { previews: { expires_at: number }[] };
  return previews[0]!.expires_at;
}

/** After a crash: what was not answered took effect whole or not at all. A promoted preview has ended, and one whose
 *  version was deleted. */
export async function settlePreview(world: World, site: ModelSite): Promise<void> {
  if (!alive(site)) return;
  const before = shown(world, site);
  const seen = await seenAt(world, site);
  const ended = seen === null && (before === site.live || before === site.dropping);
  if (seen !== before && seen !== site.maybe && !ended) {
    throw new Violation(`${site.slug}'s preview shows ${seen} after a crash; it showed ${before}`);
  }
  site.preview = seen === null ? null : { version: seen, until: await endOf(world, site) };
}
