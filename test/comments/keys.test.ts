/** COMMENTS 4: the keys of cookies turn while the server runs, however long it does, and in every process of it. */
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { startServer, type TestServer } from "../kit/server.ts";
import { until } from "../kit/until.ts";
import { commentedSite, FREELY, type Visitor } from "./commented.ts";

const DAY = 86_400_000;
const secretsOf = ({ data_dir }: TestServer) =>
  JSON.parse(readFileSync(join(data_dir, "secrets"), "utf8")) as Record<string, string>;
const kidsOf = (server: TestServer, ring = "comment_visitor") =>
  Object.keys(secretsOf(server)).filter((name) => name.startsWith(`${ring}.`));
const kidOf = (visitor: Visitor) => visitor.value("svc_cmt").split(".")[1];

test("the sweep makes a new key after 90 days, which signs a minute later, and drops one that nothing signed counts of; no start is needed", async () => {
  await using server = await startServer({ ...FREELY, SVC_GC_INTERVAL: "1s" });
  const place = await commentedSite(server);
  server.giveAway(place.site);
  const ann = place.visitor();
  await ann.say("by the first key");
  const { id } = (await ann.send("me")).body;
  const [first, kid] = [ann.value("svc_cmt"), kidOf(ann)];
  const secrets = secretsOf(server);
  server.advance(91 * DAY);
  for (const ring of ["comment_visitor", "comment_grant"]) await until(() => kidsOf(server, ring).length === 2);
  const [bob, carl] = [place.visitor(), place.visitor()];
  await bob.say("by the first key, as long as another server may not know the second");
  expect(kidOf(bob)).toBe(kid);
  server.advance(60_001);
  await carl.say("by the second key");
  expect(kidOf(carl)).not.toBe(kid);
  expect((await ann.send("me", { headers: { cookie: `svc_cmt=${first}` } })).body.id).toBe(id);
  // The keys of all else are as they were.
  expect(secretsOf(server)).toMatchObject(secrets);
  server.advance(400 * DAY);
  await until(() => !kidsOf(server).includes(`comment_visitor.${kid}`));
  expect((await place.visitor().send("me", { headers: { cookie: `svc_cmt=${first}` } })).status).toBe(401);
});

test("a key that another process made counts as soon as a cookie names it, and a damaged file ends no identity", async () => {
  await using server = await startServer(FREELY);
  const place = await commentedSite(server);
  const ann = place.visitor();
  await ann.say("x");
  const { id } = (await ann.send("me")).body;
  const path = join(server.data_dir, "secrets");
  const payload = ann.value("svc_cmt").split(".")[2]!;
  const [kid, key] = ["zzz", "k".repeat(43)];
  const mac = createHmac("sha256", key).update(`svc_cmt\0v1\0${kid}${payload}`).digest("base64url");
  const cookie = `svc_cmt=v1.${kid}.${payload}.${mac}`;
  expect((await place.visitor().send("me", { headers: { cookie } })).status).toBe(401);
  writeFileSync(path, JSON.stringify({ ...secretsOf(server), [`comment_visitor.${kid}`]: key }));
  server.advance(1001);
  expect((await place.visitor().send("me", { headers: { cookie } })).body.id).toBe(id);
  writeFileSync(path, "{");
  server.advance(11 * 60_000);
  expect((await place.visitor().send("me", { headers: { cookie } })).body.id).toBe(id);
  expect((await place.visitor().post("y")).status).toBe(201);
});
