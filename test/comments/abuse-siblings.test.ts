/** COMMENTS 4, abuse test 1, the server's half: a sibling site is same-site, so that its requests bring the visitor's and the
 *  owner's cookies along. Not one of them writes. */
import { describe, expect, test } from "bun:test";
import { sharedServer } from "../kit/shared.ts";
import { type CommentedSite, commentedSite, FREELY, PASSCODE, type Visitor } from "./commented.ts";

const server = await sharedServer(FREELY);

const TYPES = ["application/json", "application/ld+json", "text/plain", "application/x-www-form-urlencoded"];

/** What a browser says of a page of a sibling, or leaves out. */
const SENDERS = (sibling: string): Record<string, string>[] => [
  { "sec-fetch-site": "same-site", origin: sibling },
  { "sec-fetch-site": "same-site" },
  { origin: sibling },
  { origin: "null" },
  { origin: "" },
];

interface Target {
  place: CommentedSite;
  /** With the cookies of a visitor who wrote, of the passcode, and of the owner. */
  victim: Visitor;
  id: string;
}

async function target(): Promise<Target> {
  const place = await commentedSite(server, "passcode");
  const victim = await place.owner();
  const visitor = place.visitor();
  await visitor.send("passcode", { method: "POST", body: { passcode: PASSCODE } });
  const id = await visitor.say("mine");
  for (const [name, value] of visitor.cookies) victim.cookies.set(name, value);
  return { place, victim, id };
}

const writes = (id: string): [method: string, path: string][] => [
  ["POST", ""],
  ["PUT", id],
  ["DELETE", id],
  ["PATCH", "me"],
  ["DELETE", "me"],
  ["POST", "passcode"],
  ["POST", "owner"],
  ["POST", "view"],
  ...["approve", "reject", "resolve", "reopen"].map((action): [string, string] => ["POST", `${id}/${action}`]),
];

describe("(1) a write that a sibling's page sends with the cookies", () => {
  test("is 403 cross_origin on every route, of every content type, and changes nothing", async () => {
    const { place, victim, id } = await target();
    const sibling = await commentedSite(server);
    const before = (await victim.send("threads?page=/guide.html")).text;
    const { body } = await place.api("owner-code", { method: "POST", body: {} });
    const annotation = victim.annotation("forged", `${place.origin}/guide.html`);
    const sent = JSON.stringify({ ...annotation, name: "forged", passcode: PASSCODE, code: body.code });
    for (const [method, path] of writes(id)) {
      for (const type of TYPES) {
        for (const sender of SENDERS(sibling.origin)) {
          const headers = { ...sender, "content-type": type, "if-match": "*" };
          const refused = await victim.send(path, { method, body: sent, headers });
          const said = [refused.status, refused.body?.code, refused.headers.getSetCookie()];
          expect([method, path, type, sender, ...said]).toEqual([method, path, type, sender, 403, "cross_origin", []]);
        }
      }
    }
    expect((await victim.send("threads?page=/guide.html")).text).toBe(before);
    // The same from the site's own page: the cookies and the code were good.
    expect((await victim.send(`${id}/resolve`, { method: "POST" })).status).toBe(200);
    expect((await victim.send("owner", { method: "POST", body: { code: body.code } })).status).toBe(204);
  });

  test("from the site's own page it is JSON or nothing: 415 for what a form can send", async () => {
    const { place, victim } = await target();
    const sent = JSON.stringify(victim.annotation("forged", `${place.origin}/guide.html`));
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const refused = await victim.send("", { method: "POST", body: sent, headers: { "content-type": type } });
      expect([type, refused.status, refused.body.code]).toEqual([type, 415, "unsupported_media_type"]);
    }
    expect(await victim.texts()).toEqual(["mine"]);
  });
});
