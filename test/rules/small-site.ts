/** A site with a page, a folder and data: what rules are tried on. */
import { type DeployResult, slugOf, type TestServer } from "../kit/server.ts";

export const SMALL_SITE = {
  "index.html": "<!doctype html><title>Home</title>home",
  "a.html": "<!doctype html><title>A</title>alpha",
  "docs/index.html": "<!doctype html><title>Docs</title>docs",
  "data.json": "[1]",
};

type Ask = (site: DeployResult, path: string, headers?: Record<string, string>) => Promise<Response>;

/** Redirects are not followed. */
export const asking =
  (server: TestServer): Ask =>
  (site, path, headers = {}) =>
    server.site(slugOf(site.url), path, { headers, redirect: "manual" });
