/** BEYOND 8 behind a proxy that keeps answers: Debian's nginx with proxy_cache, which goes by Cache-Control as HTTP says. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { debianProgram, librariesOf } from "../kit/debian-package.ts";
import { freePort } from "../kit/pebble.ts";
import { call } from "../kit/people.ts";
import { type DeployResult, slugOf } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";

setDefaultTimeout(60_000);

const PASSWORD = "open sesame 1";
const FILES = {
  "index.html": "<!doctype html><title>Secret garden</title><h1>Roses</h1>",
  "a.css": "p{}",
  "404.html": "<title>Own 404</title>",
  _redirects: "/old /a.css 301\n",
  _headers: "/*\n  Cache-Control: public, max-age=3600\n",
};

const server = await sharedServer();
const nginx = await startCache();
afterAll(() => nginx.end());

/** It keeps what it may keep, under the host and the path alone: neither cookies nor passwords tell two visitors apart. */
async function startCache() {
  const folder = await mkdtemp(join(tmpdir(), "svc-nginx-"));
  const port = freePort();
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join(" ");
  const conf = `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/errors crit;
events { worker_connections 64; }
http { access_log off; ${places} proxy_cache_path ${folder}/kept keys_zone=kept:1m;
  server { listen 127.0.0.1:${port};
    location / { proxy_pass http://127.0.0.1:${server.port}; proxy_set_header Host $http_host; proxy_http_version 1.1;
      proxy_cache kept; proxy_cache_key $http_host$request_uri; add_header X-Kept $upstream_cache_status always; } } }`;
  await writeFile(join(folder, "nginx.conf"), conf);
  const fetched = { whole: true, without: /^(?:nginx-common|iproute2|perl|debconf|libc6)/ };
  const program = await debianProgram("nginx", "nginx", fetched);
  const env = { ...process.env, ...(await librariesOf(dirname(dirname(dirname(program))))) };
  const child = Bun.spawn([program, "-p", folder, "-e", join(folder, "errors"), "-c", join(folder, "nginx.conf")], {
    stdio: ["ignore", "ignore", "pipe"],
    env,
  });
  await until(() => fetch(`http://127.0.0.1:${port}/`).then(() => true, () => child.exitCode !== null)); // prettier-ignore
  if (child.exitCode !== null) throw new Error(`nginx ended: ${await child.stderr.text()}`);
  return {
    async ask(slug: string, path: string, headers: Record<string, string> = {}) {
      const host = `${slug}.localhost:${server.port}`;
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        headers: { host, ...headers },
        redirect: "manual",
      });
      await answer.arrayBuffer();
      return [answer.status, answer.headers.get("x-kept")];
    },
    async end() {
      child.kill();
      await child.exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const own = ({ manage_token }: DeployResult) => ({ authorization: `Bearer ${manage_token}` });
const RIGHT = { authorization: `Basic ${btoa(`:${PASSWORD}`)}` };
async function shut(): Promise<DeployResult & { slug: string }> {
  const site = await server.deploy(FILES);
  const { status } = await call(server, "PUT", `/sites/${site.site_id}/access`, { password: PASSWORD }, own(site));
  if (status !== 200) throw new Error(`the password was answered ${status}`);
  return { ...site, slug: slugOf(site.url) };
}
/** Addresses that a public site's own Cache-Control lets anybody keep; those of a version even say `immutable`. */
const ANSWERS = [
  ["the start page", "/", 200],
  ["a stylesheet", "/a.css", 200],
  ["a redirect", "/old", 301],
  ["its 404", "/none", 404],
] as const;

describe("BEYOND 8: nothing of a private site is kept by nginx's proxy_cache", () => {
  test.each(ANSWERS)("the control: %s of a public site is, but for a 404", async (_, path, status) => {
    const site = await server.deploy(FILES);
    expect(await nginx.ask(slugOf(site.url), path)).toEqual([status, "MISS"]);
    expect(await nginx.ask(slugOf(site.url), path)).toEqual([status, status === 404 ? "MISS" : "HIT"]);
  });

  test.each(ANSWERS)("%s goes to who knows the password, and after it to nobody else", async (_, path, status) => {
    const site = await shut();
    for (const host of [site.slug, `${site.version_id}--${site.slug}`]) {
      for (let turn = 0; turn < 2; turn++) {
        expect([host, ...(await nginx.ask(host, path, RIGHT))]).toEqual([host, status, "MISS"]);
        expect([host, ...(await nginx.ask(host, path))]).toEqual([host, 401, "MISS"]);
      }
    }
  });

  test("a cookie's page neither", async () => {
    const site = await shut();
    const entered = await server.site(site.slug, "/_svc/access", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ password: PASSWORD }),
    });
    const cookie = entered.headers.getSetCookie()[0]!.split(";")[0]!;
    for (let turn = 0; turn < 2; turn++) {
      expect(await nginx.ask(site.slug, "/", { cookie })).toEqual([200, "MISS"]);
      expect(await nginx.ask(site.slug, "/")).toEqual([401, "MISS"]);
    }
  });

  test("the refusal is not kept either: without the password the page is there at once", async () => {
    const site = await shut();
    expect(await nginx.ask(site.slug, "/")).toEqual([401, "MISS"]);
    expect((await call(server, "DELETE", `/sites/${site.site_id}/access`, undefined, own(site))).status).toBe(200);
    expect(await nginx.ask(site.slug, "/")).toEqual([200, "MISS"]);
    expect(await nginx.ask(site.slug, "/")).toEqual([200, "HIT"]);
  });
});
