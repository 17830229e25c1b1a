/** Which references nothing answers, and why: each is asked once, then those without an answer are judged together, for a
 *  wrong base path shows in many. */

import { decodePath, encodePath } from "../../base/percent.ts";
import { reservedFor } from "../../base/reserved-paths.ts";
import type { Finding } from "../../base/types.ts";
import { type Address, addressOf, isOfHost } from "../../html/addresses.ts";
import type { Budget } from "../budget.ts";
import type { Reference, Use } from "../references/reference.ts";
import * as says from "./findings.ts";
import { extraPrefix, lackingPrefix } from "./findings.ts";
import type { SiteNames } from "./site-names.ts";
import { isScript, type Origin, type Unanswered } from "./unanswered.ts";

/** Only where the address is no valid percent-encoding: `%A4BER%20` is a word with an umlaut. */
const PERCENT_PLACEHOLDER = /%[A-Z][A-Z\d_]{2,60}%/;
const PLACEHOLDER =
  /\{\{[^}]{0,200}\}\}|\{%[^%]{0,200}%\}|\[%[^%]{0,200}%\]|<%[^%]{0,200}%>|<<<[^<>]{1,200}>>>|<\?(?:php|=)|[$#]\{[^}]{0,200}\}|\$FLUTTER_BASE_HREF|@@[a-z]\w*/;
/** Uses that browsers block on an https page unless the address is https, too. */
const BLOCKED = new Set<Use>(["script", "module", "worker", "style", "frame", "font", "data", "web_manifest"]);
const OVER_HTTP = new Set(["http:", "ws:"]);
const SOURCE_CODE = /\.(?:tsx?|jsx|mts|cts|vue|svelte|astro|coffee)$/i;
const SOURCE_STYLE = /\.(?:scss|sass|less|styl|stylus|pcss)$/i;
/** Endings that a bundler adds to imports. */
const SOURCE_ENDINGS = [".ts", ".tsx", ".jsx", ".vue"];
const CODE_ENDINGS = [".js", ".mjs", "/index.js"];

const isPlaceholder = (url: string): boolean => PLACEHOLDER.test(url) || PERCENT_PLACEHOLDER.test(url);

/** Loads another page: the page for unknown paths of a single-page app may answer. */
const navigates = (use: Use): boolean => use === "link" || use === "frame";

const isSource = (use: Use, path: string): boolean =>
  isScript(use) ? SOURCE_CODE.test(path) : use === "style" && SOURCE_STYLE.test(path);

function judgeHost(address: Address, { url, use }: Reference, { file }: Origin): Finding | null {
  if (address.kind === "disk") return says.ownDisk(file, url, use === "link");
  if (use === "link" || !isOfHost(address) || address.url.protocol === "ftp:") return null;
  if (address.kind === "loopback") return says.localhostUrl(file, url);
  if (address.kind === "private") return says.privateUrl(file, url);
  return OVER_HTTP.has(address.url.protocol) && BLOCKED.has(use) ? says.mixedContent(file, url) : null;
}

/** The file that would answer a link: clean URLs and folders name no file themselves. */
function pageNamed(name: string): string {
  if (name === "" || name.endsWith("/")) return `${name}index.html`;
  return name.slice(name.lastIndexOf("/") + 1).includes(".") ? name : `${name}.html`;
}

const isRoute = (name: string): boolean => !name.slice(name.lastIndexOf("/") + 1).includes(".");

/** Files may name it in different ways. */
const causedBy = (finding: Finding, { name }: Unanswered): Finding =>
  name === null ? finding : Object.assign(finding, { cause: name });

/** `routed`: the index runs a router in the browser. */
function judgeMissing(names: SiteNames, item: Unanswered, routed: boolean): Finding {
  const { url, use, path, name, may_exist, begins } = item;
  const { file } = item.origin;
  const other = may_exist ? names.anyCase(path) : null;
  if (other !== null) return says.otherCase(file, url, other);
  if (name === null) return says.notEncoded(file, url);
  if (begins) return says.missingBeginning(file, url, name);
  if (reservedFor(name) !== null) return says.keptPath(file, url, use === "link");
  if (use === "link") return says.brokenLink(file, url, pageNamed(name), routed && isRoute(name));
  if (/(?:^|\/)node_modules\//.test(name)) return says.neverPublished(file, url);
  const ending = isScript(use) ? CODE_ENDINGS.find((each) => names.answer(path + each, false)) : undefined;
  return ending ? says.endingLeftOut(file, url, ending) : says.missingAsset(file, url, name);
}

/** The most unanswered references judged after the time limit: they take a millisecond, and leave room for other
 *  findings. */
const MOST_LATE = 50;

export class Judge {
  /** Findings that are certain before all references are asked. */
  readonly found: Finding[] = [];
  private unanswered: Unanswered[] = [];
  /** Files with paths that they name, of those that come in no order; the others are counted as they are asked for. */
  private readonly looked_up = new Set<string>();
  /** `in_order`: files are read in one go, each for the first time, and their paths are counted as they come. */
  counting: "in_order" | "apart" | "no" = "in_order";
  /** A page runs a script of another host. */
  private has_foreign_code = false;

  /** `elsewhere`: the folder that holds the index, if the root has none. */
  constructor(
    private readonly names: SiteNames,
    private readonly elsewhere: string | null,
    private readonly budget: Budget,
  ) {}

  /** How many distinct paths of the site its files name: each counts once for each file. */
  get links(): number {
    return this.names.named + this.looked_up.size;
  }

  /** Counts a path that a file names. */
  count(file: string, path: string): void {
    this.looked_up.add(`${file}\0${path}`);
  }

  note(finding: Finding | null): void {
    if (finding) this.found.push(finding);
  }

  /** Only the host is judged: the address need not be a file. */
  call(url: string, origin: Origin): void {
    this.budget.step();
    this.note(judgeHost(addressOf(url, origin.bases[0]!), { url, use: "data" }, origin));
  }

  /** A browser takes the first of a list that it can read, so the others are never asked for. */
  private isThere(url: string, base: string): boolean {
    const address = addressOf(url, base);
    if (address.kind !== "own") return /^data:/i.test(url);
    return this.names.service(address.path) || this.names.answer(address.path, false) !== null;
  }

  /** The file that answers. Null if there is none, or if the address is not this site's. */
  ask(reference: Reference, origin: Origin): string | null {
    this.budget.step();
    const { url, use, earlier, optional } = reference;
    const { file, bases } = origin;
    if (earlier?.some((other) => this.isThere(other, bases[0]!))) return null;
    const addresses = bases.map((base) => addressOf(url, base));
    const first = addresses[0]!;
    if (first.kind === "public" && isScript(use)) this.has_foreign_code = true;
    const has_scheme = first.kind !== "own" && /^[a-z]{2,}:/i.test(url);
    if (first.kind !== "own" || use === "base") {
      const left = (use === "base" || first.kind === "none") && !has_scheme && isPlaceholder(url);
      this.note(left ? says.placeholderLeft(file, url) : judgeHost(first, reference, origin));
      return null;
    }
    if (reference.begins) {
      if (this.counting !== "no") this.count(file, first.path);
      const begun = addresses.some((one) => one.kind !== "own" || this.names.begins(one.path));
      if (!begun) this.keep(reference, origin, first.path);
      return null;
    }
    const in_order = this.counting === "in_order";
    if (this.counting === "apart") this.count(file, first.path);
    const answers = addresses.map((one, n) => {
      if (one.kind !== "own") return null;
      return in_order && n === 0
        ? this.names.answerTo(file, one.path, navigates(use))
        : this.names.answer(one.path, navigates(use));
    });
    const answer = answers.find((path) => path !== null);
    if (answer !== undefined && !isSource(use, answer)) return answer;
    if (answer !== undefined) this.note(says.sourceLoaded(file, url));
    else if (!optional && !addresses.some((one) => one.kind === "own" && this.names.service(one.path))) {
      this.keep(reference, origin, first.path);
    }
    return null;
  }

  private keep(reference: Reference, origin: Origin, path: string): void {
    const may_exist = !reference.begins && this.names.mayExist(path);
    this.unanswered.push({ ...reference, origin, path, name: decodePath(path)?.slice(1) ?? null, may_exist });
  }

  /** Source that is missing, or that only a bundler finds. */
  private isUnbuilt({ use, path }: Unanswered): boolean {
    if (isSource(use, path)) return true;
    const found = () => SOURCE_ENDINGS.some((each) => this.names.answer(path + each, false));
    return use === "module" && (path.startsWith("/src/") || found());
  }

  /** Whether the address itself shows what is wrong. */
  private tellsItself(item: Unanswered): boolean {
    this.budget.step();
    const { url, origin, name } = item;
    const placeholder = PLACEHOLDER.test(url) || (name === null && PERCENT_PLACEHOLDER.test(url));
    if (placeholder && !origin.filled_in) this.note(says.placeholderLeft(origin.file, url));
    else if (!placeholder && this.isUnbuilt(item)) this.note(causedBy(says.sourceLoaded(origin.file, url), item));
    else return placeholder;
    return true;
  }

  /** `routed`: the index runs a router in the browser. `unused`: which of these no browser asks for. */
  findings(routed: boolean, unused: (items: readonly Unanswered[]) => ReadonlySet<Unanswered>): Finding[] {
    const { names, elsewhere } = this;
    // Scripts of another host may use any class, so nothing counts as unused then.
    const left_out = this.has_foreign_code ? null : unused(this.unanswered);
    const items = this.unanswered.filter((item) => !left_out?.has(item) && !this.tellsItself(item));
    const unbuilt = this.found.some(({ code }) => code === "unbuilt_source" || code === "template_placeholder");
    const { findings, left } = judgeBasePath(names, items, { elsewhere, unbuilt });
    return [...this.found, ...findings, ...left.map((item) => causedBy(judgeMissing(names, item, routed), item))];
  }

  /** Judges after the time is up. References that a stylesheet makes only for certain elements are left out. */
  findingsSoFar(routed: boolean): Finding[] {
    this.unanswered = this.unanswered.filter(({ selectors }) => !selectors).slice(0, MOST_LATE);
    return this.findings(routed, () => new Set());
  }
}

// Was the site made for another folder? Then the addresses that begin with a slash have a prefix too much or too
// little, all of them the same: one finding for each prefix.

/** Facts that other findings have already reported. */
interface Said {
  /** The folder to deploy instead, which holds the index. */
  elsewhere: string | null;
  /** The project needs a build: a build copies the files of public/, and its output is what to deploy. */
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

/** The reference without its prefix, if a file answers that. A folder of the site is no prefix. */
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

/** One picture, or links alone, prove nothing: a translation may be missing next to its original. */
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
function judgeBasePath(
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
