/** WEB 1.6: what pages load, files of fixed names, and what robots and programs are told (WEB 3). */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib";
import { describe, expect, test } from "bun:test";
import { startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";

const server = await sharedServer({ SVC_ANONYMOUS_TTL: "3d", SVC_MAX_FILES: "123" });
const home = await (await server.api("/")).text();

const assets = (): string[] => [...new Set([...home.matchAll(/\/assets\/[\w.-]+/g)].map(([path]) => path))];
const raw = async (path: string, coding: string) => {
  const response = await server.api(path, { headers: { "accept-encoding": coding }, decompress: false } as RequestInit);
  return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
};

describe("assets", () => {
  test("home loads a stylesheet, an icon and a script, each by its content's hash", () => {
    for (const kind of ["css", "svg", "js", "png"]) {
      expect(assets().some((path) => new RegExp(`^/assets/[\\w-]+\\.[0-9a-f]{12}\\.${kind}$`).test(path))).toBe(true);
    }
  });

  test("WEB 1.6: are kept for a year, nosniff, and their name is their content's", async () => {
    for (const path of assets()) {
      const { headers, bytes } = await raw(path, "identity");
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.has("set-cookie")).toBe(false);
      expect(path).toContain(new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, 12));
    }
  });

  test.each([
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
    ["zstd", zstdDecompressSync],
  ])("are sent in %s where it is asked for", async (coding, decode) => {
    const path = assets().find((one) => one.endsWith(".css"))!;
    const plain = await raw(path, "identity");
    for (const _ of ["made", "kept"]) {
      const { headers, bytes } = await raw(path, coding);
      expect([headers.get("content-encoding"), headers.get("vary")]).toEqual([coding, "Accept-Encoding"]);
      expect(decode(bytes).equals(plain.bytes)).toBe(true);
      expect(bytes.length).toBeLessThan(plain.bytes.length / 2);
    }
  });

  test("another hash, or another character for the dot, is 404", async () => {
    const path = assets().find((one) => one.endsWith(".css"))!;
    for (const other of [path.replace(/\.[0-9a-f]{12}\./, ".000000000000."), path.replaceAll(".", "x")]) {
      expect((await server.api(other)).status).toBe(404);
    }
  });

  test("pages are coded too, and each coding holds the same page", async () => {
    const page = await raw("/llms.txt", "identity");
    expect(page.headers.get("content-encoding")).toBeNull();
    for (const [coding, decode] of [
      ["gzip", gunzipSync],
      ["zstd", zstdDecompressSync],
      ["br", brotliDecompressSync],
      ["br;q=0.5, identity", (bytes: Buffer) => bytes],
    ] as const) {
      const coded = await raw("/", coding);
      expect(coded.headers.get("content-encoding")).toBe(coding.includes("identity") ? null : coding);
      expect(decode(coded.bytes).toString()).toContain("<h1>Drop a folder, get a live URL</h1>");
    }
  });
});

