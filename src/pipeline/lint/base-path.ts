/** Was the site made for another folder? Then the addresses that begin with a slash have a prefix too much or too little,
 *  all of them the same: one finding for each prefix. */
import { encodePath } from "../../base/percent.ts";
import type { Finding } from "../../base/types.ts";
import { extraPrefix, lackingPrefix } from "./findings.ts";
import type { SiteNames } from "./site-names.ts";
import { isScript, type Unanswered } from "./unanswered.ts";

/** What other findings have said already. */
interface Said {
  /** The folder to deploy instead, where the index lies. */
  elsewhere: string | null;
  /** The project is to be built: a build copies what lies in public/, and is itself what is to be deployed. */
  unbuilt: boolean;
}

/** Folders that other servers publish as the root. */
const PUBLISHED = ["public", "static", "dist", "build", "out", "www", "_site", "htdocs", "public_html"];
/** No base path has more segments. */
const DEEPEST = 3;

interface Stripped {
  item: Unanswered;
  prefix: string;
  /** The file that is there without it. */
  there: string;
}

const startsAtRoot = ({ url, origin }: Unanswered): boolean => origin.moved === true || /^[/\\](?![/\\])/.test(url);

/** The folders at the beginning of a path. */
function beginnings(name: string): string[] {
  const segments = name.split("/", DEEPEST + 1);
  return segments.map((_, index) => segments.slice(0, index + 1).join("/")).slice(0, DEEPEST);
}

/** The reference with a prefix less, where a file answers that. A folder of the site is no prefix. */
function strip(names: SiteNames, item: Unanswered): Stripped | null {
  const { name } = item;
  if (name === null || !item.may_exist) return null;
  for (const prefix of beginnings(name)) {
    const there = name.slice(prefix.length + 1);
    if (names.folder(prefix) || there === "" || there === "index.html") continue;
    if (names.answer(`/${encodePath(there)}`, false)) return { item, prefix, there };
  }
  return null;
}

/** One picture, or links alone, prove nothing: a translation may be missing beside its original. */
function isProof(members: readonly Stripped[]): boolean {
  const loads = members.filter(({ item }) => item.use !== "link");
  const code = loads.some(({ item, there }) => isScript(item.use) || item.use === "style" || there.includes("/"));
  return code || new Set(loads.map(({ there }) => there)).size > 1;
}

/** The prefixes that the site was made for, each with an example. */
function extraPrefixes(names: SiteNames, items: readonly Unanswered[]): Map<string, Stripped> {
  const stripped = items.map((item) => strip(names, item)).filter((one) => one !== null);
  const by_prefix = [...Map.groupBy(stripped, ({ prefix }) => prefix)];
  return new Map(by_prefix.filter(([, members]) => isProof(members)).map(([prefix, members]) => [prefix, members[0]!]));
}

/** The folder that holds what the reference looks for at the root: one around its file, or one that others publish. */
function lacking(
  names: SiteNames,
  published: readonly string[],
  { name, origin, may_exist }: Unanswered,
): string | null {
  if (!name || !may_exist) return null;
  const segments = origin.file.split("/").slice(0, -1);
  const around = segments.map((_, index) => segments.slice(0, index + 1).join("/"));
  return [...around, ...published].find((folder) => names.answer(`/${encodePath(`${folder}/${name}`)}`, false)) ?? null;
}

/** Takes what a wrong base path explains out of `items`. */
export function judgeBasePath(
  names: SiteNames,
  items: readonly Unanswered[],
  { elsewhere, unbuilt }: Said,
): { findings: Finding[]; left: Unanswered[] } {
  const findings = new Map<string, Finding>();
  const published = PUBLISHED.filter((folder) => names.folder(folder));
  const prefixes = extraPrefixes(names, items.filter(startsAtRoot));

  function explains(item: Unanswered): boolean {
    const name = item.name ?? "";
    const prefix = beginnings(name).find((each) => prefixes.has(each));
    const there = prefix === undefined ? null : name.slice(prefix.length + 1);
    if (prefix === undefined || !(there === "" || names.answer(`/${encodePath(there!)}`, false))) return false;
    const example = prefixes.get(prefix)!;
    findings.getOrInsertComputed(`-${prefix}`, () =>
      extraPrefix(example.item.origin.file, prefix, example.item.url, example.there),
    );
    return true;
  }

  function explainsByFolder(item: Unanswered): boolean {
    const folder = lacking(names, published, item);
    if (folder === null) return false;
    const { file } = item.origin;
    const said = folder === elsewhere || (unbuilt && (folder === "public" || file.startsWith(`${folder}/`)));
    if (!said) findings.getOrInsertComputed(`+${folder}`, () => lackingPrefix(file, folder, item.url));
    return true;
  }

  const left = items.filter((item) => !startsAtRoot(item) || !(explains(item) || explainsByFolder(item)));
  return { findings: [...findings.values()], left };
}
