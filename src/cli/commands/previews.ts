/** `svc previews` lists what is shown next to the live version, newest first; `svc promote` makes one of them live. */
import { createHash } from "node:crypto";
import type { Context, CallWords } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import { ask } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import { ROLLED_BACK } from "../service/wire.ts";
import type { Env } from "../terminal/index.ts";
import { columns, dim, green, text } from "../terminal/text.ts";
import { age, duration } from "../terminal/units.ts";
import { chooseSite, type OpenedSite, openSite, rollbackCommand, siteGone, touchLink } from "./chosen-site.ts";
import { array, type Infer, object, pick } from "../../api/shapes/builder.ts";
import * as deploys from "../../api/shapes/deploys.ts";

const PREVIEW_ROW = pick(
  deploys.PREVIEWS.required.previews.items,
  ...(["name", "url", "version_id", "title", "created_at", "expires_at"] as const),
);
type PreviewRow = Infer<typeof PREVIEW_ROW>;
const PREVIEWS = object({ previews: array(PREVIEW_ROW) });

/** The rows of the list: a person reads how long ago and how long still, a program reads times. */
function rowsFor({ terminal, now }: Context, site: OpenedSite, previews: readonly PreviewRow[]): string[] {
  if (!terminal.resultIsRead) {
    return previews.map(({ name, url, version_id, expires_at }) =>
      [name ?? "-", url, version_id, new Date(endOf(expires_at, site)).toISOString()].join(" "),
    );
  }
  const rows = previews.map(({ name, url, created_at, expires_at }) => [
    name ?? "-",
    url,
    age(now() - Date.parse(created_at)),
    duration(endOf(expires_at, site) - now()),
  ]);
  return columns([["NAME", "URL", "DEPLOYED", "ENDS IN"], ...rows]);
}

export async function previews(context: Context, given: CallWords): Promise<void> {
  const opened = await openSite(context, chooseSite(context, given, given.argument), 1);
  const { server, credential, site_id, record } = opened;
  const call = { method: "GET", path: `/sites/${site_id}/previews`, credential, repeatable: true } as const;
  const body = await ask(server, call, PREVIEWS).catch(forSite(context, opened));
  touchLink(context, opened, record);
  if (given.json) return context.terminal.json({ ok: true, ...body });
  if (body.previews.length === 0)
    return context.terminal.say(text`No previews of ${record.url}: ${svc("preview")} makes one.`);
  for (const row of rowsFor(context, opened, body.previews)) context.terminal.result(row);
}

/** `svc promote`: makes a preview live, byte for byte. */
export async function promote(context: Context, given: CallWords): Promise<void> {
  if (given.argument === undefined) throw usage(`Which preview? ${svc("previews")} lists them.`);
  const opened = await openSite(context, chooseSite(context, given, undefined), 1);
  const { record, server, credential, site_id } = opened;
  const name = namedPreview(given.argument, slugIn(record.url));
  const call = { method: "POST", path: `/sites/${site_id}/previews/${name}/promote`, credential } as const;
  const body = await ask(server, { ...call, repeatable: false }, ROLLED_BACK).catch((error: unknown) => {
    const isUnknown = error instanceof ApiFailure && error.code === "unknown_version";
    if (!isUnknown) return forSite(context, opened)(error);
    throw new Failure("unknown_version", `The site has no preview ${name}. ${svc("previews")} lists them.`);
  });
  touchLink(context, opened, record);
  if (given.json) return context.terminal.json(body);
  const changed = body.version_id !== body.previous_version_id;
  context.terminal.say(
    text`\n  ${green("✓")} ${changed ? `Version ${body.version_id} is live` : "No changes (already live)"}`,
  );
  context.terminal.url(body.url);
  if (!changed) return;
  context.terminal.say(dim(text`  Back again: ${rollbackCommand(context, opened, body.previous_version_id)}\n`));
}

/** When a preview ends: no later than its site. */
export const endOf = (expires_at: number, { record }: Pick<OpenedSite, "record">): number =>
  Math.min(expires_at, record.expires_at ?? Infinity);

/** Explains a refusal that is about the site or the server, not about the call. */
export const forSite =
  (context: Context, site: OpenedSite) =>
  (error: unknown): never => {
    if (!(error instanceof ApiFailure)) throw error;
    if (error.code === "unknown_site") throw siteGone(context, site);
    if (error.code !== "not_found" && error.code !== "method_not_allowed") throw error;
    const { origin } = site.server;
    throw new Failure(
      "not_found",
      `The server ${origin} knows no previews: it is older than this svc. Upgrade it first.`,
    );
  };

/** The longest label of a host name: the preview's name, two hyphens and the slug. */
const LONGEST_LABEL = 63;
const longestFor = (slug: string): number => LONGEST_LABEL - "--".length - slug.length;

const isVersionId = (text: string): boolean => /^[0-9a-f]{16}$/.test(text);
/** Names that no preview may have: a version's id, and `xn`, which marks another writing system in host names. */
const isTaken = (name: string): boolean => isVersionId(name) || name === "xn";

const withoutEnds = (text: string): string => text.replace(/^-+|-+$/g, "");

/** The name of a preview, made of any text, such as a branch (BEYOND 7). `slug` is the site's. */
export function nameOf(text: string, slug: string): string {
  const name = withoutEnds(text.toLowerCase().replace(/[^a-z0-9]+/g, "-"));
  const longest = longestFor(slug);
  if (name !== "" && name.length <= longest && !isTaken(name)) return name;
  const mark = createHash("sha256").update(text).digest("hex").slice(0, 4);
  // Nothing is left of a text without a letter that a host name may have.
  return `${withoutEnds(name.slice(0, longest - mark.length - 1)) || "preview"}-${mark}`;
}

/** The preview that a command names: by its text, or by a version_id. */
const namedPreview = (text: string, slug: string): string =>
  isVersionId(text.toLowerCase()) ? text.toLowerCase() : nameOf(text, slug);

/** The name of the change that the build runs for: the pull request that GitHub or Forgejo names, else GitLab's branch; null if neither is
 *  known. */
export function textFrom(env: Env): string | null {
  const pull = /^refs\/pull\/(\d+)\//.exec(env["GITHUB_REF"] ?? "")?.[1];
  return pull === undefined ? env["CI_COMMIT_REF_SLUG"] || null : `pr-${pull}`;
}

/** The slug in a site's address. */
export const slugIn = (url: string): string => new URL(url).hostname.split(".")[0]!;
