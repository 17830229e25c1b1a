/** CONTRACT 4.4, SVC_RATE_MODERATION in the dashboard: its forms count as the API's calls do, and say when they are too many. */
import { expect, test } from "bun:test";
import { Commenter, ownerCalls } from "../comments/commenter.ts";
import { startServer } from "../kit/server.ts";
import { visitorOf } from "../kit/visitor.ts";

test("past the limit each form is answered 429 with a sentence, and changes nothing", async () => {
  await using server = await startServer({ SVC_RATE_MODERATION: "3/1m" });
  const ann = await visitorOf(server);
  const site = await ann.deploy({ "index.html": "<!doctype html><title>x</title>x" });
  const send = (action: string, fields: Record<string, string>) =>
    ann.send(`/dashboard/sites/${site.site_id}/comments/${action}`, fields);
  expect((await send("settings", { mode: "anonymous", passcode: "" })).status).toBe(303);
  const id = await new Commenter(server, site).comment("one");
  expect((await send("decide", { resolve: id })).status).toBe(303);
  expect((await send("owner", {})).status).toBe(200);
  const refused = [
    await send("decide", { reopen: id }),
    await send("decide", { delete: id }),
    await send("settings", { mode: "off", passcode: "" }),
    await send("owner", {}),
  ];
  for (const { status, text } of refused) {
    expect([status, text.includes("Too many tries"), text.includes("one")]).toEqual([429, true, true]);
  }
  const own = ownerCalls(server, site, site.manage_token);
  const { threads } = (await (await own("GET", "threads")).json()) as { threads: { id: string; status: string }[] };
  expect(threads).toMatchObject([{ id, status: "resolved" }]);
});
