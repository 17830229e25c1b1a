/** WEB 8 against what is under way: a session that ends, a password that changes and an account that goes take what was
 *  begun in their name along. */
import { describe, expect, test } from "bun:test";
import { PASSWORD } from "../kit/people.ts";
import { sharedServer } from "../kit/shared.ts";
import { type Seen, seen, type Visitor, visitorOf } from "../kit/visitor.ts";
import { zipOf } from "../kit/zip.ts";

const server = await sharedServer();

const ACCOUNT = "/dashboard/account";
const FRESH = "another horse, another battery";

/** A form with a zip, as far as the middle of its file; `end` sends what is left. */
function begin({ cookie, csrf }: Visitor, path: string): { answer: Promise<Seen>; end(): void } {
  const file = Buffer.from(zipOf({ "index.html": `<!doctype html><title>${path}</title>late` }));
  const field = (name: string, more = "") => `--edge\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const head = `${field("csrf")}${csrf}\r\n${field("key")}${"k".repeat(32)}\r\n${field("zip", '; filename="a.zip"')}`;
  const middle = Promise.withResolvers<void>();
  async function* body() {
    yield Buffer.concat([Buffer.from(head), file.subarray(0, 40)]);
    await middle.promise;
    yield Buffer.concat([file.subarray(40), Buffer.from("\r\n--edge--\r\n")]);
  }
  const headers = {
    cookie,
    host: new URL(server.base_url).host,
    origin: server.base_url,
    accept: "text/html",
    "content-type": "multipart/form-data; boundary=edge",
  };
  const answer = server.api(path, { method: "POST", headers, body: body() as unknown as ReadableStream });
  return { answer: answer.then(seen), end: middle.resolve };
}

const ENDS: [string, (ann: Visitor, elsewhere: Visitor) => Promise<Seen>][] = [
  ["the account is deleted", (ann) => ann.send(`${ACCOUNT}/delete`, { confirm: ann.person.email, password: PASSWORD })],
  [
    "the password is changed elsewhere",
    (_, elsewhere) => elsewhere.send(`${ACCOUNT}/password`, { current_password: PASSWORD, new_password: FRESH }),
  ],
  ["all other sessions are ended elsewhere", (_, elsewhere) => elsewhere.send(`${ACCOUNT}/sessions/end-others`, {})],
  ["it is signed out", (ann) => ann.send("/auth/logout", { next: "/" })],
];

describe.each(ENDS)("WEB 8: an upload is under way, and %s", (_, happens) => {
  test("nothing of it is published, of a new site or of one that was there", async () => {
    const ann = await visitorOf(server);
    const elsewhere = await visitorOf(server, ann.person);
    const site = await ann.deploy({ "index.html": "<title>before</title>" });
    const uploads = [begin(ann, "/"), begin(ann, `/dashboard/sites/${site.site_id}/deploys`)];
    const [sites, versions] = [server.rows("sites"), server.rows("versions")];
    expect((await happens(ann, elsewhere)).status).toBe(303);
    for (const { end } of uploads) end();
    const [home, own] = await Promise.all(uploads.map(({ answer }) => answer));
    expect([home!.status, home!.title.startsWith("Error: ")]).toEqual([401, true]);
    expect(home!.text).toContain("You were signed out, and nothing was published.");
    expect(home!.html).not.toContain("Sign out");
    if ((await server.running.store.sites.byId(site.site_id)) === null) expect(own!.status).toBe(404);
    else {
      const query = new URLSearchParams({ next: `/dashboard/sites/${site.site_id}`, why: "signed-out" });
      expect([own!.status, own!.location]).toEqual([303, `/signin?${query}`]);
    }
    expect(server.rows("sites")).toBeLessThanOrEqual(sites);
    expect(server.rows("versions")).toBeLessThanOrEqual(versions);
  });
});

describe("WEB 8: at once", () => {
  test("the account is deleted once, whoever asks twice; nobody else is touched", async () => {
    const [ann, bob] = [await visitorOf(server), await visitorOf(server)];
    await bob.deploy({ "index.html": "<title>bob</title>" });
    const sent = { confirm: ann.person.email, password: PASSWORD };
    const answers = await Promise.all([1, 2, 3].map(() => ann.send(`${ACCOUNT}/delete`, sent)));
    expect(answers.filter(({ location }) => location === "/?done=account-deleted")).toHaveLength(1);
    for (const { status, location } of answers) {
      expect([303, 401]).toContain(status);
      if (status === 303 && location !== "/?done=account-deleted") expect(location).toStartWith("/signin?");
    }
    expect((await ann.read("/dashboard")).location).toBe("/signin?next=%2Fdashboard");
    expect((await bob.read("/dashboard")).text).toContain("1 site");
  });

  test("a session that ends itself and is ended from elsewhere is ended, and the other one stays", async () => {
    const ann = await visitorOf(server);
    const elsewhere = await visitorOf(server, ann.person);
    const answers = await Promise.all([
      ann.send("/auth/logout", { next: "/" }),
      elsewhere.send(`${ACCOUNT}/sessions/end-others`, {}),
    ]);
    expect(answers[1].location).toBe(`${ACCOUNT}?done=sessions-ended`);
    expect((await ann.read(ACCOUNT)).status).toBe(303);
    expect((await elsewhere.read(ACCOUNT)).status).toBe(200);
  });
});
