/** RELIABILITY A24: a pattern of `_redirects` and `_headers` costs no visitor more than the letters that it and the path have.
 *  JavaScriptCore's own search compares wherever the sums of the letters agree: "b`" is the sum of "aa", so a literal with it is
 *  compared at each place of a path of `a`, and differs at its end. */
import { describe, expect, test } from "bun:test";
import { firstOf, lastOf } from "../../src/base/search.ts";
import { answer } from "../../src/rules/answer.ts";
import { rulesOf } from "../../src/rules/index.ts";
import { cpuOfAsync, expectWithin, fastest } from "../kit/cpu.ts";
import { startExplained } from "../kit/explained.ts";
import { type AnagramKind, anagrams, EVERY_KIND, KINDS, LONG } from "../kit/anagrams.ts";
import { slugOf, startServer } from "../kit/server.ts";
import { shared } from "../kit/shared.ts";
import { WHOLE } from "../kit/whole.ts";
import { asking, SMALL_SITE } from "./small-site.ts";

const server = shared(await startServer());
const explained = shared(await startExplained());
const ask = asking(explained);
const utf8 = new TextEncoder();

/** Everything that a request of this path asks of the rules. */
function work(files: Record<string, string>): (path: string) => void {
  const bytes = (name: string) => (files[name] === undefined ? null : utf8.encode(files[name]));
  const { redirects, headers } = rulesOf(bytes("_redirects"), bytes("_headers"));
  expect(redirects ?? headers).not.toBeNull();
  return (path) => {
    answer(new Map(), path, { rules: redirects, owned: false, navigates: true });
    headers?.edits(path, "a.localhost");
  };
}

/** A look at each character for each of a hundred patterns. */
function steps(path: string): number {
  let sum = 0;
  for (let pattern = 0; pattern < 100; pattern++) for (let at = 0; at < path.length; at++) sum += path.charCodeAt(at);
  return sum;
}

/** So many of those looks a match may take. By our own search it took 2 to 6 of them, a forced one up to 9; by the machine's 25 and
 *  more, a forced one 56 (2026-11-29). */
const most = ({ kind }: Pick<AnagramKind, "kind">): number => (kind === "a forced redirect" ? 15 : 10);

describe("A24 a match takes steps for each character, whatever the letters are", () => {
  test.each(WHOLE ? EVERY_KIND : KINDS)("$kind, $shape, the anagram at the $end: $letters $length", (row) => {
    const matched = work(anagrams(row));
    const path = `/${row.letters[0].repeat(LONG - 1)}`;
    expectWithin(
      most(row),
      () => steps(path),
      () => matched(path),
    );
  });
});

describe("A24 a visitor of another site feels nothing of it", () => {
  test.each(KINDS)("$kind, the anagram at the $end", async (row) => {
    const [victim, attacker] = [await server.deploy(SMALL_SITE), await server.deploy(anagrams(row))];
    expect(attacker.warnings).toEqual([]);
    const visit = async (): Promise<number> => {
      const start = performance.now();
      expect(await (await server.site(slugOf(victim.url), "/a")).text()).toContain("alpha");
      return performance.now() - start;
    };
    const median = async (): Promise<number> => {
      const took: number[] = [];
      for (let n = 0; n < 21; n++) took.push(await visit());
      return took.toSorted((a, b) => a - b)[10]!;
    };
    const quiet = await median();
    let over = false;
    const attack = async (name: string): Promise<void> => {
      for (let n = 0; !over; n++) {
        const path = `/${"a".repeat(n % 2 === 0 ? 13_000 : LONG - 20)}${name}${n}`;
        await (await server.site(slugOf(attacker.url), path)).arrayBuffer();
      }
    };
    const attacks = ["x", "y"].map(attack);
    const hurt = await median();
    over = true;
    await Promise.all(attacks);
    expect(hurt).toBeLessThan(Math.max(25, 25 * quiet));
  });
});

test.each(KINDS)("A24 an explanation costs no more than its letters: $kind, the anagram at the $end", async (row) => {
  const { site_id, manage_token } = await server.deploy(anagrams(row));
  const explain = async (path: string): Promise<void> => {
    const headers = { authorization: `Bearer ${manage_token}` };
    const asked = await server.api(`/sites/${site_id}/explain?url=${path}`, { headers });
    expect((await asked.json()) as { status: number }).toMatchObject({ status: 404 });
  };
  const least = async (path: string): Promise<number> => {
    const took: number[] = [];
    for (let n = 0; n < 7; n++) took.push(await cpuOfAsync(() => explain(path + n)));
    return Math.min(...took);
  };
  expect(await least(`/${"a".repeat(3900)}`)).toBeLessThan((await least("/x")) + 8);
  expect(await least(`/${"a".repeat(LONG - 5)}`)).toBeLessThan((await least("/x")) + 8);
});

