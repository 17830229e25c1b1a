/** Moves the claim token from the link's fragment into the form, through the sign-in if one is needed, and says which site it
 *  is of: by this browser's own list at once, by the server for the rest. It claims nothing: that is the person's click. */
import { count } from "../../base/units.ts";
import { el, theirs } from "./zone/dom.ts";
import { forgetSite, localSites } from "./zone/local-sites.ts";
import { day, size } from "./zone/words.ts";

const key = `svc-claim ${location.pathname}`;
const site_id = location.pathname.split("/").at(-1)!;

function tokenOfLink(): string | null {
  const from_link = location.hash.slice(1);
  if (from_link && from_link !== "main") {
    sessionStorage.setItem(key, from_link);
    // Out of the address bar, the history and what is copied from them.
    history.replaceState(null, "", location.pathname);
  }
  return sessionStorage.getItem(key);
}

/** The site as far as it is known: this browser's list knows no files. */
interface Known {
  url: string;
  title?: string | null;
  files?: number;
  bytes?: number;
  expires_at: number | null;
}

const place = (name: string): HTMLElement | null => document.querySelector<HTMLElement>(`[data-site-${name}]`);

function tell({ url, title = null, files, bytes, expires_at }: Known): void {
  const ends = expires_at === null ? null : `ends on ${day(expires_at, Date.now())}`;
  const { host } = new URL(url);
  const link = (text: string) => el("a", { href: url, rel: "noopener" }, theirs(text));
  const amount = files === undefined || bytes === undefined ? null : `${count(files, "file")}, ${size(bytes)}`;
  place("address")?.replaceChildren(link(host));
  place("facts")?.replaceChildren(
    ...(title === null ? [] : [el("span", { class: "name cut", dir: "auto" }, title)]),
    [amount, ends].filter((part) => part !== null).join(" · "),
  );
  place("end")?.replaceChildren(link(host.split(".")[0]!), ` ${ends ?? "has an owner"}. Sign in to keep it.`);
}

/** The refusals that say something about the link. */
const REFUSED: Readonly<Record<number, string>> = {
  401: "This claim link fits no site: copy the whole of it, to its last letter.",
  404: "This site has ended.",
  409: "This site belongs to an account already.",
};

async function look(claim_token: string): Promise<void> {
  const response = await fetch(`/sites/${site_id}/claim?look=1`, {
    method: "POST",
    // The token says all: with the cookie beside it, it would be a write of the account's.
    credentials: "omit",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ claim_token }),
  });
  const body: unknown = await response.json();
  if (response.ok) return tell(body as Known);
  const refused = REFUSED[response.status];
  if (refused !== undefined) (place("facts") ?? place("end"))?.replaceChildren(refused);
}

/** The token needs nobody's eyes once it is filled in. */
function fillIn(field: HTMLInputElement, token: string): void {
  field.value = token;
  const box = field.closest("div")!;
  const details = el("details", { class: "token" }, el("summary", {}, "Claim token"));
  box.before(details);
  details.append(box);
  document.querySelector<HTMLElement>("button[data-claim]")?.focus();
}

const token = tokenOfLink();
const field = document.querySelector<HTMLInputElement>("input[name=claim_token]");
if (document.querySelector("[data-claimed]")) {
  sessionStorage.removeItem(key);
  // The site belongs to an account now: this browser's list is for sites without one.
  forgetSite(site_id);
} else {
  const own = localSites().find((site) => site.site_id === site_id);
  if (own) tell(own);
  if (token) {
    if (field && field.getAttribute("aria-invalid") === null) fillIn(field, token);
    // Without an answer the page stays as it was.
    look(token).catch(() => {});
  }
}
