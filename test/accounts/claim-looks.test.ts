/** CONTRACT 4.4: whoever holds a claim_token learns which site it is of, and claims nothing by it. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { newToken } from "../../src/base/tokens.ts";
import { bearer, call, signUp } from "../kit/people.ts";
import { type DeployResult, NOBODYS_ID, startServer } from "../kit/server.ts";
import { sharedServer } from "../kit/shared.ts";
import { expired, ownership, page } from "./owned.ts";

setDefaultTimeout(60_000);

const server = await sharedServer();
const ann = await signUp(server, "ann@example.org");
const ben = await signUp(server, "ben@example.org");
const { claim } = ownership(() => server);

type Asked = Pick<DeployResult, "site_id" | "claim_token">;
const look = ({ site_id, claim_token }: Asked, headers: Record<string, string> = {}, at = server) =>
  call(at, "POST", `/sites/${site_id}/claim?look=1`, { claim_token }, headers);

test("a look says address, title, files, size and end, to anybody with the token; the site stays as it is", async () => {
  const index = "<title>Tides &amp; moorings</title>tides";
  const site = await server.deploy({ "index.html": index, "a.txt": "12345" });
  for (const headers of [{}, ann.bearer]) {
    const { status, body } = await look(site, headers);
    expect([status, body as unknown]).toEqual([
      200,
      { url: site.url, title: "Tides & moorings", files: 2, bytes: index.length + 5, expires_at: site.expires_at },
    ]);
  }
  expect((await server.running.store.sites.byId(site.site_id))!.owner_account_id).toBeNull();
  expect((await look(site, bearer("svc_session_none"))).body.code).toBe("unauthorized");
  expect((await claim(site, ann)).status).toBe(200);
});

test("a wrong token, a manage_token, another site's and an unknown site are the claim's one 401", async () => {
  const [site, other] = [await server.deploy(page("looked at")), await server.deploy(page("another"))];
  for (const asked of [
    { ...site, claim_token: newToken("svc_claim_") },
    { ...site, claim_token: site.manage_token },
    { ...site, claim_token: other.claim_token! },
    { ...site, site_id: NOBODYS_ID },
  ]) {
    const { status, body } = await look(asked);
    expect([status, body.error, body.code]).toEqual([401, "Invalid claim", "invalid_claim"]);
  }
  expect((await look({ site_id: site.site_id, claim_token: "" })).body.code).toBe("invalid_input");
});

test("a site that is somebody's is shown to its owner alone; one that is gone is 404", async () => {
  const site = await server.deploy(page("owned"));
  await claim(site, ann);
  expect(await look(site)).toMatchObject({ status: 409, body: { code: "already_owned" } });
  expect(await look(site, ben.bearer)).toMatchObject({ status: 409, body: { code: "already_owned" } });
  expect(await look(site, ann.bearer)).toMatchObject({ status: 200, body: { url: site.url, expires_at: null } });
  await using own = await startServer();
  expect(await look(await expired(own), {}, own)).toMatchObject({ status: 404, body: { code: "unknown_site" } });
});

test("looks count by address in a window of their own, as large as that of claims", async () => {
  await using own = await startServer({ SVC_RATE_CLAIM: "2/1m" });
  const person = await signUp(own);
  const site = await own.deploy(page("counted"));
  expect([await look(site, {}, own), await look(site, {}, own)].map(({ status }) => status)).toEqual([200, 200]);
  expect(await look(site, {}, own)).toMatchObject({ status: 429, body: { code: "rate_limited" } });
  expect((await claim(site, person, own)).status).toBe(200);
});

test("without look=1 a claim asks for a session as ever", async () => {
  const site = await server.deploy(page("no session"));
  for (const query of ["", "?look=0", "?look="]) {
    const path = `/sites/${site.site_id}/claim${query}`;
    const { status, body } = await call(server, "POST", path, { claim_token: site.claim_token });
    expect([status, body.code]).toEqual([401, "unauthorized"]);
  }
});
