/** `svc comments token …` and `svc comments webhook`: what programs are given (CONTRACT 8; COMMENTS 2 and 6). */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { deployed, homeWithSite, json } from "../kit/cli.ts";
import { shared, sharedServer } from "../kit/shared.ts";

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
    expect(err).toContain("https://example.org/hook is sent: thread.created");
    const { webhook } = await said("status");
    expect(webhook).toEqual({ url: "https://example.org/hook", events: ["thread.created"] });
    expect((await comments("status")).err).toContain("Events go to https://example.org/hook");
    expect(await said("webhook", "off")).toMatchObject({ ok: true, webhook: null });
  });

  test("an address of a private network is the server's refusal", async () => {
    expect(await said("webhook", "http://10.0.0.1/hook")).toMatchObject({ ok: false, code: "invalid_input" });
  });
});
