/** `svc export` writes all versions of all sites of the account into a folder; `svc import` makes the sites anew from it (BEYOND 9).
 *  Either may be stopped at any time: begun again it does what is left. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
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
import { zipBody } from "../service/upload.ts";
import { requireSession } from "../service/which-server.ts";
import { ANY, ROLLED_BACK, SITE_RECORD } from "../service/wire.ts";
import { type Spinner, whileSpinning } from "../terminal/index.ts";
import { green, text } from "../terminal/text.ts";
import { count, duration, size } from "../terminal/units.ts";
import { openSite } from "./chosen-site.ts";
import { allSites, type OwnedSite } from "./pages.ts";
import { UNSAFE, withoutWrap } from "./take-away.ts";
import { allVersions } from "./versions.ts";

const EXPORT = "export.json";
const IMPORT = "import.json";
const FOLDER = "svc-export";
/** No version is as large: what goes on is no zip of one. */
const MOST_BYTES = 1 << 30;

const SETTINGS = pick(sites.SETTINGS, "skew", "stats");
const EXPORTED_VERSION = object({
  version_id: string(),
  title: nullable(string()),
  created_at: string(),
  /** Below the folder. */
  zip: string(),
});
const EXPORTED_SITE = object({
  site_id: string(),
  slug: string(),
  label: nullable(string()),
  live_version_id: string(),
  /** Null: as the files say. */
  spa: nullable(boolean()),
  settings: SETTINGS,
  domains: array(string()),
  versions: array(EXPORTED_VERSION),
});
const EXPORTED = object({ format: literal(1, "Of this file."), exported_at: string(), sites: array(EXPORTED_SITE) });
type ExportedVersion = Infer<typeof EXPORTED_VERSION>;
type ExportedSite = Infer<typeof EXPORTED_SITE>;

const RECORD = object(
  { ...pick(sites.SITE, "slug", "label", "spa").required, ...SITE_RECORD.required },
  SITE_RECORD.optional,
);

/** A call of the account, which waits as long as the server says where it was called too often. */
type Account = <Answer>(call: (server: Server, credential: Credential) => Promise<Answer>) => Promise<Answer>;

function accountOf({ server, env }: Context, command: string, spinner: Spinner): Account {
  const credential = requireSession(env, server, command);
  return async (call) => {
    for (;;) {
      try {
        return await call(server, credential);
      } catch (error) {
        if (!(error instanceof ApiFailure) || error.retry_s === null) throw error;
        const again = error.retry_s + 1;
        spinner.label(`The server wants a pause of ${duration(again * 1000)}: it goes on by itself`);
        await wait(again * 1000);
      }
    }
  };
}

/** A zip whose files give another version_id is damaged. */
async function isWhole(zip: Uint8Array, version_id: string): Promise<boolean> {
  try {
    const files = withoutWrap(await unzipFiles(zip), version_id);
    const hashes = [...files].map(([path, bytes]): [string, string] => [path, contentHash(bytes)]);
    return versionIdOf(deployDigest(hashes)) === version_id;
  } catch {
    return false;
  }
}

async function readIfThere(path: string): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** Whole or not at all. Secrets that were taken back are in former versions: the files are their owner's alone. */
async function write(path: string, content: Uint8Array | string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(`${path}.part`, content, { mode: 0o600 });
  await rename(`${path}.part`, path);
}

const writeJson = (path: string, content: unknown): Promise<void> =>
  write(path, `${JSON.stringify(content, null, 2)}\n`);

/** Both end as part of a file's name, and on a terminal. */
const areNames = (slug: string, versions: readonly { version_id: string }[]): boolean =>
  /^[a-z0-9-]+$/.test(slug) && versions.every(({ version_id }) => /^[0-9a-f]{16}$/.test(version_id));

/** Oldest first. A version that was deployed twice is listed twice, and counts where it came first. */
function oldestFirst<Version extends { version_id: string }>(versions: readonly Version[]): Version[] {
  const seen = new Set<string>();
  return [...versions].reverse().filter(({ version_id }) => !seen.has(version_id) && seen.add(version_id));
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
    ask(server, { ...get, path: `/sites/${site_id}/settings`, credential }, SETTINGS),
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
  const { skew, stats } = settings;
  return {
    site_id,
    slug,
    label,
    live_version_id,
    spa: spa.rule === "setting" ? spa.enabled : null,
    settings: { skew, stats },
    domains: [],
    versions,
  };
}

async function exportAll(context: Context, given: CallWords): Promise<void> {
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

/** How far a site has come on the server that it is imported to. */
interface Imported {
  site_id: string;
  slug: string;
  url: string;
  versions: string[];
  done: boolean;
}
/** By server, then by the id that the site had. */
type Progress = Record<string, Record<string, Imported>>;

async function readJson(path: string): Promise<unknown> {
  const bytes = await readIfThere(path);
  if (bytes === null) return null;
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    throw new Failure("invalid_export", `${path} is no JSON. Export again, or remove it if it is ${IMPORT}.`);
  }
}

