/** COMMENTS 3 (0) and ruling 14: each change of the live pointer takes the passages of comments along, from the last version
 *  in which they were found; a deploy says whose passage it changed. */
import { describe, expect, test } from "bun:test";
import { bearer } from "../kit/people.ts";
import { type Contents, type DeployResult, JSON_TYPE } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { visitorOf } from "../kit/visitor.ts";
import { FREELY } from "./commented.ts";

const server = await sharedServer(FREELY);

const page = (...paragraphs: string[]): string =>
  `<!doctype html><title>t</title><h1>Guide</h1>${paragraphs.map((text) => `<p>${text}</p>`).join("\n")}`;

const FIRST = "On a normal connection deploys finish in two seconds and return a live URL.";
const SECOND = "Every deploy is kept as a version of its own, and any of them can be made live again.";
const THIRD = "A site without an owner goes after a month, unless somebody claims it before that.";
const GUIDE = page(FIRST, SECOND, THIRD);

interface Carried {
  carried: string | null;
  /** What stands there now. */
  shown: string | null;
}

class Commented {
  constructor(readonly site: DeployResult) {}

  /** On `exact` as it stands in `text`; `null`: on the page. */
  async comment(exact: string | null, text = [FIRST, SECOND, THIRD].join(" "), path = "/guide.html"): Promise<string> {
    const { origin } = new URL(this.site.url);
    const at = exact === null ? -1 : text.indexOf(exact);
    const around = {
      prefix: text.slice(Math.max(0, at - 32), at),
      suffix: text.slice(at + (exact?.length ?? 0)).slice(0, 32),
    };
    const selector = [{ type: "TextQuoteSelector", exact, ...around }];
    const target = { source: origin + path, ...(exact !== null && { selector }) };
    const response = await server.site(this.site.slug, "/_svc/comments/", {
      method: "POST",
      headers: { ...JSON_TYPE, origin },
      body: JSON.stringify({ type: "Annotation", body: { type: "TextualBody", value: `about ${exact}` }, target }),
    });
    if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
    return response.headers.get("location")!.split("/").at(-1)!;
  }

  private async threads(path: string): Promise<{ id: string; anchor: Anchor }[]> {
    const response = await server.site(this.site.slug, `/_svc/comments/threads?page=${encodeURIComponent(path)}`);
    return ((await response.json()) as { threads: { id: string; anchor: Anchor }[] }).threads;
  }
  async seen(id: string, text: string, path = "/guide.html"): Promise<Carried> {
    const { anchor } = (await this.threads(path)).find((thread) => thread.id === id)!;
    const place = anchor.hints?.position;
    return {
      carried: anchor.carried,
      shown: place && anchor.carried !== "lost" ? text.slice(place.start, place.end) : null,
    };
  }
  /** Beside the comment that `id` is, the same on all pages. */
  async state(id: string, path = "/guide.html"): Promise<string | null> {
    return (await this.threads(path)).find((thread) => thread.id === id)!.anchor.carried;
  }
  /** The new version, with what was said of its comments. */
  async redeploy(files: Contents) {
    const result = await server.redeploy(this.site, files);
    const entry = (result.next_actions as Action[]).find(({ action }) => action === "review_comments");
    return { version_id: result.version_id, entry, threads: entry?.threads ?? null };
  }
  resolve(id: string): Promise<Response> {
    const path = `/sites/${this.site.site_id}/comments/${id}/resolve`;
    return server.api(path, {
      method: "POST",
      headers: { ...JSON_TYPE, ...bearer(this.site.manage_token) },
      body: "{}",
    });
  }
}

interface Anchor {
  carried: string | null;
  hints?: { position?: { start: number; end: number; version_id: string } };
}
interface Action {
  action: string;
  description: string;
  command?: string;
  threads?: { id: string; page: string; carried: string; url: string }[];
}

async function commented(files: Contents = { "index.html": GUIDE, "guide.html": GUIDE }): Promise<Commented> {
  const site = await server.deploy(files);
  const response = await server.api(`/sites/${site.site_id}/comments/settings`, {
    method: "PATCH",
    headers: { ...JSON_TYPE, ...bearer(site.manage_token) },
    body: JSON.stringify({ mode: "anonymous" }),
  });
  expect(response.status).toBe(200);
  return new Commented(site);
}

const textOf = (...paragraphs: string[]): string => `Guide ${paragraphs.join(" ")}`;

