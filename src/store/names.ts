/** Names of sites: a chosen one takes the place of the present one, and those before it stay the site's for good (BEYOND 17). */
import { Refusal } from "../base/errors.ts";
import { fitsPreview } from "../base/preview-names.ts";
import type { Site } from "../base/types.ts";
import { audit } from "./audit.ts";
import { domainRows } from "./domains.ts";
import { change, type Op, read, statement } from "./operation.ts";
import type { SignedIn } from "./people/sessions.ts";
import { permission } from "./permission.ts";
import { refusals } from "./refusals.ts";
import { siteRows } from "./sites.ts";

/** `own`: the site had it before. `taken`: another site has it, had it, or a site that is gone did. */
type NameStanding = "present" | "own" | "taken" | "free";

interface Renaming {
  site_id: string;
  slug: string;
  /** An operator is bound by nothing but that a name is one site's alone. */
  by: SignedIn | "operator";
}

interface Renamed {
  site: Site;
  /** False if the site had this name already. */
  changed: boolean;
  /** All names that lead to it. */
  slugs: string[];
}

/** Each one is a redirect for good, and a name that nobody else can have. */
const MOST_FORMER = 10;

const holder = statement<{ site_id: string; present: 0 | 1 }>(
  `select site_id, 1 as present from sites where slug = ?1
   union all select site_id, 0 from former_slugs where slug = ?1
   union all select site_id, 0 from tombstones where slug = ?1 limit 1`,
);

function* standing(site_id: string, slug: string): Op<NameStanding> {
  const held = yield* holder.get(slug);
  if (held === null) return "free";
  if (held.site_id !== site_id) return "taken";
  return held.present === 1 ? "present" : "own";
}

/** A name that was never given out, to be tried in turn. */
function* firstFree(slugs: readonly string[]): Op<string | null> {
  for (const slug of slugs) if ((yield* holder.get(slug)) === null) return slug;
  return null;
}

const formerOf = statement<{ slug: string }>(
  "select slug from former_slugs where site_id = ? order by left_at desc, slug",
);
const previewNames = statement<{ name: string }>(
  "select name from previews where site_id = ? and name is not null and expires_at > ? order by length(name) desc limit 1",
);

const taken = (slug: string): Refusal =>
  new Refusal("slug_taken", `The name ${slug} is another site's, or was once: choose another one.`, {
    field: "slug",
    slug,
  });

const tooMany = (): Refusal =>
  new Refusal(
    "too_many_names",
    `The site has had ${MOST_FORMER} other names, which all lead to it: take one of those back, or keep the present one.`,
    { limit: MOST_FORMER },
  );

const tooLong = (preview: string): Refusal =>
  new Refusal(
    "invalid_slug",
    `The preview ${preview} of this site would have an address longer than a host's name can be: end it, or choose a shorter name.`,
    { field: "slug", rule: "length" },
  );

/** Throws for a name that the site cannot have, whatever its form is. */
function* refuseUnlessFree(site: Site, { slug, by }: Renaming, now: number): Op<NameStanding> {
  const is = yield* standing(site.site_id, slug);
  if (is === "present") return is;
  const longest = yield* previewNames.get(site.site_id, now);
  if (longest !== null && !fitsPreview(longest.name, slug)) throw tooLong(longest.name);
  if (is === "taken") throw taken(slug);
  if (is === "own" || by === "operator") return is;
  if ((yield* formerOf.all(site.site_id)).length >= MOST_FORMER) throw tooMany();
  return is;
}

function* siteToRename({ site_id, by }: Renaming, now: number): Op<Site> {
  if (by !== "operator") return yield* permission.writableSite({ site_id, by }, now);
  const site = yield* siteRows.byId.get(site_id);
  if (site === null) throw refusals.unknownSite();
  return site;
}

const forgetFormer = statement("delete from former_slugs where slug = ?");
const keepFormer = statement("insert into former_slugs (slug, site_id, left_at) values (?, ?, ?)");
const setSlug = statement<Site>("update sites set slug = ? where site_id = ? returning *");

function* rename(wanted: Renaming, now: number): Op<Renamed> {
  const { site_id, slug, by } = wanted;
  const site = yield* siteToRename(wanted, now);
  const is = yield* refuseUnlessFree(site, wanted, now);
  if (is === "present") return { site, changed: false, slugs: [] };
  const at = new Date(now).toISOString();
  yield* forgetFormer.do(slug);
  yield* keepFormer.do(site.slug, site_id, at);
  const renamed = (yield* setSlug.get(slug, site_id))!;
  const actor = by === "operator" ? { actor: by } : { actor: by.account_id, account_id: by.account_id };
  yield* audit({ at, ...actor, action: "rename", site_id, reason: `from ${site.slug} to ${slug}` });
  const domains = yield* domainRows.activeOf.all(site_id);
  const found_by = [slug, ...(yield* formerNames(site_id)), ...domains.map(({ domain }) => domain)];
  return { site: renamed, changed: true, slugs: found_by };
}

function* admit(wanted: Renaming, now: number): Op<NameStanding> {
  const site = yield* siteRows.byId.get(wanted.site_id);
  if (site === null) throw refusals.unknownSite();
  return yield* refuseUnlessFree(site, wanted, now);
}

function* formerNames(site_id: string): Op<string[]> {
  return (yield* formerOf.all(site_id)).map(({ slug }) => slug);
}

/** For the transaction that makes a site. */
export const nameRows = { firstFree };

export const NAMES = {
  standing: read((_, site_id: string, slug: string) => standing(site_id, slug)),
  /** Throws as `rename` would for a name that the site cannot have, and changes nothing. */
  admit: read(({ now }, wanted: Renaming) => admit(wanted, now())),
  /** The former names of a site, the last one first. */
  former: read((_, site_id: string) => formerNames(site_id)),
  /** The form of the name is judged by the caller. Throws `slug_taken`, `too_many_names` or `invalid_slug`. */
  rename: change(
    ({ now }, wanted: Renaming) => rename(wanted, now()),
    ({ slugs }) => slugs,
  ),
};
