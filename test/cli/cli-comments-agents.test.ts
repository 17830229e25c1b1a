/** `svc comments token …` and `svc comments webhook`: what programs are given (CONTRACT 8; COMMENTS 2 and 6). */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { deployed, homeWithSite, json } from "../kit/cli.ts";
import { startServer } from "../kit/server.ts";
import { shared, sharedServer } from "../kit/shared.ts";
import { until } from "../kit/until.ts";
import { commentedSite } from "../comments/agents.ts";
import { startReceiver } from "../webhooks/receiver.ts";

// A test runs the CLI several times, on a machine that may be busy.
setDefaultTimeout(60_000);

const server = await sharedServer();
const home = shared(await homeWithSite(server.base_url));
beforeAll(async () => {
  await deployed(home);
});

const comments = (...args: string[]) => home.run(["comments", ...args]);
const said = async (...args: string[]) => json(await comments(...args, "--json"));

describe("CONTRACT 8: svc comments token", () => {
  test("create prints the token alone on stdout, once; list names it, and never shows it", async () => {
    const { code, out, err } = await comments("token", "create", "--name", "docs-bot", "--scopes", "read,reply");
    expect([code, out]).toEqual([0, expect.stringMatching(/^fau_[\w-]{43}\n$/)]);
    expect(err).toContain("docs-bot: read, reply, until");
    expect(err).not.toContain(out.trim());
    const list = await comments("token", "list");
    expect(list.out).toMatch(/^agent_\w+  docs-bot  read,reply  until \d{4}-\d\d-\d\d  never used\n$/);
    expect(list.out).not.toContain(out.trim());
    expect((await said("token", "list"))["tokens"]).toMatchObject([{ name: "docs-bot", scopes: ["read", "reply"] }]);
  });

  test("--expires-in-days says when it ends; more than the server gives is its refusal", async () => {
    const made = await said("token", "create", "--name", "b", "--scopes", "resolve", "--expires-in-days", "2");
    const days = (Date.parse(String(made["expires_at"])) - Date.now()) / 86_400_000;
    expect([made["ok"], Math.round(days)]).toEqual([true, 2]);
    const args = ["token", "create", "--name", "b", "--scopes", "read", "--expires-in-days", "91"];
    expect(await said(...args)).toMatchObject({ ok: false, code: "invalid_input" });
  });

  test("revoke ends it; one that is none is exit 1", async () => {
    const { token_id } = await said("token", "create", "--name", "c", "--scopes", "see_pending");
    const revoked = await comments("token", "revoke", String(token_id));
    expect([revoked.code, revoked.out]).toEqual([0, ""]);
    expect((await comments("token", "list")).out).not.toContain(String(token_id));
    expect(await said("token", "revoke", String(token_id))).toMatchObject({ ok: false, code: "not_found" });
  });
});

describe("CONTRACT 8: svc comments webhook", () => {
  test("stores the address and prints the signing secret once; off takes it away", async () => {
    const { code, out, err } = await comments("webhook", "https://example.org/hook", "--events", "thread.created");
    expect([code, out]).toEqual([0, expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=\n$/)]);
    expect(err).toContain("These events go to https://example.org/hook: thread.created");
    const { webhook } = await said("status");
    expect(webhook).toMatchObject({ url: "https://example.org/hook", events: ["thread.created"], waiting: 0, lost: 0 });
    expect((await comments("status")).err).toContain("Events go to https://example.org/hook");
    expect(await said("webhook", "off")).toMatchObject({ ok: true, webhook: null });
  });

  test("deliveries lists the last letters, status says what is wrong, and resend sends one again", async () => {
    await using server = await startServer({ SVC_WEBHOOKS: "on", SVC_WEBHOOKS_ALLOW: "127.0.0.0/8" });
    const site = await commentedSite(server);
    const there = startReceiver();
    there.answer = 500;
    try {
      const { site_id, manage_token } = site.site;
      const run = (...args: string[]) =>
        home.run(["comments", ...args, "--site", site_id, "--token", manage_token], {
          env: { DEPLOY_URL: server.base_url },
        });
      await run("webhook", there.url);
      await site.comment("Hello");
      await until(async () => (await run("webhook", "deliveries")).out !== "");
      const id = there.received[0]!.told.id;
      expect((await run("webhook", "deliveries")).out).toMatch(
        new RegExp(`^${id}  thread\\.created  \\S+Z  failed  500  1 try\n$`),
      );
      expect((await run("status")).err).toMatch(/taken no letter since .*: it answered 500\. 1 letter waits\./);
      there.answer = 200;
      const resent = await run("webhook", "resend", id);
      expect([resent.code, resent.err]).toEqual([0, expect.stringContaining(`${id} is sent again`)]);
      await until(() => there.received.length === 2);
      expect(there.received[1]!.told.id).toBe(id);
      expect(json(await run("webhook", "resend", "msg_unknown", "--json"))).toMatchObject({
        ok: false,
        code: "not_found",
      });
      expect((await run("webhook", "resend", "first")).err).toContain("svc comments webhook deliveries");
    } finally {
      there.stop();
    }
  });

  test("an address of a private network is the server's refusal", async () => {
    expect(await said("webhook", "http://10.0.0.1/hook")).toMatchObject({ ok: false, code: "invalid_input" });
  });
});
