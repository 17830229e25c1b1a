/** The abuse tests of COMMENTS 4 about quotes that are costly to look for: other pages are answered meanwhile. */
import { describe, expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import { commentedSite, FREELY } from "./commented.ts";

const server = await sharedServer(FREELY);

describe("(11) quotes that are costly to look for", () => {
  const A = "a".repeat(1200);
  test.each([
    ["1,200 a in 1 MB of a", A],
    ["1,200 a with one b among them", `${A.slice(600)}b${A.slice(601)}`],
    ["words that are nearly everywhere", "aaa aab ".repeat(150)],
  ])("%s: the post is answered, and other pages are meanwhile", async (_, exact) => {
    const bomb = `<p>${"a".repeat(1_000_000)}</p><p>${"aaa aaa ".repeat(60_000)}</p>`;
    const place = await commentedSite(server, "anonymous", { "index.html": "<p>quick</p>", "bomb.html": bomb });
    const ann = place.visitor();
    const target = { source: "/bomb.html", selector: [{ type: "TextQuoteSelector", exact, prefix: "c", suffix: "d" }] };
    const sent = performance.now();
    const posted = ann.send("", { method: "POST", body: ann.annotation("x", target) });
    let slowest = 0;
    let done = false;
    posted.finally(() => (done = true));
    while (!done) {
      const begun = performance.now();
      await place.visitor().send("/");
      slowest = Math.max(slowest, performance.now() - begun);
    }
    expect((await posted).status).toBe(201);
    // Were it looked for in the thread that serves, one page would wait for all of it.
    expect(slowest).toBeLessThan(Math.max(500, (performance.now() - sent) / 2));
  });
});
