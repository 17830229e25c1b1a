/** What a visitor's browser finds wrong with a site: every page of it is opened, and every link on it followed. */
import type { Browser } from "../browser/chromium.ts";
import type { Contents } from "./parts.ts";

const MOST_PAGES = 12;

export interface Visits {
  most?: number;
  /** Takes as many from the end and the middle as from the beginning, not the first ones. */
  spread?: boolean;
  /** Files that are opened too if they are pages, however many others there are. */
  besides?: readonly string[];
  /** Paths of pages that the service made. */
  made?: readonly string[];
  /** Asks too for what a browser with tabs, an installed app or a preview asks for, and one without a window never does. */
  pictures?: boolean;
  /** Tells `lacks <path>` of pages that wanted scripts or data of another host. */
  lacks?: boolean;
  /** Opens a page a second time and uses it: what it asks for then counts. */
  use?: (browser: Browser) => Promise<readonly string[]>;
  /** No further page is opened once this was found. */
  until?: (found: string) => boolean;
}
/** What a page shows without a letter of text. */
const DRAWN = "img, picture, svg, canvas, video, audio, iframe, object, embed, input";
const LOOK = `[
  (document.body?.innerText ?? "").trim() === "" && !document.querySelector(${JSON.stringify(DRAWN)}),
  [...document.querySelectorAll("a[href], area[href]")].map((link) => link.href.baseVal === undefined ? link.href : new URL(link.href.baseVal, document.baseURI).href).concat(
    [...document.querySelectorAll("meta[http-equiv=refresh]")].map((meta) => new URL(meta.content.split("url=")[1], document.baseURI).href)),
]`;
/** The addresses of a page's icons and previews, and of the icons of its manifest. */
const PICTURES = `(async () => {
  const hrefs = (selector) => [...document.querySelectorAll(selector)].map((link) => link.href).filter(Boolean);
  const previews = [...document.querySelectorAll("meta[property='og:image'], meta[name='twitter:image']")]
    .map((meta) => URL.parse(meta.content, document.baseURI)?.href).filter(Boolean);
  const [manifest] = hrefs("link[rel~=manifest]");
  const named = manifest ? await fetch(manifest).then((answer) => answer.json()).catch(() => ({})) : {};
  const icons = [named].flat().flatMap((one) => one?.icons ?? []).map(({ src }) => URL.parse(src, manifest)?.href).filter(Boolean);
  const asked = [...hrefs("link[rel~=icon], link[rel^=apple-touch-icon], link[rel=mask-icon]"), ...icons, ...previews];
  return manifest ? [manifest, ...asked] : asked;
})()`;

/** The page's own console is its own business; a host that is neither this site nor this machine is nobody's fault. */
function concernsSite(failure: string, site: string): boolean {
  if (/^(?:console|never answered): /.test(failure)) return false;
  const url = /(?:https?|wss?):\/\/\S+/.exec(failure)?.[0];
  return (
    !/^(?:\d{3}|net::\S+) /.test(failure) ||
    !url ||
    url.startsWith(site) ||
    /\/\/(?:localhost|127[\d.]+|0\.0\.0\.0)[:/]/.test(url)
  );
}

/** From a page that was served, no browser goes to a disk. */
const onDisk = (addresses: readonly string[]): string[] =>
  [...new Set(addresses)].filter((address) => address.startsWith("file:")).map((address) => `link never ${address}`);

async function refused(addresses: string[], site: string, as: "document" | "image"): Promise<string[]> {
  const own = [...new Set(addresses.map((address) => address.split("#")[0]!))].filter(
    (address) => address.startsWith(site) && !address.startsWith(`${site}/_svc/`),
  );
  const headers = { "sec-fetch-dest": as, accept: as === "document" ? "text/html" : "*/*" };
  const asked = own.map(async (address) => ({ address, status: (await fetch(address, { headers })).status }));
  return (await Promise.all(asked))
    .filter(({ status }) => status >= 400)
    .map(({ address, status }) => `${as === "document" ? "link " : ""}${status} ${address}`);
}

/** A script or data that another host did not give: all but what only looks. */
const LACKED =
  /^(?:\d{3}|net::\S+) (?!\S*(?:\.(?:css|png|jpe?g|gif|svg|webp|ico|woff2?|ttf|mp[34])(?:[?#]|$)|\/\/fonts\.))/;
const lacksOthers = (failures: readonly string[], site: string): boolean =>
  failures.some((failure) => LACKED.test(failure) && !concernsSite(failure, site));

/** Nobody opens parts of pages, nor what a sign-in returns to in the window that it opened. */
const isPage = ([path, content]: [string, string | Uint8Array]): boolean =>
  /\.x?html?$/i.test(path) &&
  !/oauth2-redirect\.html$/.test(path) &&
  (typeof content !== "string" || /<(?:!doctype|html|head|title|\?xml)/i.test(content));

/** The file came, and the browser would not run it. */
const NOT_RUN = /^error: (?:Failed to load module script|Refused to execute script)/;

/** A script that is at fault by itself, whatever other hosts would have given: nobody can read it, or its names lead nowhere. */
export const UNREADABLE =
  /^(?:Uncaught )?(?:SyntaxError: (?!Unexpected token '<')|TypeError: Failed to resolve module specifier|ReferenceError: require is not defined)/;

/** What another host would have given may be missed by the page's own scripts: no test leaves this machine. */
function ownFailures(failures: readonly string[], site: string): string[] {
  const lacks = failures.some((failure) => /^(?:\d{3}|net::\S+) /.test(failure) && !concernsSite(failure, site));
  return failures.filter(
    (failure) =>
      concernsSite(failure, site) && !(lacks && !/^(?:\d{3}|net::\S+) /.test(failure) && !UNREADABLE.test(failure)),
  );
}

/** Those that are named come first, for they are likely to show something. */
function pathsOf(files: Contents, { most = MOST_PAGES, spread = false, besides = [], made = [] }: Visits): string[] {
  const named = Object.keys(files).filter((path) => /\.x?html?$/i.test(path) && besides.includes(path));
  const all = Object.entries(files)
    .filter(isPage)
    .map(([path]) => path);
  const step = spread ? Math.max(1, all.length / most) : 1;
  const some = Array.from({ length: Math.min(most, all.length) }, (_, index) => all[Math.floor(index * step)]!);
  return [...named, ...made, ...some].filter((path) => path !== "index.html");
}

export async function seen(browser: Browser, site: string, files: Contents, visits: Visits = {}): Promise<string[]> {
  const found: string[] = [];
  for (const path of new Set(["/", ...pathsOf(files, visits).map((path) => `/${path}`)])) {
    if (visits.until && found.some(visits.until)) break;
    const { failures, messages } = await browser.visit(site + path.split("/").map(encodeURIComponent).join("/"));
    found.push(...ownFailures(failures, site), ...messages.filter((message) => NOT_RUN.test(message)));
    const [blank, links] = await browser.evaluate<[boolean, string[]]>(LOOK);
    if (blank) found.push(`blank ${path}`);
    if (visits.lacks && lacksOthers(failures, site)) found.push(`lacks ${path}`);
    found.push(...(await refused(links, site, "document")), ...onDisk(links));
    if (visits.pictures) found.push(...(await refused(await browser.evaluate<string[]>(PICTURES), site, "image")));
    if (visits.use) found.push(...ownFailures(await visits.use(browser), site));
  }
  return [...new Set(found)];
}
