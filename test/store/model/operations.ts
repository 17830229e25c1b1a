/** What a client can do to a site: what the model expects of it, the request, and what the model knows afterwards. */
import { zipOf } from "../../kit/zip.ts";
import { performPreview, type PreviewOperation } from "./previews.ts";
import { get, Violation } from "./reading.ts";
import { change, expect, isHarmed, prune, send, uploadOf, versionFor } from "./sending.ts";
import { alive, begin, contentOf, type ModelSite, settle } from "./state.ts";
import { TTL_MS, type World } from "./world.ts";

/** Sites and versions are numbers that are taken modulo how many there are. */
export type Operation =
  | { op: "deploy"; owner: number | null }
  | { op: "redeploy"; site: number; what: "new" | "same" | "older"; by: "token" | "owner"; how: "zip" | "delta" }
  | { op: "rollback"; site: number; to: number }
  | { op: "drop"; site: number; version: number }
  | { op: "claim"; site: number; account: number }
  | { op: "attach"; sites: number[]; account: number }
  | { op: "delete"; sites: number[]; account: number }
  | PreviewOperation;

let named = 0;

async function deploy(world: World, owner: number | null): Promise<void> {
  const name = `site ${process.pid}-${++named}`;
  const from = performance.now();
  const before = world.now();
  const token = owner === null ? "" : world.sessions[owner]!;
  const reply = await send(world, { path: "/sites", token, body: zipOf(contentOf(name, 1)) });
  if (!reply || isHarmed(world, reply)) return; // a site whose name nobody knows
  expect("a new site", reply, 200);
  const { site_id, slug, manage_token, claim_token, version_id, expires_at } = reply.body as Record<string, string>;
  const expires = expires_at === null ? null : Number(expires_at);
  const off = expires === null ? 0 : Math.abs(expires - before - TTL_MS);
  if ((expires === null) !== (owner !== null) || off > 60_000) throw new Violation(`a new site expires at ${expires}`);
  const site: ModelSite = {
    name,
    site_id: site_id!,
    slug: slug!,
    manage_token: manage_token!,
    claim_token: claim_token ?? null,
    owner,
    versions: new Map([[1, version_id!]]),
    live: 1,
    expires_at: expires,
    end: null,
    next: 2,
    spans: [],
    preview: null,
    maybe: null,
    dropping: null,
  };
  begin(site, 1, from);
  world.sites.push(site);
}

function redeploy(world: World, site: ModelSite, operation: Extract<Operation, { op: "redeploy" }>): Promise<void> {
  const version = versionFor(site, operation.what);
  const session = world.sessions[0]!;
  const by_session = operation.by === "owner";
  const status = !alive(site) ? 404 : by_session && site.owner !== 0 ? 403 : 200;
  const request = {
    path: `/sites/${site.site_id}/deploys`,
    token: by_session ? session : site.manage_token,
    ...uploadOf(site.name, version, operation.how),
  };
  return change(world, site, version, request, status, (body) => {
    site.versions.set(version, String(body.version_id));
    site.live = version;
    prune(site, world.keep);
    site.manage_token = String(body.manage_token); // by session a fresh one: the oldest ones go after twenty
  });
}

function rollback(world: World, site: ModelSite, to: number): Promise<void> {
  const numbers = [...site.versions.keys()];
  const version = numbers[to % (numbers.length + 1)]; // one too many: an unknown version
  const version_id = version === undefined ? "0123456789abcdef" : site.versions.get(version)!;
  const request = { path: `/sites/${site.site_id}/rollback`, token: site.manage_token, body: { version_id } };
  const status = alive(site) && version !== undefined ? 200 : 404;
  const before = site.versions.get(site.live);
  return change(world, site, version ?? site.live, request, status, (body) => {
    if (body.previous_version_id !== before) throw new Violation(`a rollback came from ${body.previous_version_id}`);
    site.live = version!;
  });
}

/** Deletes a version (BEYOND 9): nothing live moves, and its own address has nothing at the next request. */
async function drop(world: World, site: ModelSite, wanted: number): Promise<void> {
  const numbers = [...site.versions.keys()];
  const version = numbers[wanted % (numbers.length + 1)]; // one too many: an unknown version
  const version_id = version === undefined ? "0123456789abcdef" : site.versions.get(version)!;
  const token = world.sessions[site.owner ?? 0]!;
  const path = `/sites/${site.site_id}/versions/${version_id}`;
  const status = !alive(site) || (site.owner !== null && version === undefined) ? 404 : site.owner === null ? 403 : 200;
  const expected = status === 200 && version === site.live ? 409 : status;
  site.dropping = expected === 200 ? version! : null;
  let dropped = false;
  await change(world, site, site.live, { path, token, body: {}, method: "DELETE" }, expected, (body) => {
    if (!Bun.deepEquals(body.deleted, [version_id])) throw new Violation(`a deletion said ${JSON.stringify(body)}`);
    site.versions.delete(version!);
    if (site.preview?.version === version) site.preview = null;
    dropped = true;
  });
  const answer = dropped ? await get(world, `${version_id}--${site.slug}`, "").catch(() => null) : null;
  if (answer !== null && answer.status !== 404) throw new Violation(`${path} is ${answer.status} after its deletion`);
}

