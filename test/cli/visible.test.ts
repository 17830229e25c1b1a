/** RELIABILITY A11, A17: a stranger's text is made harmless in one way, wherever a person reads it. */
import { beforeAll, describe, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../../src/run/log.ts";
import { visibleLine } from "../../src/base/visible.ts";
import { Home } from "../kit/cli.ts";
import { expectLinear } from "../kit/cpu.ts";
import { fakeServer } from "../kit/fake-server.ts";
import { operate } from "../kit/operator.ts";
import { startServer, type TestServer } from "../kit/server.ts";
import { buildZip } from "../kit/zip.ts";

/** No letter has a form with it, so that it stays a character of its own. */
const MARK = "\u033f";

/** What a stranger may write, and how it is shown. */
const ESCAPED: [name: string, written: string, shown: string][] = [
  ["NUL", "\0", "\\u{0}"],
  ["a tab", "\t", "\\u{9}"],
  ["ESC", "\x1b", "\\u{1b}"],
  ["DEL", "\x7f", "\\u{7f}"],
  ["a C1 control", "\x9b", "\\u{9b}"],
  ["a soft hyphen", "\xad", "\\u{ad}"],
  ["a combining joiner", "\u034f", "\\u{34f}"],
  ["an Arabic letter mark", "\u061c", "\\u{61c}"],
  ["a Hangul filler", "\u3164", "\\u{3164}"],
  ["a Mongolian vowel separator", "\u180e", "\\u{180e}"],
  ["a zero-width space", "\u200b", "\\u{200b}"],
  ["a zero-width joiner", "\u200d", "\\u{200d}"],
  ["a left-to-right mark", "\u200e", "\\u{200e}"],
  ["a line separator", "\u2028", "\\u{2028}"],
  ["a paragraph separator", "\u2029", "\\u{2029}"],
  ["a right-to-left override", "\u202e", "\\u{202e}"],
  ["a word joiner", "\u2060", "\\u{2060}"],
  ["an invisible times", "\u2062", "\\u{2062}"],
  ["an isolate", "\u2066", "\\u{2066}"],
  ["a variation selector behind a letter", "\ufe0f", "\\u{fe0f}"],
  ["a byte order mark", "\ufeff", "\\u{feff}"],
  ["an annotation mark", "\ufff9", "\\u{fff9}"],
  ["a musical control", "\u{1d173}", "\\u{1d173}"],
  ["a tag character", "\u{e0041}", "\\u{e0041}"],
  ["the last tag character", "\u{e007f}", "\\u{e007f}"],
  ["a supplementary variation selector", "\u{e0100}", "\\u{e0100}"],
  ["more marks than a letter can bear", MARK.repeat(12), MARK.repeat(8) + "\\u{33f}".repeat(4)],
];

/** What is read as it is. */
const KEPT: [name: string, written: string][] = [
  ["letters with marks", "café Việt z̿"],
  ["letters of many scripts", "日本語 Ελλάδα ไทย हिन्दी"],
  ["letters from right to left", "שלום مرحبا"],
  ["a pointed letter", "ש\u05b8\u05c1לום"],
  ["an emoji with its selector", "\u2764\ufe0f \u26a0\ufe0f 1\ufe0f\u20e3"],
  ["an emoji with a colour of skin, a flag", "👍🏽 🇫🇷"],
  ["a backslash, quotes and brackets", "\\ \" ' <b> $()"],
];

const ALL = [...ESCAPED, ...KEPT.map(([name, text]) => [name, text, text] as const)];
const written = (text: string): string => `a${text}z`;
const everything = ALL.map(([, text]) => written(text));

/** Each place with what a person reads there, all texts of the table in it. */
const PLACES: Record<string, string> = {};

async function onTerminal(): Promise<string> {
  const fake = fakeServer(() => Response.json({ error: everything.join(" | "), code: "x" }, { status: 400 }));
  await using home = await Home.make(fake.url);
  await home.write("", { "dist/index.html": "x" });
  const { err } = await home.run([]);
  await fake.stop();
  return err;
}

async function inListing(server: TestServer): Promise<string> {
  const { slug } = await server.deploy({ "index.html": "x" });
  const body = JSON.stringify({ reason: "x", text: everything.join(" | ") });
  const headers = { "content-type": "application/json" };
  expect((await server.site(slug, "/_svc/report", { method: "POST", body, headers })).status).toBe(202);
  return (await operate(server.data_dir, "reports")).stdout;
}

async function inLog(format: "text" | "json"): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "svc-log-"));
  const file = join(folder, "log");
  const descriptor = openSync(file, "w");
  const log = createLog(format, Date.now, descriptor);
  const rest = { method: "GET", path: "/", status: 404, bytes: 0, ms: 1, address: "::1", code: null, request_id: "r" };
  for (const host of everything) log.access({ ...rest, host });
  log.event("second\nline");
  await log.close();
  closeSync(descriptor);
  const lines = readFileSync(file, "utf8");
  rmSync(folder, { recursive: true });
  return lines;
}

async function inRefusals(server: TestServer): Promise<string> {
  let refusals = "";
  for (const text of everything) {
    const name = Buffer.from(`../${text}`);
    const response = await server.post(buildZip([{ name, flags: 0x800 }]));
    const { error, code } = (await response.json()) as { error: string; code: string };
    expect(code).toBe("unsafe_path");
    refusals += `${error}\n`;
  }
  return refusals;
}

test("a line of the log is one line, and its JSON holds nothing active either", async () => {
  const [text, json] = [await inLog("text"), await inLog("json")];
  expect(text.trimEnd().split("\n")).toHaveLength(everything.length + 1);
  expect(text).toContain("second\\nline");
  const hosts = json
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { host?: string }).host);
  expect(hosts).toEqual([...everything, undefined]);
  for (const [, raw, shown] of ESCAPED) if (raw !== shown) expect(json).not.toContain(written(raw));
});

test.each([
  ["spaces", " "],
  ["line ends", "\n"],
  ["marks", MARK],
  ["selectors and marks by turns", `\ufe0f${MARK}`],
  ["emoji", "\u2764"],
])("a text of many %s is folded and shown in linear time", (_, piece) => {
  expectLinear(400_000, (size) => `${piece.repeat(size)}x`, visibleLine);
});

beforeAll(async () => {
  await using server = await startServer();
  PLACES["a line of the CLI"] = await onTerminal();
  PLACES["an operator's listing"] = await inListing(server);
  PLACES["a line of the log"] = await inLog("text");
  PLACES["a refusal that names a file"] = await inRefusals(server);
}, 30_000);

describe.each(["a line of the CLI", "an operator's listing", "a line of the log", "a refusal that names a file"])(
  "in %s",
  (place) => {
    test.each(ALL)("%s", (_, text, shown) => {
      expect(PLACES[place]).toContain(written(shown));
      if (text !== shown) expect(PLACES[place]).not.toContain(written(text));
    });
  },
);
