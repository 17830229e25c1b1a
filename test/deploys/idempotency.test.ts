/** CONTRACT 4.3: the Idempotency-Key of a first deploy. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";
import { page, records } from "./site-record.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());

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
