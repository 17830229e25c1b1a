/** The library (SPEC, "Library"): four exports, from source and as the built file under Node. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import * as library from "../../lib.ts";
import { BUILD_DIR_CANDIDATES, collectDist, deploySite, resolveDeployDir } from "../../lib.ts";
import { DEPLOYED } from "../kit/fake-server.ts";
import { ROOT } from "../kit/paths.ts";
import { sharedHome } from "../kit/shared.ts";

setDefaultTimeout(60_000);

const bytes = (text: string) => new TextEncoder().encode(text);

const { server, home } = await sharedHome();

test("the library has exactly four exports", () => {
  expect(Object.keys(library).sort()).toEqual([
    "BUILD_DIR_CANDIDATES",
    "collectDist",
    "deploySite",
    "resolveDeployDir",
  ]);
});

describe("deploySite", () => {
  test.each([
    ["a Map", new Map([["index.html", bytes("<title>One</title>hello")]])],
    ["a plain object", { "index.html": bytes("<title>One</title>hello") }],
    ["Buffers", { "index.html": Buffer.from("<title>One</title>hello") }],
  ])("takes files as %s and resolves to the live site", async (_, files) => {
    const result = await deploySite({ files, baseUrl: server.base_url });
    expect(result).toMatchObject({
      url: `http://${result.slug}.localhost:${server.port}`,
      site_id: expect.stringMatching(/^site_[0-9a-z]{20}$/),
      version_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      manage_token: expect.stringMatching(/^svc_manage_/),
      claim_token: expect.stringMatching(/^svc_claim_/),
      expires_at: expect.any(Number),
      healed: [],
      warnings: [],
      render: { status: "pending" },
    });
    expect("owner_account_id" in result).toBe(false);
    expect(await (await server.site(result.slug)).text()).toContain("hello");
  });

  test("always creates a new site", async () => {
    const options = { files: { "index.html": bytes("same") }, baseUrl: server.base_url };
    const [one, two] = [await deploySite(options), await deploySite(options)];
    expect(one.site_id).not.toBe(two.site_id);
    expect(one.version_id).toBe(two.version_id);
  });

  test("names that objects treat specially are files like others", async () => {
    const files = new Map([
      ["index.html", bytes("<title>t</title>")],
      ["__proto__", bytes("proto")],
      ["constructor", bytes("made")],
      ["docs/ünï ©ödé 😀.txt", bytes("unicode")],
    ]);
    const { slug } = await deploySite({ files, baseUrl: server.base_url });
    expect(await (await server.site(slug, "/__proto__")).text()).toBe("proto");
    expect(await (await server.site(slug, "/constructor")).text()).toBe("made");
    expect(await (await server.site(slug, encodeURI("/docs/ünï ©ödé 😀.txt"))).text()).toBe("unicode");
  });

  test("a proxy of the environment is not asked for this machine", async () => {
    process.env["HTTP_PROXY"] = "http://127.0.0.1:1";
    try {
      const files = { "index.html": bytes("past the proxy") };
      expect(await deploySite({ files, baseUrl: server.base_url })).toHaveProperty("url");
    } finally {
      delete process.env["HTTP_PROXY"];
    }
  });

  test("sends apiKey as it is, as a bearer, and the zip to /sites of baseUrl", async () => {
    const seen: Request[] = [];
    const handle = (request: Request) => {
      seen.push(request);
      return Response.json(DEPLOYED);
    };
    const options = {
      files: { "a.txt": bytes("a") },
      baseUrl: "https://svc.example/",
      apiKey: "anything at all",
      handle,
    };
    expect(await deploySite(options)).toEqual(DEPLOYED as never);
    const [request] = seen;
    expect(request).toBeInstanceOf(Request);
    expect(request?.url).toBe("https://svc.example/sites");
    expect(request?.method).toBe("POST");
    expect(request?.headers.get("content-type")).toBe("application/zip");
    expect(request?.headers.get("authorization")).toBe("Bearer anything at all");
    expect([...(await request!.bytes()).subarray(0, 4)]).toEqual([0x50, 0x4b, 3, 4]);
  });

  test("without an apiKey no credential is sent, and the default is this machine's server", async () => {
    const given = process.env["DEPLOY_URL"];
    delete process.env["DEPLOY_URL"];
    let url = "";
    const handle = async (request: Request) => {
      expect(request.headers.has("authorization")).toBe(false);
      url = request.url;
      return Response.json(DEPLOYED);
    };
    await deploySite({ files: { "a.txt": bytes("a") }, handle });
    expect(url).toBe("http://localhost:8787/sites");
    process.env["DEPLOY_URL"] = "http://127.0.0.1:1/base";
    await deploySite({ files: { "a.txt": bytes("a") }, handle });
    expect(url).toBe("http://127.0.0.1:1/base/sites");
    if (given === undefined) delete process.env["DEPLOY_URL"];
    else process.env["DEPLOY_URL"] = given;
  });

  test.each([
    [
      "the server's sentence",
      Response.json({ error: "Too large.", code: "deploy_too_large" }, { status: 413 }),
      "Too large.",
    ],
    [
      "the status where there is no sentence",
      new Response("<h1>", { status: 502, statusText: "Bad Gateway" }),
      "502 Bad Gateway",
    ],
    [
      "the status of an answer that is no result",
      Response.json([], { status: 404, statusText: "Not Found" }),
      "404 Not Found",
    ],
    ["a redirect", new Response(null, { status: 302 }), "302"],
    ["a 200 that is no result", Response.json({ hello: "world" }), "200"],
  ])("fails with `deploy failed: <detail>`: %s", async (_, response, detail) => {
    const deploying = deploySite({ files: { "a.txt": bytes("a") }, handle: () => response });
    await expect(deploying).rejects.toThrow(`deploy failed: ${detail}`);
  });

  test("the error's cause is the body, so that a program can read the code", async () => {
    const failure = await deploySite({ files: {}, baseUrl: server.base_url }).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(Error);
    expect((failure as Error).message).toMatch(/^deploy failed: ./);
    expect((failure as Error).cause).toMatchObject({ code: "empty_deploy", request_id: expect.any(String) });
  });

  test("fails with a sentence where nothing answers", async () => {
    const deploying = deploySite({ files: { "a.txt": bytes("a") }, baseUrl: "http://127.0.0.1:1" });
    await expect(deploying).rejects.toThrow("deploy failed: could not reach http://127.0.0.1:1");
  });

  test("refuses a file that is not bytes, naming it", async () => {
    const files = { "index.html": "text" } as unknown as Record<string, Uint8Array>;
    await expect(deploySite({ files })).rejects.toThrow('files: "index.html" must be a Uint8Array');
  });
});

/** Runs a script under this machine's Node, beside the built library and with nothing installed. */
async function onNode(folder: string, script: string, base: string): Promise<{ out: string; err: string }> {
  const built = home.path(folder, "lib.mjs");
  const build = ["build", "lib.ts", "--target=node", "--format=esm", "--outfile", built];
  Bun.spawnSync([process.execPath, ...build], { cwd: ROOT });
  await home.write(folder, { "run.mjs": script });
  const child = Bun.spawn(["node", "run.mjs"], {
    cwd: home.path(folder),
    env: { PATH: process.env["PATH"] ?? "", BASE: base },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { out, err };
}

test("the built file runs under this machine's Node with nothing installed", async () => {
  await home.write("node", { "dist/index.html": "<title>From Node</title>", "dist/sub/a.txt": "a" });
  const script = `import * as svc from "./lib.mjs";
    const files = await svc.collectDist(await svc.resolveDeployDir());
    const result = await svc.deploySite({ files, baseUrl: process.env.BASE });
    const failure = await svc.deploySite({ files: {}, baseUrl: process.env.BASE }).catch((error) => error.message);
    console.log(JSON.stringify({ exports: Object.keys(svc).sort(), url: result.url, paths: [...files.keys()], failure }));`;
  const { out, err } = await onNode("node", script, `http://127.0.0.1:${server.port}`);
  expect(err).toBe("");
  expect(JSON.parse(out)).toEqual({
    exports: ["BUILD_DIR_CANDIDATES", "collectDist", "deploySite", "resolveDeployDir"],
    url: expect.stringMatching(/^http:\/\/[a-z0-9-]+\.localhost:/),
    paths: ["index.html", "sub/a.txt"],
    failure: expect.stringMatching(/^deploy failed: ./),
  });
});

test("a Node that knows localhost as ::1 alone finds the server on 127.0.0.1", async () => {
  const script = `import dns from "node:dns";
    dns.lookup = (name, options, callback) =>
      options.all ? callback(null, [{ address: "::1", family: 6 }]) : callback(null, "::1", 6);
    const { deploySite } = await import("./lib.mjs");
    const { url } = await deploySite({ files: { "a.txt": Buffer.from("a") }, baseUrl: process.env.BASE });
    console.log(url);`;
  const { out, err } = await onNode("v6", script, server.base_url);
  expect([err, out]).toEqual(["", expect.stringMatching(/^http:\/\/\S+\n$/)]);
});
