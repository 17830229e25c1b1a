/** The region "Sites made in this browser" (WEB 4.7). An element of its own kind: the parser fills it before anything
 *  below it is laid out, so nothing moves. */
import { button, el, theirs } from "./dom.ts";
import { bringBack, forgetSite, keepLocalSites, type LocalSite, localSites } from "./local-sites.ts";
import { count } from "../../../base/units.ts";
import { day } from "./words.ts";

/** The calls that the list makes to the zone. */
interface Hands {
  update(site: LocalSite): void;
  say(words: string, ...more: Node[]): void;
  csrf(): string | null;
  focusStart(): void;
}

const UNDO_MS = 10_000;

const REASONS: Readonly<Record<string, string>> = {
  not_found: "it is gone",
  already_owned: "it belongs to another account",
  already_yours: "it is yours already",
  invalid_token: "its token has ended",
  invalid_input: "its entry is damaged",
};

const labelled = (word: string, slug: string): Node[] => [
  document.createTextNode(`${word} `),
  el("span", { class: "hidden" }, slug),
];

export class SitesList extends HTMLElement {
  hands: Hands | null = null;

  connectedCallback(): void {
    this.draw();
    addEventListener("storage", () => this.draw());
  }

  draw(): void {
    const sites = localSites();
    if (sites.length === 0) return this.replaceChildren();
    const id = "local-sites";
    this.replaceChildren(
      el(
        "section",
        { class: "section", "aria-labelledby": id },
        el("h2", { id }, "Sites made in this browser"),
        el("ul", { class: "rows card local", role: "list" }, ...sites.map((site) => this.#row(site))),
        el("p", { class: "after" }, this.#keep()),
      ),
    );
  }

  #row(site: LocalSite): HTMLElement {
    const { slug, url, expires_at, title } = site;
    const where = title === null ? [] : [theirs(new URL(url).host), " · "];
    const until = el("time", { datetime: new Date(expires_at).toISOString() }, day(expires_at, Date.now()));
    return el(
      "li",
      { "data-site": site.site_id },
      el(
        "div",
        { class: "what" },
        el("a", { class: "name", href: url, rel: "noopener" }, theirs(title ?? url)),
        el("p", { class: "sub" }, ...where, "Here until ", until),
      ),
      el(
        "div",
        { class: "acts" },
        button("", "small", () => this.hands?.update(site), ...labelled("Update", slug)),
        button("", "quiet small", () => this.#forget(site), ...labelled("Forget", slug)),
      ),
    );
  }

  #keep(): HTMLElement {
    if (this.dataset["signedIn"] === undefined) return el("a", { href: "/signin?next=%2F" }, "Sign in to keep them");
    return button("Keep these sites", "small", () => this.#attach());
  }

  #forget(site: LocalSite): void {
    const { site_id, slug } = site;
    const before = localSites();
    forgetSite(site_id);
    this.draw();
    const undo = button("Undo", "small", () => {
      clearTimeout(over);
      bringBack(site, before);
      this.draw();
      this.hands?.say(`${slug} is on the list again.`);
      this.querySelector<HTMLElement>(`[data-site="${site_id}"] button:last-child`)?.focus();
    });
    // A sentence that was said since then stays.
    const over = setTimeout(() => undo.isConnected && this.#end(undo), UNDO_MS);
    this.hands?.say(`${slug} is forgotten here; the site stays. `, undo);
    undo.focus();
  }

  #end(undo: HTMLElement): void {
    const focused = document.activeElement === undo;
    this.hands?.say("");
    if (focused) this.hands?.focusStart();
  }

  async #attach(): Promise<void> {
    const sites = localSites();
    const csrf = this.hands?.csrf() ?? "";
    const response = await fetch("/account/bulk-attach", {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/json", "svc-csrf": csrf },
      body: JSON.stringify({ sites: sites.map(({ site_id, manage_token }) => ({ site_id, manage_token })) }),
    }).catch(() => null);
    const body = ((await response?.json().catch(() => null)) ?? {}) as {
      attached?: string[];
      skipped?: { site_id: string; reason: string }[];
      error?: string;
    };
    const { attached, skipped = [], error } = body;
    if (!attached) return this.hands?.say(error ?? "The server cannot be reached. Check your connection.");
    const gone = new Set([
      ...attached,
      ...skipped.flatMap(({ site_id, reason }) => (reason === "already_yours" ? site_id : [])),
    ]);
    keepLocalSites(localSites().filter(({ site_id }) => !gone.has(site_id)));
    this.draw();
    this.hands?.say(said(sites, attached, skipped));
  }
}

function said(
  sites: readonly LocalSite[],
  attached: readonly string[],
  skipped: readonly { site_id: string; reason: string }[],
): string {
  const slugOf = (id: string) => sites.find(({ site_id }) => site_id === id)?.slug ?? id;
  const kept =
    attached.length === 0
      ? []
      : [`${count(attached.length, "site")} ${attached.length === 1 ? "is" : "are"} yours now.`];
  const not = skipped.map(({ site_id, reason }) => `${slugOf(site_id)} was skipped: ${REASONS[reason] ?? reason}.`);
  return [...kept, ...not].join(" ");
}
