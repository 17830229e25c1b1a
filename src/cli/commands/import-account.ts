/** `svc import`: makes the sites of an export anew, in the account that is signed in (BEYOND 9). Stopped and begun again it goes on where it
 *  was, by `import.json`. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { array, boolean, type Infer, nullable, object, pick, string } from "../../api/shapes/builder.ts";
import * as sites from "../../api/shapes/sites.ts";
import { randomKey } from "../../base/random.ts";
import type { CallWords, Context } from "../command.ts";
import { Failure } from "../failure.ts";
import { svc } from "../invocation.ts";
import { ask } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import { zipBody } from "../service/upload.ts";
import { ANY, VERSION_IDS } from "../service/wire.ts";
import { type Spinner, whileSpinning } from "../terminal/index.ts";
import { green, text, yellow } from "../terminal/text.ts";
import { count } from "../terminal/units.ts";
import { UNSAFE } from "./take-away.ts";
import {
  type Account,
  accountOf,
  areNames,
  EXPORT,
  EXPORTED,
  type ExportedSite,
  type ExportedVersion,
  FOLDER,
  isWhole,
  readIfThere,
  writeJson,
} from "./export-account.ts";

const IMPORT = "import.json";

/** How far a site has come on the server that it is imported to. */
const IMPORTED = object({
  site_id: string(),
  slug: string(),
  url: string(),
  versions: array(string()),
  done: boolean(),
  /** The one that svc chose, for a site whose visitors needed one. */
  password: nullable(string()),
});
type Imported = Infer<typeof IMPORTED>;
/** By server, then by the id that the site had. */
type Progress = Record<string, Record<string, Imported>>;

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The giver of a folder must not choose which site is written to. */
function checkProgress(read: unknown, path: string): Progress {
  const fits = (one: unknown): boolean =>
    isTable(one) &&
    IMPORTED.check(one) === null &&
    /^site_[a-z0-9]+$/.test(one["site_id"] as string) &&
    URL.canParse(one["url"] as string) &&
    (one["versions"] as string[]).every((id) => /^[0-9a-f]{16}$/.test(id));
  if (isTable(read) && Object.values(read).every((sites) => isTable(sites) && Object.values(sites).every(fits))) {
    return read as Progress;
  }
  throw new Failure("invalid_export", `${path} is not what an import writes. Remove it to make all sites anew.`);
}

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
  for (const { slug, versions, live_version_id } of all) {
    if (!versions.some(({ version_id }) => version_id === live_version_id)) {
      const message = `${EXPORT} has no zip of the version of ${slug} that was live. ${svc("export")} into the same folder writes it anew.`;
      throw new Failure("invalid_export", message);
    }
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

/** Repeated it changes nothing more. */
const change = ({ account }: Import, method: "POST" | "PUT" | "PATCH", path: string, json: unknown) =>
  account((server, credential) => ask(server, { method, path, credential, json, repeatable: true }, ANY));

/** All that is no version: which one is live, the label, how the site is set up. */
async function setUp(work: Import, { site_id, versions }: Imported, from: ExportedSite): Promise<void> {
  const { live_version_id: version_id, label, spa, settings } = from;
  if (versions.at(-1) !== version_id) {
    await change(work, "POST", `/sites/${site_id}/rollback`, { version_id }).catch((error: unknown) => {
      // It keeps fewer versions than the other server did (SVC_KEEP_VERSIONS): the newest is live there.
      if (!(error instanceof ApiFailure) || error.code !== "unknown_version") throw error;
    });
  }
  const named = { ...(label !== null && { label }), ...(spa !== null && { spa }) };
  if (Object.keys(named).length > 0) await change(work, "PATCH", `/account/sites/${site_id}`, named);
  await change(work, "PATCH", `/sites/${site_id}/settings`, settings);
}

/** A site that an import made has the export's first version: another one is somebody's own, and nothing is published there. */
async function refuseForeign({ account, folder }: Import, { site_id }: Imported, { versions, slug }: ExportedSite) {
  const path = `/sites/${site_id}`;
  const { versions: there } = await account((server, credential) =>
    ask(server, { method: "GET", path, credential, repeatable: true }, VERSION_IDS),
  );
  if (there.some(({ version_id }) => versions.some((one) => one.version_id === version_id))) return;
  const message = `${site_id}, which ${join(folder, IMPORT)} names for ${slug}, has none of its versions. Remove it from there: the site is made anew.`;
  throw new Failure("invalid_export", message);
}

async function importSite(
  work: Import,
  from: ExportedSite,
  before: Imported | undefined,
  keep: (site: Imported) => void,
) {
  const [first, ...others] = from.versions as [ExportedVersion, ...ExportedVersion[]]; // the live one is among them
  let site = before;
  if (site === undefined) {
    work.spinner.label(from.slug);
    const { site_id, url } = await sendVersion(work, "/sites", first);
    const password = from.password === true ? randomKey(12) : null;
    // Before anybody can know the address.
    if (password !== null) await change(work, "PUT", `/sites/${site_id}/access`, { password });
    const slug = new URL(url).hostname.split(".")[0]!;
    site = { site_id, slug, url, versions: [first.version_id], done: false, password };
    keep(site);
    await work.save();
  } else await refuseForeign(work, site, from);
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

export async function importAll(context: Context, given: CallWords): Promise<void> {
  const { cwd, terminal, server } = context;
  const folder = resolve(cwd, given.argument ?? FOLDER);
  const made = await whileSpinning(terminal, async (spinner) => {
    const account = accountOf(context, "import", spinner);
    const exported = await readExport(folder, spinner);
    const at = join(folder, IMPORT);
    const progress = checkProgress((await readJson(at)) ?? {}, at);
    const here = (progress[server.origin] ??= {});
    const work = { folder, account, spinner, save: () => writeJson(at, progress) };
    const all: { from: string; domains: readonly string[]; site: Imported }[] = [];
    for (const from of exported) {
      const site = await importSite(
        work,
        from,
        Object.hasOwn(here, from.site_id) ? here[from.site_id] : undefined,
        (one) => (here[from.site_id] = one),
      ).catch((error: unknown) => {
        if (!(error instanceof ApiFailure) || error.code !== "unknown_site") throw error;
        const message = `The site that ${from.slug} was imported to is gone. Remove it from ${join(folder, IMPORT)}, and run this again: it is made anew.`;
        throw new Failure("unknown_site", message);
      });
      all.push({ from: from.slug, domains: from.domains, site });
    }
    return all;
  });
  const rows = made.map(({ from, site: { site_id, url, versions, password } }) => ({
    from,
    site_id,
    url,
    versions: versions.length,
    ...(password !== null && { password }),
  }));
  if (given.json) return terminal.json({ ok: true, sites: rows });
  terminal.say(text`\n  ${green("✓")} ${count(rows.length, "site")}: the former name, and where it is now`);
  for (const { from, url } of rows) terminal.result(`${from} ${url}`);
  for (const { site, domains } of made) {
    const { url, password } = site;
    if (password !== null) terminal.insist(text`  ${yellow("!")} Visitors of ${url} need a new password: ${password}`);
    for (const domain of domains) {
      const way = svc(`domain add ${domain} --site ${site.site_id}`);
      terminal.say(text`  ${yellow("!")} ${url} was at ${domain}. When its records are to lead here: ${way}`);
    }
  }
}