describe("WEB 1.6: files of fixed names", () => {
  test.each([
    ["/robots.txt", "text/plain; charset=utf-8"],
    ["/llms.txt", "text/plain; charset=utf-8"],
    ["/favicon.ico", "image/x-icon"],
    ["/manifest.webmanifest", "application/manifest+json"],
  ])("%s is %s, no-cache, and not sent again by its ETag", async (path, type) => {
    const { status, headers } = await server.api(path);
    expect([status, headers.get("content-type"), headers.get("cache-control")]).toEqual([200, type, "no-cache"]);
    const again = await server.api(path, { headers: { "if-none-match": headers.get("etag")! } });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect((await server.api(path, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
  });

  test("robots.txt keeps robots from what only people do; home and the manual stay open", async () => {
    const lines = (await (await server.api("/robots.txt")).text()).trim().split("\n");
    expect(lines).toEqual([
      "User-agent: *",
      ...["/dashboard", "/claim/", "/device", "/signin", "/signup"].map((path) => `Disallow: ${path}`),
    ]);
  });

  test("llms.txt says what is in force here: address, limits, how long a site stays", async () => {
    const text = await (await server.api("/llms.txt")).text();
    const { max_bytes } = (await (await server.api("/limits")).json()) as { max_bytes: number };
    expect(max_bytes).toBe(10 << 20);
    for (const said of [
      `${server.base_url}/sites`,
      `npx -y --allow-remote=root ${server.base_url}/svc.tgz ./my-site`,
      "123 files, 10 MB unpacked, 5 MB zipped",
      "stays 3 days",
      "Of a site the newest 1,000 versions are kept",
      "manage_token",
      "fix_recipe",
      `${server.base_url}/docs`,
    ]) {
      expect(text).toContain(said);
    }
  });

  test("what a server promises of earlier versions is what it keeps", async () => {
    const saidBy = async (keep: string) => {
      await using at = await startServer({ SVC_KEEP_VERSIONS: keep });
      const [llms, home] = [await at.api("/llms.txt"), await at.api("/", { headers: { accept: "text/html" } })];
      return [
        /(?:Every version|Of a site) [^.,]*/.exec(await llms.text())![0],
        (await home.text()).includes("you can always go back"),
      ];
    };
    expect(await saidBy("off")).toEqual(["Every version is kept", true]);
    expect(await saidBy("1")).toEqual(["Of a site the newest version is kept", false]);
  });

  test("the fields that llms.txt names are those of the answer", async () => {
    const text = await (await server.api("/llms.txt")).text();
    const named = [...text.matchAll(/^- ([a-z_, ]+): /gm)].flatMap(([, names]) => names!.split(", "));
    const site = Object.keys(await server.deploy({ "index.html": "<title>x</title>" }));
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !site.includes(name))).toEqual([]);
  });

  test("the manifest starts at home and has both icons, which are pictures of that size", async () => {
    const manifest = (await (await server.api("/manifest.webmanifest")).json()) as {
      start_url: string;
      icons: { src: string; sizes: string; type: string }[];
    };
    expect(manifest.start_url).toBe("/");
    expect(manifest.icons.map(({ sizes }) => sizes)).toEqual(["192x192", "512x512"]);
    for (const { src, sizes, type } of manifest.icons) {
      const { headers, bytes } = await raw(src, "br");
      expect([headers.get("content-type"), headers.get("content-encoding")]).toEqual([type, null]);
      expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes);
    }
  });
});

describe("WEB 3: the head of home", () => {
  const content = (name: string): string | undefined =>
    new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)"`).exec(home)?.[1];

  test("describes the page and names its address", () => {
    expect(content("description")).toContain("3 days without an account, permanent with one");
    expect(content("og:title")).toBe("svc: Drop a folder, get a live URL");
    expect(content("og:description")).toBe(content("description"));
    expect(home).toContain(`<link rel="canonical" href="${server.base_url}/"`);
    expect(content("og:url")).toBe(`${server.base_url}/`);
    expect(home.match(/<meta name="theme-color"/g)).toHaveLength(2);
    expect(home).toContain('<link rel="manifest" href="/manifest.webmanifest"');
  });

  test("the picture of its link is 1200 × 630, small, and not loaded by the page", async () => {
    const url = content("og:image")!;
    expect(url).toStartWith(`${server.base_url}/assets/`);
    const { bytes } = await raw(new URL(url).pathname, "identity");
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(bytes.length).toBeLessThan(60_000);
    expect(home.split(new URL(url).pathname)).toHaveLength(2);
  });

  test("WEB 3: a terminal's commands, with the address that was asked", () => {
    expect(home).toContain(`npx -y --allow-remote=root ${server.base_url}/svc.tgz ./my-site</code>`);
    expect(home).toContain("svc ./my-site</code>");
    expect(home).toContain(`${server.base_url}/sites</code>`);
  });
});