function taken(site: ModelSite, account: number): void {
  site.owner = account;
  site.expires_at = null;
}

async function claim(world: World, site: ModelSite, account: number): Promise<void> {
  const claim_token = site.claim_token ?? "svc_claim_nobody-has-this-one";
  const path = `/sites/${site.site_id}/claim`;
  const reply = await send(world, { path, token: world.sessions[account]!, body: { claim_token } });
  if (!reply) return;
  if (site.claim_token === null) return expect("a claim with a wrong token", reply, 401, "invalid_claim");
  if (!alive(site)) return expect("a claim of what is gone", reply, 404, "unknown_site");
  if (site.owner !== null && site.owner !== account) return expect("another's claim", reply, 409, "already_owned");
  expect("a claim", reply, 200);
  taken(site, account);
}

function notAttached(site: ModelSite, account: number): string | null {
  if (!alive(site)) return "not_found";
  if (site.owner === account) return "already_yours";
  return site.owner === null ? null : "already_owned";
}

async function attach(world: World, sites: ModelSite[], account: number): Promise<void> {
  const body = { sites: sites.map(({ site_id, manage_token }) => ({ site_id, manage_token })) };
  const reply = await send(world, { path: "/account/bulk-attach", token: world.sessions[account]!, body });
  if (!reply) return;
  expect("bulk-attach", reply, 200);
  const reasons = sites.map((site) => notAttached(site, account));
  const expected = {
    attached: sites.filter((_, n) => reasons[n] === null).map(({ site_id }) => site_id),
    skipped: sites.flatMap(({ site_id }, n) => (reasons[n] === null ? [] : [{ site_id, reason: reasons[n] }])),
  };
  if (!Bun.deepEquals(reply.body, expected)) {
    throw new Violation(`bulk-attach: ${JSON.stringify(reply.body)}, the model says ${JSON.stringify(expected)}`);
  }
  for (const site of sites) if (expected.attached.includes(site.site_id)) taken(site, account);
}

async function remove(world: World, sites: ModelSite[], account: number): Promise<void> {
  const own = sites.filter((site) => alive(site) && site.owner === account);
  for (const site of own) begin(site, "deleted");
  const body = { site_ids: sites.map(({ site_id }) => site_id) };
  const reply = await send(world, { path: "/account/sites/bulk-delete", token: world.sessions[account]!, body });
  if (!reply) return;
  expect("bulk-delete", reply, 200);
  const skipped = sites
    .filter((site) => !own.includes(site))
    .map((site) => ({ site_id: site.site_id, reason: alive(site) ? "not_owned" : "not_found" }));
  const expected = { ok: true, deleted: own.map(({ site_id }) => site_id), skipped };
  if (!Bun.deepEquals(reply.body, expected)) {
    throw new Violation(`bulk-delete: ${JSON.stringify(reply.body)}, the model says ${JSON.stringify(expected)}`);
  }
  for (const site of own) {
    site.end = "deleted";
    settle(site, "deleted");
  }
}

/** Runs it on sites that nothing else touches at the same time: `take` gives each site once. */
export async function perform(
  world: World,
  operation: Operation,
  take: (index: number) => ModelSite | null,
): Promise<void> {
  if (operation.op === "deploy") return deploy(world, operation.owner);
  const wanted = "sites" in operation ? operation.sites : [operation.site];
  const sites = wanted.map(take).filter((site) => site !== null);
  const [site] = sites;
  if (!site) return;
  if (operation.op === "preview" || operation.op === "promote") return performPreview(world, site, operation);
  if (operation.op === "redeploy") return redeploy(world, site, operation);
  if (operation.op === "rollback") return rollback(world, site, operation.to);
  if (operation.op === "drop") return drop(world, site, operation.version);
  if (operation.op === "claim") return claim(world, site, operation.account);
  if (operation.op === "attach") return attach(world, sites, operation.account);
  return remove(world, sites, operation.account);
}
