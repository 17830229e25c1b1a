/** Warnings for a page: for what failed in the browser, unless the lint has said it already. */
import type { RenderWarning } from "../store/renders.ts";
import type { Receipt } from "../store/receipts.ts";
import type { PageError, PageSeen, SeenRequest } from "./job.ts";

/** Warnings of one code; the last says how many more there are. */
const MOST_OF_A_CODE = 5;

/** Browsers ask for these by themselves, or scripts on the chance that they are there. */
const IMPLIED = /^\/(favicon\.ico|robots\.txt|apple-touch-icon[\w-]*\.png)$/;
const NOT_MISSED: ReadonlySet<string> = new Set([
  "Ping",
  "ServiceWorker",
  "Preflight",
  "Prefetch",
  "CSPViolationReport",
  "SignedExchange",
]);
/** When one of these is refused because it went elsewhere, the page's scripts lack what they have for a visitor. */
const WORKS: ReadonlySet<string> = new Set(["Script", "Fetch", "XHR", "WebSocket", "EventSource", "Other"]);
/** A frame of another host, which no script of the page can look into. */
const SHOWS: ReadonlySet<string> = new Set([...WORKS, "Document"]);
/** Failures of what a page may go without, and those of the bounds that it has here alone. */
const BESIDES =
  /service ?worker|Failed to fetch|NetworkError|Load failed|NotAllowedError|AbortError|ResizeObserver loop|allocation failed|out of memory/i;

/** As the upload has it. */
const fileAt = (address: string): string => (address === "/" ? "index.html" : address.slice(1));
/** Answers that are the engine's own, or a busy server's. */
const NOT_THE_PAGES: ReadonlySet<number> = new Set([429, 502, 503]);

/** Without an answer: what a policy blocked, or a socket that met something else. Whatever else breaks off may be of the
 *  bounds that the page has here. */
const isFault = ({ status, reason }: SeenRequest): boolean =>
  status === null ? /handshake|^[^(]*\(.+\)$/.test(reason) : !NOT_THE_PAGES.has(status);

const pathOf = (url: string): string | null => URL.parse(url)?.pathname ?? null;

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** As the lint says that a script joins more to an address. */
const BEGINNING = /no file of the site begins with (.+?)\.(?: There are \d+ more|$)/;

/** Whether the deploy's receipt names the file, or a path that begins with it. A receipt that left some out may have named it. */
function told(receipt: Receipt | null, address: string): boolean {
  if (receipt === null) return false;
  const path = decoded(address);
  const file = path.slice(path.lastIndexOf("/") + 1) || path;
  return receipt.warnings.some(({ message }) => {
    const beginning = BEGINNING.exec(message)?.[1];
    return beginning === undefined ? message.includes(file) : path.startsWith(`/${beginning}`);
  });
}

function failedRequests(seen: PageSeen, receipt: Receipt | null): RenderWarning[] {
  const wrong = seen.failed_requests.filter((one) => !one.elsewhere && !NOT_MISSED.has(one.kind) && isFault(one));
  const paths = new Map<string, SeenRequest>();
  for (const request of wrong) {
    const path = pathOf(request.url);
    if (path !== null && !IMPLIED.test(path) && !told(receipt, path) && !paths.has(path)) paths.set(path, request);
  }
  return [...paths].map(([address, { kind, status, reason }]) => {
    const path = fileAt(address);
    const how = status === null ? `it fails: ${reason}` : `the answer is ${status}`;
    return {
      code: "failed_request",
      message: `The page asks for ${path} (${kind.toLowerCase()}), and ${how}.`,
      path,
      fix_recipe: `Add ${path} to the deploy, or change the script that asks for it.`,
    };
  });
}

const placeOf = ({ url, line }: PageError): string => {
  const path = url === null ? null : pathOf(url);
  return path === null ? "" : ` (${fileAt(path)}${line === null ? "" : `:${line}`})`;
};

/** `lacks`: the page does not have all that its scripts have for a visitor. Then only errors that visitors have too are judged. */
function scriptErrors(seen: PageSeen, lacks: boolean): RenderWarning[] {
  const told = seen.errors.filter(({ text, own }) => (own || !lacks) && !BESIDES.test(text));
  const errors = new Map(told.map((one) => [one.text, one]));
  return [...errors.values()].map((error) => {
    const address = error.url === null ? null : pathOf(error.url);
    const path = address === null ? null : fileAt(address);
    const where = path === null ? "in the page's script" : `in ${path}`;
    return {
      code: "script_error",
      message: `A script of the page fails when it loads: ${error.text.replace(/\s+/g, " ").slice(0, 300)}${placeOf(error)}`,
      ...(path !== null && { path }),
      fix_recipe: `Open the page with the browser's console, and mend what throws ${where}.`,
    };
  });
}

const BLANK: RenderWarning = {
  code: "blank_page",
  message: "The start page shows nothing: no text, and one colour alone.",
  path: "index.html",
  fix_recipe:
    "Open the site and look at the browser's console: make index.html load the scripts that fill it, then deploy again.",
};

function bounded(warnings: RenderWarning[]): RenderWarning[] {
  if (warnings.length <= MOST_OF_A_CODE) return warnings;
  const shown = warnings.slice(0, MOST_OF_A_CODE);
  const last = shown.at(-1)!;
  return shown.with(-1, {
    ...last,
    message: `${last.message} And ${warnings.length - MOST_OF_A_CODE} more like this.`,
  });
}

/** `receipt`: the warnings of the version's deploy. */
export function judge(seen: PageSeen, receipt: Receipt | null): RenderWarning[] {
  const refused = seen.failed_requests.filter(({ elsewhere, url }) => elsewhere && !counts(url));
  const lacks = (kinds: ReadonlySet<string>) => refused.some(({ kind }) => kinds.has(kind));
  return [
    ...bounded(scriptErrors(seen, lacks(WORKS))),
    ...bounded(failedRequests(seen, receipt)),
    ...(seen.blank && !lacks(SHOWS) ? [BLANK] : []),
  ];
}

/** Hosts that count a site's visitors or show them advertisements. Many visitors' browsers refuse them too, and what a page
 *  takes from them is replaced by code of its own until they come, so a page without them is as it is for visitors. */
const COUNTING = new Set(
  `google-analytics.com googletagmanager.com googleadservices.com googlesyndication.com doubleclick.net plausible.io
  cloudflareinsights.com hotjar.com clarity.ms usefathom.com simpleanalyticscdn.com gc.zgo.at goatcounter.com
  umami.is statcounter.com matomo.cloud mc.yandex.ru hm.baidu.com bat.bing.com snap.licdn.com counter.dev`.split(/\s+/),
);

/** Also of the hosts below them. */
function counts(url: string): boolean {
  const labels = (URL.parse(url)?.hostname ?? "").split(".");
  return labels.some((_, n) => COUNTING.has(labels.slice(n).join(".")));
}
