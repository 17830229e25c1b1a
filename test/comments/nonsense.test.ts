/** Abuse 10: whatever a member of a body, a query or a header holds, it is taken, or refused with a code of its own. */
import { expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import { commentedSite, FREELY, type Json, type Visitor } from "./commented.ts";

const server = await sharedServer(FREELY);

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  "",
  " ",
  "\0",
  "\ud800",
  "\u202e",
  "x".repeat(5000),
  "/",
  "//",
  "/%",
  "/%00",
  "/%ff",
  "/..",
  "http:",
  "http://[",
  "javascript:x",
  "urn:x",
  "c_",
  [],
  [[]],
  [null],
  {},
  { __proto__: null },
  { id: {} },
  { value: {} },
  { source: [] },
  { length: -1 },
  { toString: 1 },
  ["a", "b"],
];

/** Each member of `sent`, however deep, in the place of which something odd stands. */
function* mutants(sent: Json): Generator<Json> {
  if (typeof sent !== "object" || sent === null) return;
  for (const name of Object.keys(sent)) {
    for (const odd of ODD) yield Object.assign(Array.isArray(sent) ? [...sent] : { ...sent }, { [name]: odd });
    for (const inner of mutants(sent[name]))
      yield Object.assign(Array.isArray(sent) ? [...sent] : { ...sent }, { [name]: inner });
  }
}

const CODED = /^(?:2\d\d|304) |^4\d\d [a-z_]+$/;

async function said(who: Visitor, method: string, path: string, body?: unknown, headers = {}): Promise<string> {
  const answer = await who.send(path, { method, headers, ...(body !== undefined && { body }) });
  return `${answer.status} ${answer.body?.code ?? ""}`;
}

async function expectCoded(asked: AsyncIterable<[what: unknown, said: string]>): Promise<void> {
  const wrong: unknown[] = [];
  for await (const [what, answer] of asked) if (!CODED.test(answer)) wrong.push([what, answer]);
  expect(wrong).toEqual([]);
}

test("members of bodies: posts, edits, names, passcodes, codes, reports, decisions, settings, tokens", async () => {
  const place = await commentedSite(server);
  const [ann, owner] = [place.visitor(), await place.owner()];
  const id = await ann.say("x");
  const selector = [
    { type: "TextQuoteSelector", exact: "two seconds", prefix: "in ", suffix: " and" },
    { type: "CssSelector", value: "#x" },
  ];
  const annotation = {
    "@context": "x",
    type: "Annotation",
    motivation: "commenting",
    canonical: "urn:uuid:1",
    body: { type: "TextualBody", value: "words", format: "text/plain" },
    target: { source: "/guide.html", selector },
  };
  const ROWS: [who: Visitor, method: string, path: string, body: object][] = [
    [ann, "POST", "", annotation],
    [ann, "POST", "", { ...annotation, target: `${place.origin}/_svc/comments/${id}`, motivation: "replying" }],
    [ann, "PUT", id, annotation],
    [ann, "PATCH", "me", { name: "Ann" }],
    [ann, "POST", "passcode", { passcode: "x" }],
    [ann, "POST", "owner", { code: "x" }],
    [ann, "POST", `${id}/report`, { reason: "spam", text: "x" }],
    [owner, "POST", `${id}/resolve`, { note: "x" }],
  ];
  async function* sent(): AsyncGenerator<[unknown, string]> {
    for (const [who, method, path, body] of ROWS) {
      for (const mutant of mutants(body)) {
        yield [[method, path, mutant], await said(who, method, path, mutant, { "if-match": "*" })];
      }
    }
    const webhook = { url: "https://hooks.example/x", events: ["thread.created"], secret: "x".repeat(20) };
    const API: [method: string, path: string, body: object][] = [
      ["PATCH", "settings", { mode: "anonymous", webhook }],
      ["POST", "tokens", { name: "bot", scopes: ["read"], expires_in_days: 9 }],
      ["POST", `${id}/reopen`, { note: "x" }],
    ];
    for (const [method, path, body] of API) {
      for (const mutant of mutants(body)) {
        const answer = await place.api(path, { method, body: mutant });
        yield [[method, path, mutant], `${answer.status} ${answer.body?.code ?? ""}`];
      }
    }
  }
  await expectCoded(sent());
}, 120_000);

test("queries and headers", async () => {
  const place = await commentedSite(server);
  const [ann, owner] = [place.visitor(), await place.owner()];
  const id = await ann.say("x");
  const words = ODD.filter((odd): odd is string => typeof odd === "string" && odd.isWellFormed());
  const QUERIES = [
    "threads?page=",
    "threads?page=/guide&since=",
    "view?page=",
    "feed.json?source=",
    "feed.json?page=",
    "feed.json?iris=",
  ];
  const NAMES = ["if-none-match", "if-match", "accept", "prefer", "cookie", "origin", "content-type", "sec-fetch-site"];
  const plain = words
    .map((word) => word.replace(/[^\x20-\x7e]/g, "?"))
    .concat('"', '""', 'W/"', '"a1"x', ";", "=", ";;;=;");
  async function* asked(): AsyncGenerator<[unknown, string]> {
    for (const query of QUERIES) {
      for (const word of words) yield [query + word, await said(ann, "GET", query + encodeURIComponent(word))];
    }
    for (const name of ["queue?state=", "queue?cursor="]) {
      for (const word of words) yield [name + word, await said(owner, "GET", name + encodeURIComponent(word))];
    }
    for (const name of NAMES) {
      for (const value of plain) {
        for (const [method, path] of [
          ["GET", "threads?page=/guide"],
          ["GET", id],
          ["GET", "feed.json"],
          ["GET", ""],
          ["DELETE", "c_none"],
        ]) {
          yield [[method, path, name, value], await said(ann, method!, path!, undefined, { [name]: value })];
        }
      }
    }
  }
  await expectCoded(asked());
}, 120_000);
