/** `svc export`: writes all versions of all sites of the account into a folder (BEYOND 9). Stopped and begun again it fetches what is left. */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { array, boolean, type Infer, literal, nullable, object, pick, string } from "../../api/shapes/builder.ts";
import * as sites from "../../api/shapes/sites.ts";
import { contentHash, deployDigest, versionIdOf } from "../../base/version-id.ts";
import { unzipFiles } from "../../client/unzip.ts";
import type { CallWords, Context } from "../command.ts";
import { codeOf, Failure } from "../failure.ts";
import { svc } from "../invocation.ts";
import type { Credential } from "../saved/state.ts";
import type { Server } from "../saved/server.ts";
import { ask, askBytes } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import { requireSession } from "../service/which-server.ts";
import { SITE_RECORD } from "../service/wire.ts";
import { type Spinner, whileSpinning } from "../terminal/index.ts";
import { green, text } from "../terminal/text.ts";
import { count, duration, size } from "../terminal/units.ts";
import { allSites, openSite, type OwnedSite } from "./chosen-site.ts";
import { withoutWrap } from "./take-away.ts";
import { allVersions } from "./versions.ts";

export const EXPORT = "export.json";
export const FOLDER = "svc-export";
const LONGEST_PAUSE_S = 3600;
/** No version is as large: what goes on is no zip of one. */
const MOST_BYTES = 1 << 30;

const SETTINGS = pick(sites.SETTINGS, "skew", "stats");
const SETTINGS_READ = pick(sites.SETTINGS, "skew", "stats", "password", "domains");
const EXPORTED_VERSION = object({
  version_id: string(),
  title: nullable(string()),
  created_at: string(),
  /** Below the folder. */
  zip: string(),
});
const EXPORTED_SITE = object(
  {
    site_id: string(),
    slug: string(),
    label: nullable(string()),
    live_version_id: string(),
    /** Null: as the files say. */
    spa: nullable(boolean()),
    settings: SETTINGS,
    domains: array(string()),
    versions: array(EXPORTED_VERSION),
  },
  /** Whether visitors needed a password. */
  { password: boolean() },
);
export const EXPORTED = object({
  format: literal(1, "Of this file."),
  exported_at: string(),
  sites: array(EXPORTED_SITE),
});
export type ExportedVersion = Infer<typeof EXPORTED_VERSION>;
export type ExportedSite = Infer<typeof EXPORTED_SITE>;

const RECORD = object(
  { ...pick(sites.SITE, "slug", "label", "spa").required, ...SITE_RECORD.required },
  SITE_RECORD.optional,
);

/** A call of the account, which waits as long as the server says where it was called too often. */
export type Account = <Answer>(call: (server: Server, credential: Credential) => Promise<Answer>) => Promise<Answer>;

export function accountOf({ server, env }: Context, command: string, spinner: Spinner): Account {
  const credential = requireSession(env, server, command);
  return async (call) => {
    for (;;) {
      try {
        return await call(server, credential);
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.retry_s === null) throw error;
        const again = Math.min(error.retry_s, LONGEST_PAUSE_S) + 1;
        spinner.label(`The server wants a pause of ${duration(again * 1000)}: it goes on by itself`);
        await wait(again * 1000);
      }
    }
  };
}

/** A zip whose files give another version_id is damaged. */
export async function isWhole(zip: Uint8Array, version_id: string): Promise<boolean> {
  try {
    const files = withoutWrap(await unzipFiles(zip), version_id);
    const hashes = [...files].map(([path, bytes]): [string, string] => [path, contentHash(bytes)]);
    return versionIdOf(deployDigest(hashes)) === version_id;
  } catch {
    return false;
  }
}

export async function readIfThere(path: string): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** Whole or not at all. Secrets that were taken back are in former versions: the files are their owner's alone. No link that somebody laid
 *  into the folder is followed. */
async function write(path: string, content: Uint8Array | string): Promise<void> {
  const part = `${path}.part`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await rm(part, { force: true });
    await writeFile(part, content, { mode: 0o600, flag: "wx" });
    await rename(part, path);
  } catch (error) {
    const why = `${path} cannot be written (${codeOf(error) ?? "no reason given"}).`;
    throw new Failure(
      "not_written",
      `${why} Make room, or name another folder, and run it again: it goes on where it stopped.`,
    );
  }
}

export const writeJson = (path: string, content: unknown): Promise<void> =>
  write(path, `${JSON.stringify(content, null, 2)}\n`);

/** Both end as part of a file's name, and on a terminal. */
export const areNames = (slug: string, versions: readonly { version_id: string }[]): boolean =>
  /^[a-z0-9-]+$/.test(slug) && versions.every(({ version_id }) => /^[0-9a-f]{16}$/.test(version_id));

