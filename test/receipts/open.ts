/** What a visitor's browser finds wrong with a site: every page of it is opened, and every link on it followed. */
import type { Browser } from "../browser/chromium.ts";
import type { Contents } from "./parts.ts";

const MOST_PAGES = 12;

interface Visits {
  most?: number;
  /** Files that are opened too if they are pages, however many others there are. */
  besides?: readonly string[];
}
/** What a page shows without a letter of text. */
const DRAWN = "img, picture, svg, canvas, video, audio, iframe, object, embed, input";
const LOOK = `[
  document.body.innerText.trim() === "" && !document.querySelector(${JSON.stringify(DRAWN)}),
  [...document.querySelectorAll("a[href], area[href]")].map((link) => link.href.baseVal === undefined ? link.href : new URL(link.href.baseVal, document.baseURI).href).concat(
    [...document.querySelectorAll("meta[http-equiv=refresh]")].map((meta) => new URL(meta.content.split("url=")[1], document.baseURI).href)),
]`;

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

async function brokenLinks(links: string[], site: string): Promise<string[]> {
  const own = [...new Set(links.map((link) => link.split("#")[0]!))].filter(
    (link) => link.startsWith(site) && !link.startsWith(`${site}/_svc/`),
  );
  const headers = { "sec-fetch-dest": "document", accept: "text/html" };
  const asked = own.map(async (link) => ({ link, status: (await fetch(link, { headers })).status }));
  return (await Promise.all(asked))
    .filter(({ status }) => status >= 400)
    .map(({ link, status }) => `link ${status} ${link}`);
}

/** Nobody opens parts of pages, nor what a sign-in returns to in the window that it opened. */
const isPage = ([path, content]: [string, string | Uint8Array]): boolean =>
  /\.x?html?$/i.test(path) &&
  !/oauth2-redirect\.html$/.test(path) &&
  (typeof content !== "string" || /<(?:!doctype|html|head|title|\?xml)/i.test(content));

/** The file came, and the browser would not run it. */
const NOT_RUN = /^error: (?:Failed to load module script|Refused to execute script)/;

/** What another host would have given may be missed by the page's own scripts: no test leaves this machine. */
function ownFailures(failures: readonly string[], site: string): string[] {
  const lacks = failures.some((failure) => /^(?:\d{3}|net::\S+) /.test(failure) && !concernsSite(failure, site));
  return failures.filter((failure) => concernsSite(failure, site) && !(lacks && !/^(?:\d{3}|net::\S+) /.test(failure)));
}

export async function seen(browser: Browser, site: string, files: Contents, visits: Visits = {}): Promise<string[]> {
  const { most = MOST_PAGES, besides = [] } = visits;
  const all = Object.entries(files).filter(isPage).slice(0, most);
  const named = Object.entries(files).filter(([path]) => /\.x?html?$/i.test(path) && besides.includes(path));
  const pages = [...all, ...named];
  const found: string[] = [];
  for (const path of new Set(["/", ...pages.map(([path]) => `/${path}`).filter((path) => path !== "/index.html")])) {
    const { failures, messages } = await browser.visit(site + path.split("/").map(encodeURIComponent).join("/"));
    found.push(...ownFailures(failures, site), ...messages.filter((message) => NOT_RUN.test(message)));
    const [blank, links] = await browser.evaluate<[boolean, string[]]>(LOOK);
    if (blank) found.push(`blank ${path}`);
    found.push(...(await brokenLinks(links, site)));
  }
  return [...new Set(found)];
}
