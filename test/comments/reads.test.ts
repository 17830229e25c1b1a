/** RELIABILITY A27: whoever reads the fullest page of comments, however often, takes little of the thread that serves everybody. */
import { describe, expect, test } from "bun:test";
import { write } from "../kit/database.ts";
import { cpuSecondsOf, local, startProcess, temporaryFolder } from "../kit/process.ts";
import { type DeployResult, startServer, ZIP } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { zipOf } from "../kit/zip.ts";
import { CommentedSite, commentedSite, FREELY, PAGES, type Visitor } from "./commented.ts";

const BEHIND_PROXY = { ...FREELY, SVC_TRUST_PROXY: "127.0.0.1" };
const server = await sharedServer(BEHIND_PROXY);
const VIEW = "view?page=/guide.html";

/** A page as an earlier release took it: 250 comments of 4,000 quotation marks. */
async function fillWithMarks(data_dir: string, place: CommentedSite): Promise<void> {
  const first = await place.visitor().say("the first");
  const numbers = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 250)";
  const { site_id, version_id } = place.site;
  write(
    data_dir,
    `insert into comments (id, site_id, thread_no, person_id, text, state, was_public, created_at, modified_at, public_no, own_no)
     ${numbers} select 'c_m' || substr(?1, 6) || i, ?1, 0, (select person_id from comments where id = ?2), ?3, 'public', 1,
       '2026-11-24T00:00:00Z', '2026-11-24T00:00:00Z', 50, 50 from n`,
    site_id,
    first,
    '"'.repeat(4000),
  );
  write(
    data_dir,
    `insert into threads (thread_no, site_id, page, version_id, version_created_at, changed_no)
     select comment_no, site_id, '/guide.html', ?2, '2026-11-24T00:00:00Z', 1 from comments where site_id = ?1 and thread_no = 0`,
    site_id,
    version_id,
  );
  write(data_dir, "update comments set thread_no = comment_no where site_id = ? and thread_no = 0", site_id);
  // Rows that are written by hand have no number: a change after them shows them.
  await place.visitor().say("the last");
}

const idsIn = (html: string): string[] => [...html.matchAll(/<article id="(c_\w+)"/g)].map(([, id]) => id!);

describe("A27 view in parts of 50 threads", () => {
  test("A27 each thread is on one part, in the order of writing; a number past the last is the last", async () => {
    const place = await commentedSite(server);
    const said: string[] = [];
    for (let n = 0; n < 120; n++) said.push(await place.visitor().say(`number ${n}`));
    const reader = place.visitor();
    const parts: string[] = [];
    for (const part of ["", "&part=2", "&part=3"]) parts.push((await reader.send(VIEW + part)).text);
    expect(parts.map((html) => idsIn(html).length)).toEqual([50, 50, 20]);
    expect(parts.flatMap(idsIn)).toEqual(said);
    expect(parts[1]).toContain("Part 2 of 3");
    expect(parts[0]).not.toContain("Earlier threads");
    expect(parts[2]).not.toContain("Later threads");
    const next = /<a href="([^"]+)" rel="next"/.exec(parts[1]!)![1]!.replaceAll("&amp;", "&");
    expect(idsIn((await reader.send(next)).text)).toEqual(said.slice(100));
    for (const part of ["4", "last", "999999"]) {
      expect(idsIn((await reader.send(`${VIEW}&part=${part}`)).text)).toEqual(said.slice(100));
    }
    for (const part of ["0", "-1", "x", "1e3", ""]) {
      expect(idsIn((await reader.send(`${VIEW}&part=${part}`)).text)).toEqual(said.slice(0, 50));
    }
  });

  test("A27 a new thread leads to the last part, where it is; a reply back to its own", async () => {
    const place = await commentedSite(server);
    for (let n = 0; n < 50; n++) await place.visitor().say(`number ${n}`);
    const ann = place.visitor();
    const { text } = await ann.send(VIEW);
    expect(text).not.toContain("Part 1");
    const form = (html: string, thread: string) => {
      const found = html.split("<form").find((part) => part.includes(`name="thread" value="${thread}"`))!;
      return Object.fromEntries([...found.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, a, b]) => [a!, b!]));
    };
    server.advance(3_000);
    const post = (fields: Record<string, string>) =>
      ann.send("view", { method: "POST", body: new URLSearchParams(fields), headers: { accept: "text/html" } });
    const posted = await post({ ...form(text, ""), text: "the fifty-first" });
    expect(posted.headers.get("location")).toBe("/_svc/comments/view?page=%2Fguide.html&part=last");
    const last = await ann.send(posted.headers.get("location")!);
    expect([idsIn(last.text).length, last.text.includes("the fifty-first")]).toEqual([1, true]);
    server.advance(3_000);
    const answered = await post({ ...form(last.text, idsIn(last.text)[0]!), text: "an answer" });
    expect(answered.headers.get("location")).toBe("/_svc/comments/view?page=%2Fguide.html&part=2");
    expect((await ann.send(answered.headers.get("location")!)).text).toContain("an answer");
  });

  test("A27 a kept part has a stamp of its own for each who reads it, and shows a visitor's own words to them alone", async () => {
    const place = await commentedSite(server, "approved");
    const stampsOf = (html: string) =>
      new Set([...html.matchAll(/name="stamp" value="([^"]*)"/g)].map(([, one]) => one));
    const [ann, bob] = [place.visitor(), place.visitor()];
    await place.decide(await bob.say("approved"), "approve");
    await ann.say("waits for the owner");
    const first = (await bob.send(VIEW)).text;
    server.advance(1_000);
    const second = (await bob.send(VIEW)).text;
    expect([stampsOf(first).size, stampsOf(second).size]).toEqual([1, 1]);
    expect([...stampsOf(first)]).not.toEqual([...stampsOf(second)]);
    expect(second).not.toContain("\0");
    expect(second).not.toContain("waits for the owner");
    expect((await ann.send(VIEW)).text).toContain("waits for the owner");
    expect((await place.visitor().send(VIEW)).text).not.toContain("waits for the owner");
    server.freeze(place.site);
    expect((await bob.send(VIEW)).text).toContain("Comments are frozen");
  });
});

