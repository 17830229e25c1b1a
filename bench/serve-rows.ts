/** What bench/serve.ts asks for: the files of the site, and a row for each kind of request. */
import type { Target } from "./load.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const words = (count: number): string =>
  Array.from({ length: count }, (_, i) => `<p>Paragraph ${i} of ${(i * 7919) % 997} words.</p>`).join("\n");
const rules = (count: number): string =>
  Array.from(
    { length: count },
    (_, i) => `.rule-${i} { margin: ${(i * 31) % 97}px; color: #${(i * 7919) % 999}; }`,
  ).join("\n");
const html = (title: string, body: string): Uint8Array =>
  bytesOf(`<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`);

/** Of a type that is not compressed. */
const noise = (length: number, seed = 0): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => ((i + seed) * 2_654_435_761) >>> 24);

const ROTATING = 20;

export const FILES: Record<string, Uint8Array> = {
  "index.html": html("Bench", "Bench"),
  "page.html": html("A page", words(130)),
  "404.html": html("Not here", "Not here"),
  "app.css": bytesOf(rules(400)),
  ...Object.fromEntries(Array.from({ length: ROTATING }, (_, n) => [`part-${n}.bin`, noise(40 * 1024, n)])),
  "100k.bin": noise(100 * 1024),
  "512k.bin": noise(512 * 1024),
  "1m.bin": noise(1024 * 1024),
};

/** What the many sites have. */
export const SMALL: Record<string, Uint8Array> = Object.fromEntries(
  ["index.html", "page.html", "404.html", "app.css"].map((path) => [path, FILES[path]!]),
);

/** A file that the site's first version has, and its live one not: a stylesheet. */
export const FORMER = "app-DiwrgTda.css";

/** As many rules as count: 2,000 addresses, and 100 patterns that the page matches none of. */
const REDIRECTS = [
  ...Array.from({ length: 2000 }, (_, i) => `/old/${i} /page.html 301`),
  ...Array.from({ length: 100 }, (_, i) => `/moved-${i}/:name/* /page.html?of=:name`),
];

/** The same site with rules of its own. */
export const RULED: Record<string, Uint8Array> = {
  ...FILES,
  _redirects: bytesOf(REDIRECTS.join("\n")),
  _headers: bytesOf("/page.html\n  X-Frame-Options: DENY\n"),
};

/** The hosts of as many small sites; `fresh` are those that nobody has asked for. */
export interface Hosts {
  host: string;
  /** Of the site with rules. */
  ruled: string;
  /** The host of the site without a 404.html. */
  plain: string;
  /** The host of a site that wants a password. */
  shut: string;
  /** A domain of the site's own. */
  domain: string;
  /** The path of a file that the live version has not: of other servers, where they have the same bytes. */
  former: string;
  sites: readonly string[];
  fresh: readonly string[];
}

export interface Row {
  name: string;
  targets(hosts: Hosts): Target[];
  headers?: Record<string, string>;
  /** With the entity tag of a former answer. */
  conditional?: boolean;
  missing?: boolean;
  /** Of the process of svc that writes an access log. */
  logged?: boolean;
  /** Goes on where the round before stopped: no target is asked for twice. */
  once?: boolean;
  /** Of the bare server's CPU per request; null where none was set. */
  aim: number | null;
}

/** What a page's own request says. */
const AS_PART = { "sec-fetch-site": "same-origin", "sec-fetch-dest": "style" };

const one =
  (path: string) =>
  ({ host }: Hosts): Target[] => [{ host, path }];
const on = (hosts: readonly string[]): Target[] => hosts.map((host) => ({ host, path: "/page.html" }));

export const PASSWORD = "open sesame 1";
const LET_IN = { authorization: `Basic ${btoa(`:${PASSWORD}`)}` };

export const ROWS: readonly Row[] = [
  { name: "5 KB page", targets: one("/page.html"), aim: 1.05 },
  { name: "5 KB page beside 2,100 rules", targets: ({ ruled }) => [{ host: ruled, path: "/page.html" }], aim: 1.05 },
  {
    name: "5 KB page, by password",
    targets: ({ shut }) => [{ host: shut, path: "/page.html" }],
    headers: LET_IN,
    aim: null,
  },
  { name: "5 KB page, at a domain", targets: ({ domain }) => [{ host: domain, path: "/page.html" }], aim: 1.05 },
  { name: "coded stylesheet", targets: one("/app.css"), headers: { "accept-encoding": "gzip" }, aim: 1.05 },
  { name: "304", targets: one("/page.html"), conditional: true, aim: 1.05 },
  { name: "404 with 404.html", targets: one("/nowhere.html"), missing: true, aim: 1.15 },
  // On a site without a 404.html. JSON, for wrk does not ask for HTML.
  {
    name: "404 that svc makes",
    targets: ({ plain }) => [{ host: plain, path: "/nowhere" }],
    missing: true,
    aim: 1.25,
  },
  {
    name: "404 of a page's part",
    targets: one("/nowhere-DiwrgTda.css"),
    headers: AS_PART,
    missing: true,
    aim: null,
  },
  {
    name: "coded stylesheet of a former version",
    targets: ({ host, former }) => [{ host, path: former }],
    headers: { ...AS_PART, "accept-encoding": "gzip" },
    aim: null,
  },
  {
    name: "40 KB files in rotation",
    targets: ({ host }) => Array.from({ length: ROTATING }, (_, n) => ({ host, path: `/part-${n}.bin` })),
    aim: 1.05,
  },
  { name: "100 KB", targets: one("/100k.bin"), aim: 1.05 },
  { name: "512 KB", targets: one("/512k.bin"), aim: 1.05 },
  { name: "1 MB", targets: one("/1m.bin"), aim: 1.05 },
  { name: "page, ten sites in rotation", targets: ({ sites }) => on(sites.slice(0, 10)), aim: null },
  { name: "page, 10,000 sites in rotation", targets: ({ sites }) => on(sites), aim: null },
  { name: "page of a site never asked for", targets: ({ fresh }) => on(fresh), once: true, aim: null },
  { name: "page, fresh connection", targets: one("/page.html"), headers: { connection: "close" }, aim: 1.05 },
  { name: "page, access log on", targets: one("/page.html"), logged: true, aim: 1.1 },
];