describe("COMMENTS ruling 14: `carried` is how the passage stands in the live version", () => {
  test("exact on the version that it was written on, and where a deploy moved it", async () => {
    const site = await commented();
    const id = await site.comment("two seconds");
    expect(await site.seen(id, textOf(FIRST, SECOND, THIRD))).toEqual({ carried: "exact", shown: "two seconds" });
    const { entry } = await site.redeploy({
      "guide.html": page("A word before all.", THIRD, FIRST),
      "index.html": GUIDE,
    });
    expect(entry).toBeUndefined();
    const moved = textOf("A word before all.", THIRD, FIRST);
    expect(await site.seen(id, moved)).toEqual({ carried: "exact", shown: "two seconds" });
  });

  test("edited where the passage reads otherwise now", async () => {
    const site = await commented();
    const id = await site.comment("any of them can be made live again");
    const reworded = SECOND.replace("can be made live again", "can always be made live once more");
    const { threads } = await site.redeploy({ "guide.html": page(FIRST, reworded, THIRD) });
    expect(threads).toEqual([
      { id, page: "/guide.html", carried: "edited", url: `${new URL(site.site.url).origin}/guide.html#svc-${id}` },
    ]);
    const seen = await site.seen(id, textOf(FIRST, reworded, THIRD));
    expect(seen).toEqual({ carried: "edited", shown: "any of them can always be made live once more" });
  });

  test("lost where it went, also with its page; the thread stays", async () => {
    const site = await commented();
    const ids = [
      await site.comment("two seconds"),
      await site.comment(SECOND),
      await site.comment("somebody claims it"),
    ];
    const { threads } = await site.redeploy({ "guide.html": page(FIRST, THIRD) });
    expect(threads).toMatchObject([{ id: ids[1]!, carried: "lost" }]);
    expect(await Promise.all(ids.map((id) => site.state(id)))).toEqual(["exact", "lost", "exact"]);
    const gone = await site.redeploy({ "index.html": GUIDE });
    expect(gone.threads!.map(({ id, carried }) => [id, carried])).toEqual([
      [ids[0]!, "lost"],
      [ids[2]!, "lost"],
    ]);
  });

  test("null without a selector", async () => {
    const site = await commented();
    const id = await site.comment(null);
    expect((await site.redeploy({ "guide.html": page(THIRD) })).entry).toBeUndefined();
    expect(await site.state(id)).toBeNull();
  });

  test("a quote that the stored page does not hold is taken, and is lost, until a version holds it", async () => {
    const site = await commented();
    const late = "Words that a script has put here for the reader.";
    const id = await site.comment(late, `${FIRST} ${late} ${SECOND}`);
    expect(await site.state(id)).toBe("lost");
    expect((await site.redeploy({ "guide.html": page(SECOND) })).entry).toBeUndefined();
    await site.redeploy({ "guide.html": page(FIRST, late, SECOND) });
    expect(await site.seen(id, textOf(FIRST, late, SECOND))).toEqual({ carried: "exact", shown: late });
  });

  test("a sibling with two words changed is not taken for a sentence that went (look-alikes)", async () => {
    const sibling = THIRD.replace("month", "year").replace("claims", "renews");
    const files = { "guide.html": page(FIRST, THIRD, sibling, SECOND) };
    const site = await commented(files);
    const id = await site.comment(THIRD, [FIRST, THIRD, sibling].join(" "));
    await site.redeploy({ "guide.html": page(FIRST, sibling, SECOND) });
    expect(await site.state(id)).toBe("lost");
  });
});