describe("A27 since", () => {
  test("A27 what changed alone; where that is much, the whole list, and what is gone with either", async () => {
    const place = await commentedSite(server);
    const [ann, reader] = [place.visitor(), place.visitor()];
    const [kept, gone] = [await ann.say("from before"), await ann.say("soon gone")];
    const { cursor } = await reader.threads();
    await ann.send(gone, { method: "DELETE" });
    const small = await ann.say("a small change");
    const idsOf = ({ threads }: { threads: { id: string }[] }) => threads.map(({ id }) => id);
    for (let again = 0; again < 2; again++) {
      const seen = await reader.threads("/guide.html", cursor);
      expect([idsOf(seen), seen.gone]).toEqual([[small], [gone]]);
    }
    const long: string[] = [];
    for (let n = 0; n < 20; n++) long.push(await ann.say(`${n} ${"x".repeat(3900)}`));
    for (let again = 0; again < 2; again++) {
      const seen = await reader.threads("/guide.html", cursor);
      expect([idsOf(seen), seen.gone]).toEqual([[kept, small, ...long], [gone]]);
      expect(await reader.threads("/guide.html", seen.cursor)).toMatchObject({ threads: [], gone: [] });
    }
    const whole = await reader.threads();
    expect([idsOf(whole), whole.gone]).toEqual([[kept, small, ...long], []]);
  });
});

describe("A27 a full page of 250 comments of 4,000 quotation marks", () => {
  /** Processor time of the server, for so many calls, each from another network. */
  async function cost(pid: number, times: number, ask: (address: string) => Promise<unknown>): Promise<number> {
    await ask("10.255.0.1");
    const before = cpuSecondsOf(pid);
    for (let n = 0; n < times; n++) await ask(`10.${n >> 8}.${n & 255}.1`);
    return cpuSecondsOf(pid) - before;
  }

  test("A27 is read at a few times what a file of that size takes, whoever reads it", async () => {
    await using folder = await temporaryFolder();
    const own = await startProcess(["--data-dir", folder.path, "--log", "off"], { env: BEHIND_PROXY });
    const api = (path: string, init: RequestInit = {}) => fetch(local(own) + path, init);
    const site = (slug: string, path = "/", init: RequestInit = {}) =>
      api(path, { ...init, headers: { ...(init.headers as object), host: `${slug}.localhost:${own.port}` } });
    const files = { ...PAGES, "big.html": `<p>${"0123456789".repeat(200_000)}` };
    const made = (await (
      await api("/sites", { method: "POST", headers: ZIP, body: zipOf(files) })
    ).json()) as DeployResult;
    const place = new CommentedSite({ api, site }, made);
    await place.turn("anonymous");
    const [reader, author] = [place.visitor(), place.visitor()];
    await author.say("something of the author's own");
    const { cursor } = await reader.threads();
    await fillWithMarks(folder.path, place);
    const from = (who: Visitor, path: string) => async (address: string) => {
      const { status, text } = await who.send(path, { headers: { "x-forwarded-for": address } });
      expect([status, text.length > 500_000]).toEqual([200, true]);
    };
    const TIMES = 100;
    const file = await cost(own.pid, TIMES, from(reader, "/big.html"));
    const threads = "threads?page=/guide.html";
    // The clock of processor time ticks a hundred times a second.
    const enough = 8 * Math.max(file, 0.05);
    for (const [who, path] of [
      [reader, threads],
      [author, threads],
      [reader, `${threads}&since=${cursor}`],
      [reader, VIEW],
      [author, `${VIEW}&part=3`],
    ] as const) {
      const took = await cost(own.pid, TIMES, from(who, path));
      expect([path, took < enough ? "little" : `${took} s, and the file ${file} s`]).toEqual([path, "little"]);
    }
    await own.end();
  }, 60_000);

  test("A27 one network reads 64 MiB of it in 10 seconds, then 429; others, and small lists, go on", async () => {
    await using own = await startServer(BEHIND_PROXY);
    const place = await commentedSite(own);
    const small = await commentedSite(own);
    await small.visitor().say("a small list");
    await fillWithMarks(own.data_dir, place);
    const reader = place.visitor();
    const readAt = async (address: string, path = "threads?page=/guide.html") =>
      (await reader.send(path, { headers: { "x-forwarded-for": address } })).status;
    const seen: number[] = [];
    for (let n = 0; n < 100 && !seen.includes(429); n++) seen.push(await readAt("2001:db8:5:1::1"));
    expect(seen.at(-1)).toBe(429);
    expect(seen.length).toBeGreaterThan(10);
    const refused = await reader.send(VIEW, { headers: { "x-forwarded-for": "2001:db8:5:2::1" } });
    expect([refused.status, Number(refused.headers.get("retry-after")) <= 10]).toEqual([429, true]);
    expect(await readAt("2001:db8:6:1::1")).toBe(200);
    for (let n = 0; n < 300; n++) {
      const { status } = await small.visitor().send("threads?page=/guide.html", {
        headers: { "x-forwarded-for": "198.51.100.1" },
      });
      expect(status).toBe(200);
    }
    own.advance(11_000);
    expect(await readAt("2001:db8:5:1::1")).toBe(200);
  }, 60_000);
});
