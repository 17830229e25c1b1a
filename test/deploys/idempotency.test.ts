/** CONTRACT 4.3: the Idempotency-Key of a first deploy. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { bearer, call, type Person, signUp } from "../kit/people.ts";
import { type DeployResult, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { zipOf } from "../kit/zip.ts";
import { page, records } from "./site-record.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

const server = await sharedServer();

const record = records(() => server);

describe("Idempotency-Key", () => {
  const fresh = () => crypto.randomUUID();
  const send = async (key: string, files: Record<string, string>) => {
    const response = await server.post(zipOf(files), { "idempotency-key": key });
    return { status: response.status, body: (await response.json()) as DeployResult & { code: string } };
  };

  test("the same key and bytes answer with the first site, with fresh tokens that both work", async () => {
    const key = fresh();
    const [first, second] = [await send(key, page("once")), await send(key, page("once"))];
    expect(second.body.site_id).toBe(first.body.site_id);
    expect(second.body.manage_token).not.toBe(first.body.manage_token);
    for (const { body } of [first, second]) expect(await record(body)).toMatchObject({ slug: body.slug });
  });

  test("racing requests under one key make one site", async () => {
    const key = fresh();
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(key, page("race"))));
    expect(new Set(answers.map(({ body }) => body.site_id)).size).toBe(1);
  });

  test("a repeat does not undo a later deploy", async () => {
    const key = fresh();
    const first = await send(key, page("before"));
    await server.redeploy(first.body, page("after"));
    await send(key, page("before"));
    expect(await (await server.site(first.body.slug)).text()).toContain("<p>after");
  });

  test("another body under the same key is 409 idempotency_conflict", async () => {
    const key = fresh();
    await send(key, page("x"));
    expect(await send(key, page("y"))).toMatchObject({ status: 409, body: { code: "idempotency_conflict" } });
  });

  test("after ten minutes the key makes a new site", async () => {
    const key = fresh();
    const first = await send(key, page("later"));
    server.advance(10 * 60_000);
    expect((await send(key, page("later"))).body.site_id).not.toBe(first.body.site_id);
  });

  test("once the site is owned, its key is 409", async () => {
    const key = fresh();
    const { body } = await send(key, page("owned"));
    server.giveAway(body);
    expect(await send(key, page("owned"))).toMatchObject({ status: 409, body: { code: "idempotency_conflict" } });
  });

  test.each([["short"], ["x".repeat(21)], ["x".repeat(256)], ["x".repeat(21) + "\t"]])(
    "a key of %j is 400 invalid_input",
    async (key) => {
      expect(await send(key, page("x"))).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    },
  );
  test.each([[22], [255]])("a key of %i characters is taken", async (length) => {
    expect((await send("k".repeat(length), page("x"))).status).toBe(200);
  });

  test("from another address the same key makes a new site", async () => {
    await using proxied = await startServer("--trust-proxy", "127.0.0.1");
    const key = fresh();
    const from = async (address: string) => {
      const response = await proxied.post(zipOf(page("net")), { "idempotency-key": key, "x-forwarded-for": address });
      return ((await response.json()) as DeployResult).site_id;
    };
    const first = await from("2001:db8:1:2::5");
    expect(await from("2001:db8:1:2:ffff::9")).toBe(first); // the same /64
    expect(await from("2001:db8:1:3::5")).not.toBe(first);
  });
});

describe("Idempotency-Key with a session", () => {
  let ann: Person;
  beforeAll(async () => {
    ann = await signUp(server);
  });
  const fresh = () => crypto.randomUUID();
  const send = async (key: string, files: Record<string, string>, by: { authorization: string } = ann.bearer) => {
    const response = await server.post(zipOf(files), { "idempotency-key": key, ...by });
    return { status: response.status, body: (await response.json()) as DeployResult & { code: string } };
  };
  const sites = async (by: Person) =>
    (await call(server, "GET", "/account/sites", undefined, by.bearer)).body.sites.map(({ site_id }) => site_id);

  test("the same key and bytes answer with the site it made and a fresh manage_token that works", async () => {
    const key = fresh();
    const [first, second] = [await send(key, page("mine")), await send(key, page("mine"))];
    expect(second.body).toMatchObject({ site_id: first.body.site_id, owner_account_id: ann.account_id });
    expect(second.body).not.toHaveProperty("claim_token");
    expect(second.body.manage_token).not.toBe(first.body.manage_token);
    for (const { body } of [first, second]) expect(await record(body)).toMatchObject({ slug: body.slug });
    expect((await sites(ann)).filter((site_id) => site_id === first.body.site_id)).toHaveLength(1);
  });

  test("racing requests under one key make one site", async () => {
    const key = fresh();
    const before = (await sites(ann)).length;
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(key, page("race"))));
    expect(new Set(answers.map(({ body }) => body.site_id)).size).toBe(1);
    expect(await sites(ann)).toHaveLength(before + 1);
  });

  test("it counts for the account: another session of it answers with the same site, another account makes its own", async () => {
    const key = fresh();
    const first = await send(key, page("account"));
    const { body } = await call(server, "POST", "/auth/login", { email: ann.email, password: "correct horse battery" });
    const again = await send(key, page("account"), bearer(body.session_token));
    expect(again.body.site_id).toBe(first.body.site_id);
    const bob = await signUp(server);
    const others = await send(key, page("account"), bob.bearer);
    expect([others.body.site_id === first.body.site_id, await sites(bob)]).toEqual([false, [others.body.site_id]]);
  });

  test("not for the address: without the session the key makes an anonymous site, and the other way round", async () => {
    const key = fresh();
    const mine = await send(key, page("both"));
    const response = await server.post(zipOf(page("both")), { "idempotency-key": key });
    const anonymous = (await response.json()) as DeployResult;
    expect(anonymous.site_id).not.toBe(mine.body.site_id);
    expect(anonymous.claim_token).toStartWith("svc_claim_");
    expect((await send(key, page("both"))).body.site_id).toBe(mine.body.site_id);
  });

  test("from another address it is the same site", async () => {
    await using proxied = await startServer("--trust-proxy", "127.0.0.1");
    const { bearer: session } = await signUp(proxied);
    const key = fresh();
    const from = async (address: string) => {
      const headers = { "idempotency-key": key, "x-forwarded-for": address, ...session };
      return ((await (await proxied.post(zipOf(page("net")), headers)).json()) as DeployResult).site_id;
    };
    expect(await from("203.0.113.9")).toBe(await from("2001:db8:1:2::5"));
  });

  test("another body under the same key is 409, and so is the key of a site that is deleted", async () => {
    const key = fresh();
    const { body } = await send(key, page("x"));
    expect(await send(key, page("y"))).toMatchObject({ status: 409, body: { code: "idempotency_conflict" } });
    await call(server, "DELETE", `/account/sites/${body.site_id}`, undefined, ann.bearer);
    expect(await send(key, page("x"))).toMatchObject({ status: 409, body: { code: "idempotency_conflict" } });
  });

  test("once the site is another account's, its key is 409", async () => {
    const key = fresh();
    const { body } = await send(key, page("given"));
    server.giveAway(body);
    expect(await send(key, page("given"))).toMatchObject({ status: 409, body: { code: "idempotency_conflict" } });
  });

  test("after ten minutes the key makes a new site", async () => {
    const key = fresh();
    const first = await send(key, page("later"));
    server.advance(10 * 60_000);
    expect((await send(key, page("later"))).body.site_id).not.toBe(first.body.site_id);
  });

  test("a malformed key is 400, a session that ended is 401: never a site", async () => {
    expect(await send("short", page("x"))).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    const bob = await signUp(server);
    const key = fresh();
    await send(key, page("ended"), bob.bearer);
    await call(server, "POST", "/auth/logout", {}, bob.bearer);
    expect(await send(key, page("ended"), bob.bearer)).toMatchObject({ status: 401, body: { code: "unauthorized" } });
  });

  /** The whole request goes out; whoever sent it is gone before the answer comes. */
  function sendAndLeave(key: string, body: Uint8Array): Promise<void> {
    const head = [
      "POST /sites HTTP/1.1",
      `Host: localhost:${server.port}`,
      "Content-Type: application/zip",
      `Content-Length: ${body.length}`,
      `Authorization: ${ann.bearer.authorization}`,
      `Idempotency-Key: ${key}`,
    ];
    return new Promise((resolve, reject) => {
      const socket = connect(server.port, "127.0.0.1", () => {
        socket.write(`${head.join("\r\n")}\r\n\r\n`);
        socket.write(body, () => socket.destroy());
      });
      socket.on("error", reject);
      socket.on("close", () => resolve());
    });
  }

  test("a retry after an answer that got lost makes no second site", async () => {
    const key = fresh();
    const before = new Set(await sites(ann));
    await sendAndLeave(key, zipOf(page("lost")));
    await until(async () => (await sites(ann)).length > before.size);
    const retried = await send(key, page("lost"));
    expect(retried.status).toBe(200);
    expect((await sites(ann)).filter((site_id) => !before.has(site_id))).toEqual([retried.body.site_id]);
  });

  test("a retry beside a first try that is still under way makes no second site either", async () => {
    const key = fresh();
    const before = new Set(await sites(ann));
    const [retried] = await Promise.all([send(key, page("beside")), sendAndLeave(key, zipOf(page("beside")))]);
    const again = await send(key, page("beside"));
    expect(again.body.site_id).toBe(retried.body.site_id);
    expect((await sites(ann)).filter((site_id) => !before.has(site_id))).toEqual([retried.body.site_id]);
  });
});