describe("COMMENTS ruling 14: each change of the live pointer", () => {
  test("of many that no version held so many are looked for as one deploy has time for, the others with the next", async () => {
    const quotes = Array.from({ length: 150 }, (_, n) => `The passage of number ${n} was written by a script alone.`);
    const filler = "Words of a long page, all alike. ".repeat(12_000);
    const site = await commented({ "guide.html": page(filler) });
    const ids: string[] = [];
    for (const quote of quotes) ids.push(await site.comment(quote, quotes.join(" ")));
    for (const last of ["lost", "exact"]) {
      await site.redeploy({ "guide.html": page(filler, ...quotes), [`${last}.html`]: "" });
      expect([await site.state(ids[0]!), await site.state(ids.at(-1)!)]).toEqual(["exact", last]);
    }
  });

  test("a rollback finds again what a deploy had lost, and another one loses it again", async () => {
    const site = await commented();
    const id = await site.comment(SECOND);
    const { version_id } = await site.redeploy({ "guide.html": page(FIRST, THIRD) });
    expect(await site.state(id)).toBe("lost");
    expect((await server.rollback(site.site, site.site.version_id)).status).toBe(200);
    expect(await site.seen(id, textOf(FIRST, SECOND, THIRD))).toEqual({ carried: "exact", shown: SECOND });
    expect((await server.rollback(site.site, version_id)).status).toBe(200);
    expect(await site.state(id)).toBe("lost");
  });

  test("a rollback by the form of the dashboard does the same", async () => {
    const site = await commented();
    const ann = await visitorOf(server);
    const claim = { claim_token: site.site.claim_token };
    const path = `/sites/${site.site.site_id}/claim`;
    const headers = { ...JSON_TYPE, ...ann.person.bearer };
    await server.api(path, { method: "POST", headers, body: JSON.stringify(claim) });
    const id = await site.comment(SECOND);
    await site.redeploy({ "guide.html": page(FIRST, THIRD) });
    expect(await site.state(id)).toBe("lost");
    const { version_id } = site.site;
    const { location } = await ann.send(`/dashboard/sites/${site.site.site_id}/rollback`, { version_id });
    expect(location).toEndWith("?done=live");
    expect(await site.seen(id, textOf(FIRST, SECOND, THIRD))).toEqual({ carried: "exact", shown: SECOND });
  });

  test("a deploy goes from the last version where the passage was found", async () => {
    const site = await commented();
    const id = await site.comment(SECOND);
    await site.redeploy({ "guide.html": page(FIRST, THIRD) });
    const reworded = SECOND.replace("any of them", "each");
    const { threads } = await site.redeploy({ "guide.html": page("New words.", FIRST, reworded, THIRD) });
    expect(threads).toMatchObject([{ id, carried: "edited" }]);
    const seen = await site.seen(id, textOf("New words.", FIRST, reworded, THIRD));
    expect(seen).toEqual({ carried: "edited", shown: reworded });
  });

  test("what was edited before is no news at the next deploy, and exact again when the words return", async () => {
    const site = await commented();
    const id = await site.comment(FIRST);
    const reworded = FIRST.replace("two seconds", "three seconds");
    expect((await site.redeploy({ "guide.html": page(reworded, SECOND) })).threads).toHaveLength(1);
    expect((await site.redeploy({ "guide.html": page(reworded, THIRD) })).entry).toBeUndefined();
    expect(await site.state(id)).toBe("edited");
    expect((await site.redeploy({ "guide.html": page(FIRST, THIRD) })).entry).toBeUndefined();
    expect(await site.state(id)).toBe("exact");
  });

  test("a version that is live already, deployed again, carries nothing", async () => {
    const site = await commented();
    const id = await site.comment(FIRST);
    expect((await site.redeploy({ "index.html": GUIDE, "guide.html": GUIDE })).entry).toBeUndefined();
    expect(await site.state(id)).toBe("exact");
  });
});

describe("CONTRACT 4.3: `next_actions` of a deploy", () => {
  test("review_comments has what was lost before what was edited, open threads alone, and at most 50", async () => {
    const lines = Array.from({ length: 60 }, (_, n) => `Line ${n} says what only line ${n} of this page can say.`);
    const site = await commented({ "guide.html": page(...lines) });
    const ids: string[] = [];
    for (const line of lines) ids.push(await site.comment(line, lines.join(" ")));
    expect((await site.resolve(ids[0]!)).status).toBe(200);
    const rest = lines.slice(1).map((line, n) => (n % 2 ? line : line.replace("can say", "could ever say")));
    const { entry, threads } = await site.redeploy({ "guide.html": page(...rest.slice(0, -1)) });
    expect(entry!.command).toBe(`svc comments list --site ${site.site.site_id}`);
    expect(threads![0]).toMatchObject({ id: ids.at(-1)!, carried: "lost" });
    expect(threads!.slice(1).every(({ carried }) => carried === "edited")).toBeTrue();
    expect(threads!.map(({ id }) => id)).not.toContain(ids[0]!);
    const all = await site.redeploy({ "index.html": GUIDE });
    expect(all.threads).toHaveLength(50);
    expect(all.entry!.description).toContain("58 comments");
  });

  test("no entry on a site without comments", async () => {
    const site = new Commented(await server.deploy({ "index.html": GUIDE }));
    expect((await site.redeploy({ "index.html": page(FIRST) })).entry).toBeUndefined();
  });
});
