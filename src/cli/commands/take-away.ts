/** `svc pull` writes a version's files into a folder, as they were uploaded; `svc diff` tells two versions apart (BEYOND 9). */
import { mkdir, mkdtemp, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import * as sites from "../../api/shapes/sites.ts";
import { contentHash, deployDigest, versionIdOf } from "../../base/version-id.ts";
import { unzipFiles } from "../../client/unzip.ts";
import type { FilesByPath } from "../../client/collect.ts";
import type { Context, CallWords } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import { ask, askBytes } from "../service/api.ts";
import { VERSION_IDS } from "../service/wire.ts";
import { whileSpinning } from "../terminal/index.ts";
import { green, text } from "../terminal/text.ts";
import { count, size } from "../terminal/units.ts";
import {
  chooseById,
  chooseSite,
  openSite,
  siteAt,
  touchLink,
  type ChosenSite,
  type OpenedSite,
} from "./chosen-site.ts";
import { allVersions, named } from "./versions.ts";

const read = ({ server, credential, site_id }: OpenedSite, path: string) =>
  ({ server, call: { method: "GET", path: `/sites/${site_id}/${path}`, credential, repeatable: true } }) as const;

/** The version that a person means; `live` is a word for one. */
async function versionOf(opened: OpenedSite, written: string | undefined): Promise<string> {
  if (written === undefined || written === "live") return opened.record.live_version_id;
  return /^[0-9a-f]{16}$/.test(written) ? written : named(await allVersions(opened), written);
}

/** The site that the first word names, and the folder that is left of the words. */
async function placeOf(context: Context, given: CallWords): Promise<{ site: ChosenSite; dir: string | undefined }> {
  const [first, second, ...more] = given.all;
  if (more.length > 0) throw usage(`${svc("pull <site> [folder]")} takes two arguments, not ${given.all.length}.`);
  if (first === undefined) return { site: chooseSite(context, given, undefined), dir: undefined };
  if (first.startsWith("site_")) return { site: chooseById(context, given, first), dir: second };
  const written = /^https?:\/\//i.test(first) ? first : `http://${first}`;
  const url = URL.canParse(written) ? new URL(written) : null;
  if (url === null || !url.hostname.includes(".")) {
    throw usage(`${first} is neither a site_id nor the address of a site. ${svc("list")} shows those of your account.`);
  }
  return { site: await siteAt(context, given, url.host, svc("pull <site_id>")), dir: second };
}

/** Paths that would leave the folder, or that a system reads as something else than one file in it. */
export const UNSAFE = /(?:^|[/\\])\.{0,2}(?:[/\\]|$)|[\0\\]|^[a-z]:/i;

const unlike = (why: string): Failure =>
  new Failure("unexpected_answer", `Nothing was written: ${why}. Try again, or ask whoever runs the server.`);

/** Throws unless the zip is that very version. */
function checkFiles(files: FilesByPath, listed: readonly { path: string; sha256: string }[], version_id: string): void {
  const hashes: [string, string][] = [];
  for (const { path, sha256 } of listed) {
    if (UNSAFE.test(path)) throw unlike(`${path} would be written outside of the folder`);
    const bytes = files.get(path);
    if (bytes === undefined) throw unlike(`${path} did not come`);
    if (contentHash(bytes) !== sha256) throw unlike(`${path} is not what it was`);
    hashes.push([path, sha256]);
  }
  if (files.size !== listed.length || versionIdOf(deployDigest(hashes)) !== version_id)
    throw unlike("what came is another version");
}

/** The files by the paths of the version: where all lie in one folder, the zip has another one around it. */
export function withoutWrap(files: FilesByPath, version_id: string): FilesByPath {
  const wrap = `${version_id}/`;
  if (![...files.keys()].every((path) => path.startsWith(wrap))) return files;
  return new Map([...files].map(([path, bytes]) => [path.slice(wrap.length), bytes]));
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ENOENT";

/** Whether it is empty, or not there. */
async function isFree(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    if (isMissing(error)) return true;
    throw new Failure("not_a_folder", `${folder} is no folder. Name another one.`);
  }
}

/** Two names that differ by case are one file on many disks. */
async function writeNew(path: string, bytes: Uint8Array, name: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, bytes, { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    throw new Failure("not_written", `Nothing was written: ${name} has the name of another file on this disk.`);
  });
}

