/** The sites whose paths are asked for, and how they are asked. */
import { heldAgainstItsExplanation } from "../kit/explained.ts";
import { type RawAnswer, rawSite } from "../kit/raw-http.ts";
import type { Contents, DeployResult, TestServer } from "../kit/server.ts";

const SHELL =
  '<!doctype html><title>App</title><div id="root"></div><script type="module" src="/assets/app.js"></script>';
export const CONTENTS: Record<string, Contents> = {
  plain: {
    "index.html": "root",
    b: "file b",
    "a/b": "file a/b",
    "a/index.html": "folder a",
    "%2e%2e/x": "a literal name",
    "docs/index.html": "docs",
    "docs/deep/index.html": "deep",
    "evil.com/docs/index.html": "harmless",
    "about.html": "about page",
    "both.html": "both page",
    "both/index.html": "both folder",
    exact: "exact file",
    "exact.html": "exact page",
    "empty-folder/file.txt": "no index here",
    "a..b.html": "dots",
    "100%.html": "percent",
    "a+b": "plus",
    "a b": "space",
    "a;b=c": "semicolon",
    "a&b": "ampersand",
    "caf\u00e9.txt": "accent",
    "\u65e5\u672c.txt": "japanese",
    "a.html": "lower case",
    ["__proto__"]: "an honest name",
    "comments.json": "the site's own",
    ".well-known/security.txt": "contact",
    ".well-known/acme-challenge/token": "a certificate for the author",
    "_svc/x": "ours wins",
  },
  app: {
    "index.html": SHELL,
    "assets/app.js": "history.pushState({}, '', '/x');",
    "about.html": "about",
    _redirects: "/* /index.html 200\n",
  },
  fallback: { "index.html": "<h1>Home</h1>", "200.html": "the fallback document" },
  pages: {
    "index.html": "root",
    "404.html": "root has no such page",
    "docs/404.html": "docs have no such page",
    "docs/index.html": "docs",
  },
};

/** The sites on a server that starts later than this is called. */
export function pathSites(started: () => TestServer) {
  const sites: Record<string, DeployResult> = {};
  async function get(
    site: string,
    path: string | Uint8Array,
    headers: string[] = [],
    method = "GET",
  ): Promise<RawAnswer> {
    const server = started();
    const { slug } = sites[site]!;
    const ask = () => rawSite(server.port, slug, path, headers, method);
    const answer = await ask();
    if (typeof path !== "string") return answer;
    const sent = new Headers(headers.map((line) => line.split(/:\s*/, 2) as [string, string]));
    await heldAgainstItsExplanation(server, { slug, path, method, headers: sent }, answer, ask);
    return answer;
  }
  return {
    sites,
    async deployAll(): Promise<void> {
      for (const [name, files] of Object.entries(CONTENTS)) sites[name] = await started().deploy(files);
    },
    get,
    /** Status, and the body without attribution where it is a file of the site. */
    async seen(site: string, path: string | Uint8Array): Promise<[number, string]> {
      const { status, text } = await get(site, path);
      return [status, text.replace(/<meta name="generator".*<\/script>/s, "")];
    },
  };
}