/** Oldest first. A version that was deployed twice is listed twice, and counts where it came first. */
function oldestFirst<Version extends { version_id: string }>(versions: readonly Version[]): Version[] {
  const seen = new Set<string>();
  return [...versions].reverse().filter(({ version_id }) => !seen.has(version_id) && seen.add(version_id));
}

const DOMAINS_READ = object({ domains: array(pick(sites.DOMAIN, "domain")) });

async function domainsOf(account: Account, site_id: string): Promise<string[]> {
  const path = `/sites/${site_id}/domains`;
  const { domains } = await account((server, credential) =>
    ask(server, { method: "GET", path, credential, repeatable: true }, DOMAINS_READ),
  );
  return domains.map(({ domain }) => domain);
}

async function exportSite(
  context: Context,
  { site_id, label }: OwnedSite,
  folder: string,
  { account, spinner, fetched }: { account: Account; spinner: Spinner; fetched(bytes: number): void },
): Promise<ExportedSite | null> {
  const opened = await account((server, credential) =>
    openSite(context, { site_id, link: null, server, credentials: [credential] }, undefined, RECORD),
  ).catch((error: unknown) => {
    if (error instanceof Failure && error.code === "unknown_site") return null; // it was deleted meanwhile
    throw error;
  });
  if (opened === null) return null;
  const { slug, spa, live_version_id } = opened.record as typeof opened.record & Infer<typeof RECORD>;
  const listed = oldestFirst(await account(() => allVersions(opened)));
  if (!areNames(slug, listed)) {
    throw new Failure("unexpected_answer", `The server names the site ${site_id} in a way that svc does not know.`);
  }
  const get = { method: "GET", repeatable: true } as const;
  const settings = await account((server, credential) =>
    ask(server, { ...get, path: `/sites/${site_id}/settings`, credential }, SETTINGS_READ),
  );
  const versions: ExportedVersion[] = [];
  for (const { version_id, title, created_at } of listed) {
    spinner.label(`${slug}: version ${versions.length + 1} of ${listed.length}`);
    const zip = `${slug}/${version_id}.zip`;
    const path = join(folder, zip);
    const there = await readIfThere(path);
    if (there === null || !(await isWhole(there, version_id))) {
      const bytes = await account((server, credential) =>
        askBytes(server, { ...get, path: `/sites/${site_id}/versions/${version_id}/zip`, credential }, MOST_BYTES),
      ).catch((error: unknown) => {
        if (error instanceof ApiFailure && error.code === "unknown_version") return null; // pruned meanwhile
        throw error;
      });
      if (bytes === null) continue;
      if (!(await isWhole(bytes, version_id))) {
        const message = `What came as version ${version_id} of ${slug} is another one. Run it again, or ask whoever runs the server.`;
        throw new Failure("unexpected_answer", message);
      }
      await write(path, bytes);
      fetched(bytes.length);
    }
    versions.push({ version_id, title, created_at, zip });
  }
  const { skew, stats, password, domains } = settings;
  return {
    site_id,
    slug,
    label,
    live_version_id,
    spa: spa.rule === "setting" ? spa.enabled : null,
    settings: { skew, stats },
    ...(password && { password }),
    domains: domains > 0 ? await domainsOf(account, site_id) : [],
    versions,
  };
}

export async function exportAll(context: Context, given: CallWords): Promise<void> {
  const { cwd, terminal, now } = context;
  const folder = resolve(cwd, given.argument ?? FOLDER);
  let [zips, bytes] = [0, 0];
  const told = await whileSpinning(terminal, async (spinner) => {
    const account = accountOf(context, "export", spinner);
    spinner.label("Asking for the sites of your account");
    const all: ExportedSite[] = [];
    const fetched = (length: number) => void (zips++, (bytes += length));
    for (const site of [...(await account(allSites))].reverse()) {
      const one = await exportSite(context, site, folder, { account, spinner, fetched });
      if (one !== null) all.push(one);
    }
    await writeJson(join(folder, EXPORT), { format: 1, exported_at: new Date(now()).toISOString(), sites: all });
    return all;
  });
  const versions = told.reduce((sum, site) => sum + site.versions.length, 0);
  if (given.json) return terminal.json({ ok: true, folder, sites: told.length, versions, fetched: { zips, bytes } });
  terminal.say(
    text`\n  ${green("✓")} ${count(told.length, "site")} with ${count(versions, "version")}; ${size(bytes)} fetched`,
  );
  terminal.result(folder);
}