/** The folder appears whole or not at all. With `over`, what is there stays where no file has its name. */
async function writeFiles(folder: string, files: FilesByPath, over: boolean): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const beside = await mkdtemp(join(dirname(folder), `.${basename(folder)}-`));
  try {
    for (const [path, bytes] of files) await writeNew(join(beside, path), bytes, path);
    if (over) {
      for (const path of files.keys()) {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await rename(join(beside, path), join(folder, path));
      }
      return;
    }
    await rmdir(folder).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
    await rename(beside, folder);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

/** The version's files, each checked. */
async function fetchVersion(opened: OpenedSite, version_id: string): Promise<FilesByPath> {
  const list = read(opened, `versions/${version_id}/files`);
  const { files: listed } = await ask(list.server, list.call, sites.VERSION_FILES);
  const bytes = listed.reduce((sum, file) => sum + file.bytes + 1024 + 4 * file.path.length, 1 << 16);
  const zip = read(opened, `versions/${version_id}/zip`);
  const files = withoutWrap(await unzipFiles(await askBytes(zip.server, zip.call, 2 * bytes)), version_id);
  checkFiles(files, listed, version_id);
  return files;
}

async function pull(context: Context, given: CallWords): Promise<void> {
  const { cwd, terminal } = context;
  const { site, dir } = await placeOf(context, given);
  const { folder, files, version_id, site_id } = await whileSpinning(terminal, async (spinner) => {
    spinner.label("Asking for the version");
    const opened = await openSite(context, site, 1);
    touchLink(context, opened, opened.record);
    const folder = resolve(cwd, dir ?? new URL(opened.record.url).hostname.split(".")[0]!);
    const is_free = await isFree(folder);
    if (!is_free && !given.has("force")) {
      throw new Failure(
        "not_empty",
        `${folder} is not empty, and nothing was written. Name another folder, or add --force: it replaces files of the same names and removes none.`,
      );
    }
    const version_id = await versionOf(opened, given.value("at"));
    spinner.label("Taking the files");
    const files = await fetchVersion(opened, version_id);
    await writeFiles(folder, files, !is_free);
    return { folder, files, version_id, site_id: opened.site_id };
  });
  const bytes = [...files.values()].reduce((sum, { length }) => sum + length, 0);
  if (given.json) return terminal.json({ ok: true, site_id, version_id, folder, files: files.size, bytes });
  terminal.say(text`\n  ${green("✓")} Version ${version_id}: ${count(files.size, "file")}, ${size(bytes)}`);
  terminal.result(folder);
}

async function diff(context: Context, given: CallWords): Promise<number> {
  const [from, to, ...more] = given.all;
  if (from === undefined) throw usage(`Which version? ${svc("versions")} lists them: ${svc("diff <version>")}`);
  if (more.length > 0) throw usage(`${svc("diff")} takes one or two versions, not ${given.all.length}.`);
  const opened = await openSite(context, chooseSite(context, given, undefined), undefined, VERSION_IDS);
  const query = new URLSearchParams({ from: await versionOf(opened, from), to: await versionOf(opened, to) });
  const { server, call } = read(opened, `diff?${query}`);
  const told = await ask(server, call, sites.VERSION_DIFF);
  const lines = [
    ...told.added.map(({ path }) => ({ path, mark: "+" })),
    ...told.changed.map(({ path }) => ({ path, mark: "~" })),
    ...told.removed.map(({ path }) => ({ path, mark: "-" })),
  ].sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
  if (given.json) context.terminal.json({ ok: true, ...told });
  else for (const { mark, path } of lines) context.terminal.result(`${mark} ${path}`);
  return given.has("exit-code") && lines.length > 0 ? 1 : 0;
}

/** The commands that take a site's content away, or look at it. */
export const TAKE_AWAY_COMMANDS = { pull, diff };
