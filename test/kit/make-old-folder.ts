/** Makes a folder for test/fixtures/upgrades by the server of a checkout: `bun test/kit/make-old-folder.ts <checkout>`, once before
 *  a new step of the schema lands. What that server does not know yet is left out. */
import { Database } from "bun:sqlite";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { FIXTURES } from "./paths.ts";
import type { OldFacts } from "./old-folders.ts";
import { startProcess, temporaryFolder } from "./process.ts";
import { zipOf } from "./zip.ts";

const [checkout = process.cwd()] = process.argv.slice(2);
await using dir = await temporaryFolder();
const data_dir = join(dir.path, "data");
const server = await startProcess(["--data-dir", data_dir, "--log", "off"], {
  command: [process.execPath, join(checkout, "server.ts")],
  cwd: checkout,
  env: { SVC_WEBHOOKS: "on" },
});

type Credential = Record<string, string>;
type Answer = Record<string, string>;

/** The body of an answer; throws with it where it is a refusal. */
async function ask(method: string, path: string, by: Credential = {}, body?: object, host?: string): Promise<Answer> {
  const zip = body instanceof Uint8Array;
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: {
      "content-type": zip ? "application/zip" : "application/json",
      ...(host !== undefined && { host, origin: `http://${host}` }),
      ...by,
    },
    ...(body !== undefined && { body: zip ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
  const cookie = response.headers.getSetCookie().find((one) => one.startsWith("svc_cmt="));
  return { cookie: cookie?.split(";")[0] ?? "", location: response.headers.get("location") ?? "", ...JSON.parse(text) };
}

/** Null where the server has no such thing. */
async function ifKnown<T>(run: () => Promise<T>): Promise<T | null> {
  return run().catch((error: Error) => {
    process.stderr.write(`left out: ${error.message}\n`);
    return null;
  });
}

const bearer = (token: string): Credential => ({ authorization: `Bearer ${token}` });
const slugOf = ({ url }: Answer): string => new URL(url!).hostname.split(".")[0]!;
const pages = (text: string) =>
  zipOf({
    "index.html": `<!doctype html><title>${text}</title><p>${text}, as it was deployed`,
    "guide/index.html": "<!doctype html><title>Guide</title><p>Deploys finish in two seconds and return a live URL.",
  });

async function twice(whose: string, by: Credential): Promise<OldFacts["sites"][number]> {
  const made = await ask("POST", "/sites", by, pages(`first of ${whose}`));
  const [site_id, manage_token] = [made.site_id!, made.manage_token ?? null];
  const renewing = manage_token === null ? by : bearer(manage_token);
  const again = await ask("POST", `/sites/${site_id}/deploys`, renewing, pages(`second of ${whose}`));
  const versions = { first: made.version_id!, live: again.version_id! };
  return { slug: slugOf(made), site_id, manage_token, ...versions, text: `second of ${whose}` };
}

async function comment(site: OldFacts["sites"][number], by: Credential): Promise<string[]> {
  const host = `${site.slug}.localhost:${server.port}`;
  const post = (value: string, motivation: string, target: string, more: Credential = {}) =>
    ask(
      "POST",
      "/_svc/comments/",
      more,
      { type: "Annotation", motivation, body: { type: "TextualBody", value }, target },
      host,
    );
  await ask("PATCH", `/sites/${site.site_id}/comments/settings`, by, { mode: "anonymous" });
  const texts = ["Is it really two seconds?", "It was, when I looked."] as const;
  const { cookie, location } = await post(texts[0], "commenting", `http://${host}/guide/`);
  await post(texts[1], "replying", `http://${host}${new URL(location!, `http://${host}`).pathname}`, {
    cookie: cookie!,
  });
  await ask("POST", `/sites/${site.site_id}/comments/tokens`, by, { name: "old-bot", scopes: ["read"] });
  return [...texts];
}

async function put(): Promise<Omit<OldFacts, "schema">> {
  const account = { email: "owner@upgrades.example", password: "correct horse battery" };
  const by = bearer((await ask("POST", "/auth/signup", {}, account)).session_token!);
  const sites = [await twice("nobody", {}), { ...(await twice("an owner", by)), owned: true as const }];
  const [, owned] = sites as [unknown, OldFacts["sites"][number]];
  const gone = await ask("POST", "/sites", by, pages("deleted"));
  await ask("DELETE", `/account/sites/${gone.site_id}`, by);
  const webhook = { url: "https://hooks.example/in", secret: "a plain secret of a webhook" };
  const settings = `/sites/${owned.site_id}/comments/settings`;
  return {
    sites,
    account,
    gone: slugOf(gone),
    comments: (await ifKnown(() => comment(owned, by))) ?? [],
    webhook: await ifKnown(async () => {
      await ask("PATCH", settings, by, { webhook: { ...webhook, events: ["thread.resolved"] } });
      return webhook;
    }),
    token: await ifKnown(
      async () => (await ask("POST", "/account/tokens", by, { name: "CI", scopes: ["deploy"] })).name!,
    ),
    preview: await ifKnown(async () => {
      const { url } = await ask("POST", `/sites/${owned.site_id}/previews?name=look`, by, pages("a preview"));
      return { url: url!, text: "a preview" };
    }),
  };
}

const facts = await put();
server.kill("SIGTERM");
await server.exited;
const db = new Database(join(data_dir, "db"));
const { user_version: schema } = db.query<{ user_version: number }, []>("PRAGMA user_version").get()!;
// Else sites, previews and tokens would have expired when the folder is opened.
db.run("update sites set expires_at = 4102444800000 where expires_at is not null");
if (facts.preview !== null) db.run("update previews set expires_at = 4102444800000");
if (facts.token !== null) db.run("update deploy_tokens set expires_at = 4102444800000");
for (const statement of ["PRAGMA journal_mode = DELETE", "VACUUM", "PRAGMA journal_mode = WAL"]) db.run(statement);
db.close();
for (const log of ["db-wal", "db-shm"]) rmSync(join(data_dir, log), { force: true });

const kept = readdirSync(data_dir, { recursive: true, encoding: "utf8" }).filter((path) =>
  /^(?:db|secrets|blobs\/..\/.+)$/.test(path),
);
const files = Object.fromEntries(kept.map((path) => [path, readFileSync(join(data_dir, path)).toString("base64")]));
const packed = Bun.gzipSync(JSON.stringify({ facts: { schema, ...facts }, files }), { level: 9 });
const path = join(FIXTURES, "upgrades", `schema-${String(schema).padStart(2, "0")}.json.gz`);
await Bun.write(path, packed);
process.stdout.write(`${path}: ${packed.length} bytes\n`);
