/** The receipt (WEB 4.6) of a deploy that this page made: the markup of src/web/receipt.ts, from the API's JSON. */
import { copyFrom } from "../copying.ts";
import { button, code, el, icon } from "./dom.ts";
import { ahead, count, mentions } from "../wording.ts";
import { day } from "./words.ts";

interface Note {
  message: string;
  path?: string;
  fix_recipe?: string;
}

/** What `POST /sites` and `POST /sites/:id/deploys` answer. */
export interface Deployed {
  url: string;
  site_id: string;
  slug: string;
  version_id: string;
  /** Epoch milliseconds; null when owned. */
  expires_at: number | null;
  manage_token: string;
  claim_url?: string;
  healed: Note[];
  warnings: Note[];
}

/** An answer of another kind (a proxy's, another program's on the port) is none. */
export function deployedIn(body: Readonly<Record<string, unknown>>): Deployed | null {
  const { url, site_id, version_id, healed, warnings } = body as Partial<Deployed>;
  const texts = [url, site_id, version_id].every((value) => typeof value === "string");
  return texts && /^https?:\/\//.test(url!) && Array.isArray(healed) && Array.isArray(warnings)
    ? (body as unknown as Deployed)
    : null;
}

/** Groups of warnings that stand open; the rest are folded. */
const MOST_OPEN = 6;

const marked = (text: string, path: string): (string | Node)[] =>
  mentions(text, path).map((piece, i) => (i % 2 === 1 ? code(piece) : piece));

function told({ message, path }: Note): HTMLElement {
  if (path === undefined) return el("p", {}, message);
  const pieces = marked(message, path);
  return pieces.length > 1 ? el("p", {}, ...pieces) : el("p", {}, code(path), ": ", message);
}

function group(notes: readonly Note[]): HTMLElement {
  const { fix_recipe = "", path } = notes[0]!;
  const recipe = path === undefined ? [fix_recipe] : marked(fix_recipe, path);
  const todo = el("p", { class: "do" }, "To do: ", ...recipe);
  return el("li", { class: "item" }, icon("warning"), el("div", {}, ...notes.map(told), todo));
}

const items = (children: readonly HTMLElement[]): HTMLElement =>
  el("ul", { class: "items", role: "list" }, ...children);

function warned(warnings: readonly Note[]): HTMLElement | null {
  if (warnings.length === 0) return null;
  const groups = Map.groupBy(warnings, ({ fix_recipe }) => fix_recipe);
  const all = [...groups.values()].map(group);
  const folded = all.slice(MOST_OPEN);
  return el(
    "div",
    { class: "part warn-part" },
    el(
      "div",
      { class: "said" },
      el("h3", {}, icon("warning"), count(warnings.length, "warning")),
      el("p", {}, "It is live, but not all right yet."),
    ),
    items(all.slice(0, MOST_OPEN)),
    folded.length > 0 && el("details", {}, el("summary", {}, "Show all"), items(folded)),
  );
}

const fixed = (healed: readonly Note[]): HTMLElement | null =>
  healed.length === 0
    ? null
    : el(
        "div",
        { class: "part" },
        el("h3", {}, "Fixed for you"),
        items(healed.map((note) => el("li", { class: "item fixed" }, icon("check"), told(note)))),
      );

function copies(label: string, element: Element): HTMLButtonElement {
  const pressed: HTMLButtonElement = button(label, "small", () => copyFrom(element, pressed), icon("copy"));
  return pressed;
}

/** Where the system has a way to share, and the person may still think better of it. */
const share = (url: string): HTMLElement | false =>
  "share" in navigator && button("Share", "small", () => navigator.share({ url }).catch(() => {}), icon("share"));

function address(url: string): HTMLElement {
  const link = el("a", { href: url, rel: "noopener" }, url);
  return el("p", { class: "url" }, link, copies("Copy link", link), share(url));
}

export const leftOut = (paths: readonly string[]): HTMLElement | null =>
  paths.length === 0
    ? null
    : el(
        "p",
        { class: "small dim" },
        "Left out: ",
        ...paths.flatMap((path, i) => (i === 0 ? [code(path)] : [", ", code(path)])),
      );

function stay({ expires_at, claim_url, site_id }: Deployed, left: readonly string[]): HTMLElement {
  const now = Date.now();
  const words =
    expires_at === null
      ? el("p", {}, "It is yours and does not expire.")
      : el(
          "p",
          {},
          "Here until ",
          el("time", { datetime: new Date(expires_at).toISOString() }, day(expires_at, now)),
          `, ${ahead(expires_at - now)} from now.`,
        );
  const manage = el("a", { class: "button primary", href: `/dashboard/sites/${site_id}` }, "Manage this site");
  const keep = claim_url && el("a", { class: "button primary", href: claim_url }, "Keep this site");
  return el("div", { class: "keep" }, el("div", {}, words, leftOut(left)), expires_at === null ? manage : keep || null);
}

function forPrograms({ site_id, version_id, manage_token }: Deployed): HTMLElement {
  const token = el("input", { class: "field mono", id: "manage-token", readonly: true, value: manage_token });
  const line = `svc update --site ${site_id} --token ${manage_token}`;
  return el(
    "details",
    {},
    el("summary", {}, "For programs and the command line"),
    el(
      "div",
      { class: "fields" },
      el(
        "div",
        {},
        el("label", { class: "label", for: "manage-token" }, "Manage token"),
        el("p", { class: "pair" }, token, copies("Copy token", token)),
      ),
      el(
        "dl",
        { class: "facts-list" },
        el("dt", {}, "Site"),
        el("dd", {}, el("code", {}, site_id)),
        el("dt", {}, "Version"),
        el("dd", {}, el("code", {}, version_id)),
      ),
      el("pre", { tabindex: "0", role: "group", "aria-label": "Command for the next version" }, el("code", {}, line)),
    ),
  );
}

interface Shown {
  deployed: Deployed;
  heading: string;
  left_out: readonly string[];
  /** "Publish another". */
  again(): void;
}

/** The region, and the heading that the focus goes to. */
export function receipt({ deployed, heading, left_out, again }: Shown): { region: HTMLElement; title: HTMLElement } {
  const title = el("h2", { tabindex: "-1" }, heading);
  const region = el(
    "section",
    { class: "receipt card", "aria-label": "Receipt" },
    el(
      "div",
      { class: "head" },
      el("div", { class: "ok" }, el("span", { class: "tick" }, icon("tick")), title),
      address(deployed.url),
      stay(deployed, left_out),
    ),
    warned(deployed.warnings),
    fixed(deployed.healed),
    el("div", { class: "part" }, forPrograms(deployed), el("p", {}, button("Publish another", "", again))),
  );
  return { region, title };
}