describe("A24 no search goes through a path of more than 2,048 characters", () => {
  const at = (length: number, end = ""): string => `/p/${"x".repeat(length - 3 - end.length)}${end}`;
  const files = {
    ...SMALL_SITE,
    "404.html": "<!doctype html><title>No</title>nothing here",
    _redirects: "/p/:name /a 301\n/p/*.old /a 302\n/q/* /a 303\n",
    _headers: "/p/:name\n  X-Name: 1\n/p/*\n  X-All: 1\n",
  };

  test("one of 2,048 is searched, one of 2,049 is not", async () => {
    const site = await explained.deploy(files);
    expect((await ask(site, at(2048))).status).toBe(301);
    expect((await ask(site, at(2049))).status).toBe(404);
    expect((await ask(site, at(2048, "/x.old"))).status).toBe(302);
    expect((await ask(site, at(2049, "/x.old"))).status).toBe(404);
  });

  test("a pattern that ends in its only * needs no search, and holds for any path: so do headers for all paths", async () => {
    const site = await explained.deploy(files);
    expect((await ask(site, `/q/${"x".repeat(3000)}`)).status).toBe(303);
    const { headers } = await ask(site, at(3000));
    expect([headers.get("x-all"), headers.get("x-name")]).toEqual(["1", null]);
  });

  test("svc explain says so", async () => {
    const site = await explained.deploy(files);
    const query = new URLSearchParams({ url: at(2049) });
    const authorization = `Bearer ${site.manage_token}`;
    const told = (await (
      await explained.api(`/sites/${site.site_id}/explain?${query}`, { headers: { authorization } })
    ).json()) as { steps: { step: string; why: string }[]; header_rules: object[] };
    expect(told.steps.find(({ step }) => step === "rule")!.why).toBe(
      "2 lines with a name or with something behind their * were not tried: the address has more than 2,048 characters.",
    );
    expect(told.header_rules).toEqual([
      {
        path: "_headers:2",
        name: "X-Name",
        value: "1",
        applied: false,
        reason: "A path with a name or with something behind its * is tried on addresses of at most 2,048 characters.",
      },
      { path: "_headers:4", name: "X-All", value: "1", applied: true },
    ]);
  });
});

describe("A24 what a pattern puts in is bounded before it is encoded", () => {
  const splats = (line: string): string => line.repeat(Math.floor((100 * 1024 - 10) / line.length));
  test.each<[what: string, files: Record<string, string>, path: string]>([
    ["ten thousand headers with the whole path", { _headers: `/*\n${splats("A::splat\n")}` }, `/${"é".repeat(2000)}`],
    ["… that is long", { _headers: `/*\n${splats("A::splat\n")}` }, `/${"a".repeat(13_000)}`],
    [
      "a hundred targets with it ten times",
      { _redirects: Array.from({ length: 100 }, (_, n) => `/${"a".repeat(n)}* /x?${":splat".repeat(10)}`).join("\n") },
      `/${"a".repeat(13_000)}`,
    ],
  ])("%s", (_, files, path) => {
    const asked = work(files);
    expect(fastest(10, () => asked(path))).toBeLessThan(8);
  });

  test("no name is half a character", async () => {
    const site = await explained.deploy({ ...SMALL_SITE, _redirects: "/n/:a:b /x?:b 301\n/s/*:b /x?:b 302" });
    for (const path of ["/n/a😀", "/s/a😀"]) {
      expect((await ask(site, path)).headers.get("location")).toBe("/x?%F0%9F%98%80");
    }
  });
});

test("A24 the search finds what indexOf and lastIndexOf find", () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const text = (length: number): string => Array.from({ length }, () => "ab`"[random(3)]).join("");
  for (let n = 0; n < 5000; n++) {
    const [inside, sought] = [text(random(30)), text(1 + random(4))];
    const from = random(inside.length + 1);
    const to = from + random(inside.length + 1 - from);
    const part = inside.slice(from, to);
    const place = (at: number): number => (at === -1 ? -1 : from + at);
    expect(firstOf(sought)(inside, from, to)).toBe(place(part.indexOf(sought)));
    expect(lastOf(sought)(inside, from, to)).toBe(place(part.lastIndexOf(sought)));
  }
});
