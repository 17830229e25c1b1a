/** Which references nothing answers, and why: each is asked once, then those without an answer are judged together, for a
 *  wrong base path shows in many. */
import { type Address, addressOf, isOfHost } from "../../html/addresses.ts";
import type { Budget } from "../budget.ts";
import { decodePath } from "../../base/percent.ts";
import { reservedFor } from "../../base/reserved-paths.ts";
import type { Finding } from "../../base/types.ts";
import * as says from "./findings.ts";
import { judgeBasePath } from "./base-path.ts";
import type { Reference, Use } from "../references/reference.ts";
import type { SiteNames } from "./site-names.ts";
import { isScript, type Origin, type Unanswered } from "./unanswered.ts";

/** Only where the address is no valid percent-encoding: `%A4BER%20` is a word with an umlaut. */
const PERCENT_PLACEHOLDER = /%[A-Z][A-Z\d_]{2,60}%/;
const PLACEHOLDER =
  /\{\{[^}]{0,200}\}\}|\{%[^%]{0,200}%\}|\[%[^%]{0,200}%\]|<%[^%]{0,200}%>|<<<[^<>]{1,200}>>>|<\?(?:php|=)|[$#]\{[^}]{0,200}\}|\$FLUTTER_BASE_HREF|@@[a-z]\w*/;
/** What browsers load over https alone on an https page. */
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

/** Of what nothing answers, so many are judged behind the limit of time: a millisecond, and room for what else was found. */
const MOST_LATE = 50;

export class Judge {
  /** What is certain before all is asked. */
  readonly found: Finding[] = [];
  private unanswered: Unanswered[] = [];
  /** A page runs a script of another host. */
  private has_foreign_code = false;

  /** `elsewhere`: the folder that holds the index, where the root has none. */
  constructor(
    private readonly names: SiteNames,
    private readonly elsewhere: string | null,
    private readonly budget: Budget,
  ) {}

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

  /** The file that answers; null: none, or none of this site's business. */
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
      const begun = addresses.some((one) => one.kind !== "own" || this.names.begins(one.path));
      if (!begun) this.keep(reference, origin, first.path);
      return null;
    }
    const answers = addresses.map((one) => (one.kind === "own" ? this.names.answer(one.path, navigates(use)) : null));
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

  /** Whether the address itself tells what is wrong. */
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
    // What a script of another host gives to the page, nobody knows here.
    const left_out = this.has_foreign_code ? null : unused(this.unanswered);
    const items = this.unanswered.filter((item) => !left_out?.has(item) && !this.tellsItself(item));
    const unbuilt = this.found.some(({ code }) => code === "unbuilt_source" || code === "template_placeholder");
    const { findings, left } = judgeBasePath(names, items, { elsewhere, unbuilt });
    return [...this.found, ...findings, ...left.map((item) => causedBy(judgeMissing(names, item, routed), item))];
  }

  /** When the time is up. What a stylesheet asks for only where an element is so is left out. */
  findingsSoFar(routed: boolean): Finding[] {
    this.unanswered = this.unanswered.filter(({ selectors }) => !selectors).slice(0, MOST_LATE);
    return this.findings(routed, () => new Set());
  }
}
