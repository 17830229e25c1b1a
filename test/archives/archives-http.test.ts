/** RELIABILITY 3 over HTTP: the same archives through a whole server, and the rows that only a server can show. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cpuOfAsync } from "../kit/cpu.ts";
import { noise } from "./archive-fuzz.ts";
import { accept } from "../kit/ingesting.ts";
import { FIXTURES } from "../kit/paths.ts";
import { type DeployResult } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { boasters, consistentBoasters, countless, liar, quotedOverlap, sharedEntry, zeros } from "./zip-bombs.ts";
import { buildZip, type Member, zipOf } from "../kit/zip.ts";

const server = await sharedServer();

type Zip = Uint8Array<ArrayBuffer>;
const PAGE: Member = { name: "index.html", data: "<title>Page</title>" };
const withEntry = (entry: Partial<Member>): Zip => buildZip([PAGE, { name: "x", data: "some text", ...entry }]);

interface ErrorBody {
  error: string;
  code: string;
  request_id: string;
  [detail: string]: unknown;
}

describe("a refused archive", () => {
  const stored = () =>
    readdirSync(server.data_dir, { recursive: true }).filter((name) => /[0-9a-f]{64}/.test(String(name)));
  test.each<[id: string, what: string, zip: () => Zip, status: number, code: string]>([
    ["Z1", "an empty body", () => new Uint8Array(), 400, "invalid_zip"],
    ["Z2", "HTML", () => new Uint8Array(Buffer.from("<p>html</p>".repeat(30))), 400, "invalid_zip"],
    ["Z5", "a zip without its last byte", () => zipOf({ "index.html": "x" }).slice(0, -1), 400, "invalid_zip"],
    ["Z6", "an end record alone", () => buildZip([]), 400, "empty_deploy"],
    ["Z9", "11 MiB of zeros", zeros, 413, "deploy_too_large"],
    ["Z10", "50 MB said to be 100 bytes", liar, 400, "invalid_zip"],
    ["Z13", "199 times 40 MiB in the directory", boasters, 400, "invalid_zip"],
    ["Z13", "199 times 40 MiB everywhere", consistentBoasters, 413, "deploy_too_large"],
    ["Z14", "100 records of one entry", sharedEntry, 400, "invalid_zip"],
    ["Z15", "quoted overlap", quotedOverlap, 400, "invalid_zip"],
    ["Z19", "2^32 - 1 entries", () => countless(), 400, "invalid_zip"],
    ["Z26", "a wrong CRC-32", () => withEntry({ local: { crc: 1 }, central: { crc: 1 } }), 400, "invalid_zip"],
    ["Z31", "encryption", () => withEntry({ flags: 1 }), 400, "unsupported_zip"],
    ["Z32", "LZMA", () => withEntry({ method: 14 }), 400, "unsupported_zip"],
    ["Z54", "a duplicate", () => withEntry({ name: "index.html" }), 400, "invalid_zip"],
    ["Z57", "an absolute path", () => withEntry({ name: "/etc/passwd" }), 400, "unsafe_path"],
    ["Z58", "a climbing path", () => withEntry({ name: "../x" }), 400, "unsafe_path"],
    ["Z62", "a header in a name", () => withEntry({ name: "a\r\nSet-Cookie: x=y" }), 400, "unsafe_path"],
    ["Z68", "a symlink", () => withEntry({ mode: 0o120777 }), 400, "unsafe_path"],
    [
      "Z70",
      "201 files",
      () => buildZip(Array.from({ length: 201 }, (_, at) => ({ name: `${at}` }))),
      413,
      "too_many_files",
    ],
    ["Z79", "5 MiB of random bytes", () => noise(5 << 20, 9), 400, "invalid_zip"],
  ])("%s: %s is answered with its code in time, and nothing of it is stored", async (_id, _what, zip, status, code) => {
    const before = stored();
    const sent = zip();
    let response!: Response;
    // Ten times P10's 2 s: this is to find what hangs, on a slow machine too.
    expect(await cpuOfAsync(async () => (response = await server.post(sent)))).toBeLessThan(20_000);
    const body = (await response.json()) as ErrorBody;
    expect([response.status, body.code]).toEqual([status, code]);
    expect(body.request_id).toBe(response.headers.get("x-request-id")!);
    expect(body.error).toMatch(/^[^\x00-\x1f]+\.$/);
    expect(response.headers.has("set-cookie")).toBe(false);
    expect(stored()).toEqual(before);
  });

  test("what is stored is seen by the rows above", async () => {
    const before = stored();
    await server.deploy({ "index.html": "stored once" });
    expect(stored().length).toBe(before.length + 1);
  });

  test("Z70: past a limit the answer has limit, actual, the largest files and who can raise it", async () => {
    const response = await server.post(zeros());
    expect((await response.json()) as ErrorBody).toMatchObject({
      limit: 10_485_760,
      actual: 11_534_336,
      largest: [{ path: "z", bytes: 11_534_336 }],
      next_actions: [{ action: "raise_limit" }],
    });
  });
});

describe("Z71: the length of the zip", () => {
  const zipOfLength = (length: number): Zip => {
    const frame = buildZip([{ name: "big.bin", method: 0 }]).length;
    return buildZip([{ name: "big.bin", method: 0, data: noise(length - frame, 2) }]);
  };
  test("5,242,880 bytes are accepted", async () => {
    expect((await server.post(zipOfLength(5_242_880))).status).toBe(200);
  });
  test("one byte more is 413 zip_too_large by its Content-Length", async () => {
    const response = await server.post(zipOfLength(5_242_881));
    expect(response.status).toBe(413);
    expect((await response.json()) as ErrorBody).toMatchObject({
      code: "zip_too_large",
      limit: 5_242_880,
      actual: 5_242_881,
      next_actions: [{ action: "raise_limit", command: "svc-server --max-zip-bytes 5242881" }],
    });
  });
  const chunked = (zip: Zip): RequestInit => {
    let at = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(zip.subarray(at, (at += 65_536)));
        if (at >= zip.length) controller.close();
      },
    });
    return { method: "POST", body, headers: { "content-type": "application/zip" } };
  };
  test("one byte more without Content-Length is 413 zip_too_large too, while reading", async () => {
    const response = await server.api("/sites", chunked(zipOfLength(5_242_881)));
    expect(response.status).toBe(413);
    expect((await response.json()) as ErrorBody).toMatchObject({
      code: "zip_too_large",
      limit: 5_242_880,
      next_actions: [{ action: "raise_limit", description: expect.stringContaining("--max-zip-bytes") }],
    });
  });
  test("an honest zip without Content-Length is accepted", async () => {
    expect((await server.api("/sites", chunked(zipOf({ "index.html": "x" })))).status).toBe(200);
  });
});

describe("Z72: the type of the body", () => {
  const zip = zipOf({ "index.html": "x" });
  test.each<[type: string | null, encoding: string | null, status: number]>([
    [null, null, 415],
    ["application/zip; x=y", null, 200],
    ["APPLICATION/ZIP", null, 200],
    ["application/x-zip-compressed", null, 200],
    ["application/octet-stream", null, 200],
    ["multipart/form-data; boundary=x", null, 415],
    ["text/plain", null, 415],
    ["application/zip", "gzip", 415],
  ])("%s with Content-Encoding %s is %i", async (type, encoding, status) => {
    const headers = { ...(type && { "content-type": type }), ...(encoding && { "content-encoding": encoding }) };
    const response = await server.api("/sites", { method: "POST", body: zip, headers });
    expect(response.status).toBe(status);
    if (status === 415) expect(((await response.json()) as ErrorBody).code).toBe("unsupported_media_type");
  });
});

describe("Z77: one version_id for one content", () => {
  const folder = join(FIXTURES, "archives");
  const same = readdirSync(folder).filter((name) => name.endsWith(".zip") && name !== "jar.zip");
  test("archives of all programs are one version, which a client can compute before it uploads", async () => {
    const computed = accept(readFileSync(join(folder, "zip.zip"))).version_id;
    const site = await server.deploy({ "first.txt": "x" });
    const answers: DeployResult[] = [];
    for (const name of same) {
      const response = await server.api(`/sites/${site.site_id}/deploys`, {
        method: "POST",
        body: readFileSync(join(folder, name)),
        headers: { "content-type": "application/zip", authorization: `Bearer ${site.manage_token}` },
      });
      answers.push((await response.json()) as DeployResult);
    }
    expect(answers.map(({ version_id }) => version_id)).toEqual(same.map(() => computed));
    const { versions } = (await (
      await server.api(`/sites/${site.site_id}`, { headers: { authorization: `Bearer ${site.manage_token}` } })
    ).json()) as { versions: unknown[] };
    expect(versions).toHaveLength(2);
    expect(await (await server.site(site.slug, "/caf%C3%A9.txt")).text()).toBe("Ein Kaffee\n");
  });
});

test("the server lives on after all of it", async () => {
  expect((await server.api("/healthz")).status).toBe(200);
});