/** The sites of an export, each zip of which is what it should be. */
async function readExport(folder: string, spinner: Spinner): Promise<ExportedSite[]> {
  const read = await readJson(join(folder, EXPORT));
  if (read === null) {
    throw new Failure("not_found", `${folder} has no ${EXPORT}: ${svc("export <folder>")} makes such a folder.`);
  }
  const missing = typeof read === "object" ? EXPORTED.check(read) : "its sites";
  if (missing !== null) {
    throw new Failure(
      "invalid_export",
      `${join(folder, EXPORT)} is no export that this svc knows: ${missing} is missing.`,
    );
  }
  const { sites: all } = read as Infer<typeof EXPORTED>;
  for (const { slug, versions } of all) {
    if (!areNames(slug, versions))
      throw new Failure("invalid_export", `${EXPORT} names a site in a way that svc does not know.`);
    for (const { zip, version_id } of versions) {
      spinner.label(`Checking ${slug}`);
      if (UNSAFE.test(zip)) throw new Failure("invalid_export", `${zip} of ${EXPORT} is not in its folder.`);
      const bytes = await readIfThere(join(folder, zip));
      if (bytes !== null && (await isWhole(bytes, version_id))) continue;
      const fault = bytes === null ? "is missing" : "is damaged, or another version";
      const message = `${zip} ${fault}. Nothing was sent. ${svc("export")} into the same folder fetches it again.`;
      throw new Failure("invalid_export", message);
    }
  }
  return all;
}

const DEPLOYED = pick(sites.SITE, "site_id", "url");
const DEPLOYED_VERSION = object({ ...DEPLOYED.required, version_id: string() });

interface Import {
  folder: string;
  account: Account;
  spinner: Spinner;
  /** Saves how far it has come. */
  save(): Promise<void>;
}

async function sendVersion({ folder, account, spinner }: Import, path: string, { zip, version_id }: ExportedVersion) {
  const bytes = new Uint8Array(await readFile(join(folder, zip)));
  const body = zipBody(bytes, spinner, () => {});
  const made = await account((server, credential) =>
    ask(server, { method: "POST", path, credential, zip: body, repeatable: path !== "/sites" }, DEPLOYED_VERSION),
  );
  if (made.version_id === version_id) return made;
  const message = `The server made version ${made.version_id} of ${zip}. It is of another svc, which reads files in another way.`;
  throw new Failure("other_version", message);
}

/** All that is no version: which one is live, the label, how the site is set up. */
async function setUp({ account }: Import, { site_id, versions }: Imported, from: ExportedSite): Promise<void> {
  const { live_version_id, label, spa, settings } = from;
  const change = (method: "POST" | "PATCH", path: string, json: unknown) =>
    account((server, credential) => ask(server, { method, path, credential, json, repeatable: true }, ANY));
  if (versions.at(-1) !== live_version_id) {
    await account((server, credential) => {
      const json = { version_id: live_version_id };
      return ask(
        server,
        { method: "POST", path: `/sites/${site_id}/rollback`, credential, json, repeatable: true },
        ROLLED_BACK,
      );
    });
  }
  if (label !== null || spa !== null) {
    await change("PATCH", `/account/sites/${site_id}`, {
      ...(label !== null && { label }),
      ...(spa !== null && { spa }),
    });
  }
  await change("PATCH", `/sites/${site_id}/settings`, settings);
}

async function importSite(
  work: Import,
  from: ExportedSite,
  before: Imported | undefined,
  keep: (site: Imported) => void,
) {
  const [first, ...others] = from.versions;
  if (first === undefined) return null;
  let site = before;
  if (site === undefined) {
    work.spinner.label(from.slug);
    const { site_id, url } = await sendVersion(work, "/sites", first);
    site = { site_id, slug: new URL(url).hostname.split(".")[0]!, url, versions: [first.version_id], done: false };
    keep(site);
    await work.save();
  }
  if (site.done) return site;
  for (const version of others) {
    if (site.versions.includes(version.version_id)) continue;
    await sendVersion(work, `/sites/${site.site_id}/deploys`, version);
    site.versions.push(version.version_id);
    await work.save();
  }
  await setUp(work, site, from);
  site.done = true;
  await work.save();
  return site;
}

async function importAll(context: Context, given: CallWords): Promise<void> {
  const { cwd, terminal, server } = context;
  const folder = resolve(cwd, given.argument ?? FOLDER);
  const made = await whileSpinning(terminal, async (spinner) => {
    const account = accountOf(context, "import", spinner);
    const exported = await readExport(folder, spinner);
    const progress = ((await readJson(join(folder, IMPORT))) ?? {}) as Progress;
    const here = (progress[server.origin] ??= {});
    const work = { folder, account, spinner, save: () => writeJson(join(folder, IMPORT), progress) };
    const all: { from: string; site: Imported }[] = [];
    for (const from of exported) {
      const site = await importSite(work, from, here[from.site_id], (one) => (here[from.site_id] = one)).catch(
        (error: unknown) => {
          if (!(error instanceof ApiFailure) || error.code !== "unknown_site") throw error;
          const message = `The site that ${from.slug} was imported to is gone. Remove it from ${join(folder, IMPORT)}, and run this again: it is made anew.`;
          throw new Failure("unknown_site", message);
        },
      );
      if (site !== null) all.push({ from: from.slug, site });
    }
    return all;
  });
  const rows = made.map(({ from, site: { site_id, url, versions } }) => ({
    from,
    site_id,
    url,
    versions: versions.length,
  }));
  if (given.json) return terminal.json({ ok: true, sites: rows });
  terminal.say(text`\n  ${green("✓")} ${count(rows.length, "site")}: the former name, and where it is now`);
  for (const { from, url } of rows) terminal.result(`${from} ${url}`);
}

/** The commands that move an account from one server to another. */
export const MOVE_COMMANDS = { exportAll, importAll };
