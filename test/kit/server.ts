/** A whole server in the test's own process: real HTTP on a free port, a temporary data directory, a clock that moves. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig } from "../../src/config/index.ts";
import { type Service, startService } from "../../src/server/service.ts";
import { haveChildrenOf } from "../../src/run/program.ts";
import { hashToken, newToken } from "../../src/base/tokens.ts";
import type { Healed, Warning } from "../../src/base/types.ts";
import type { StoreAddress } from "../../src/store/index.ts";
import { count, write } from "./database.ts";
import { databases } from "./database-server.ts";
import { removeFolder } from "./process.ts";
import { zipOf } from "./zip.ts";

export type Contents = Record<string, string | Uint8Array> | Map<string, string | Uint8Array>;

export interface DeployResult {
  url: string;
  site_id: string;
  slug: string;
  version_id: string;
  expires_at: number | null;
  manage_token: string;
  claim_token?: string;
  claim_url?: string;
  next_actions: { action: string }[];
  healed: Healed[];
  warnings: Warning[];
}

type Site = Pick<DeployResult, "site_id">;

/** A flag, or variables for what has none. */
export type Setting = string | Readonly<Record<string, string>>;

/** All tests come from one address, and a developer's disk may be nearly full; those of the limits set them. */
export const UNLIMITED = {
  SVC_RATE_DEPLOY: "off",
  SVC_RATE_REDEPLOY: "off",
  SVC_RATE_OWNED: "off",
  SVC_DISK_HIGH: "off",
  SVC_RATE_SIGN_IN: "off",
  SVC_RATE_SIGN_IN_ACCOUNT: "off",
  SVC_RATE_SIGN_IN_NAME: "off",
  SVC_RATE_DEVICE_CODE: "off",
  SVC_RATE_CLAIM: "off",
  SVC_RATE_BULK_ATTACH: "off",
  SVC_RATE_REPORT: "off",
  SVC_RATE_ACCESS: "off",
  SVC_RATE_DOMAIN: "off",
};

export const ZIP = { "content-type": "application/zip" };
export const JSON_TYPE = { "content-type": "application/json" };
/** Well formed, and never given to a site. */
export const NOBODYS_ID = `site_${"z".repeat(20)}`;

/** The slug in a site's URL. */
export const slugOf = (url: unknown): string => new URL(String(url).trim()).hostname.split(".")[0]!;

export class TestServer {
  /** Milliseconds that the server's clock is ahead of the real one. */
  private ahead = 0;
  constructor(
    readonly data_dir: string,
    private service: Service | null = null,
  ) {}

  /** The moment at which its clock is stopped. Null means that it runs. */
  private stands_at: number | null = null;

  readonly now = (): number => this.stands_at ?? Date.now() + this.ahead;
  advance(ms: number): void {
    this.ahead += ms;
  }
  /** Stops its clock at this moment (epoch milliseconds), for answers that depend on the millisecond. Null lets it run. */
  standAt(moment: number | null): void {
    this.stands_at = moment;
  }

  get running(): Service {
    if (!this.service) throw new Error("the test server is not running");
    return this.service;
  }
  get base_url(): string {
    return this.running.config.base_url;
  }
  /** The address of its store. */
  get address(): StoreAddress {
    return databases.addressOf(this.data_dir);
  }
  get port(): number {
    return this.running.config.port;
  }

  async start(settings: readonly Setting[]): Promise<void> {
    const flags = settings.filter((setting) => typeof setting === "string");
    const env = Object.assign({ ...UNLIMITED }, ...settings.filter((setting) => typeof setting === "object"));
    const config = readConfig(["--port", "0", "--log", "off", "--data-dir", this.data_dir, ...flags], env);
    haveChildrenOf(process.env["SVC_TEST_SERVER"] || null);
    const database_url = await databases.give(this.data_dir);
    const bucket = databases.bucketOf(this.data_dir);
    const shared = database_url ? { database_url, stale_ms: config.stale, ...(bucket && { bucket }) } : null;
    this.service = await startService({ ...config, shared }, { now: this.now, goodbye_ms: 0 });
  }

  /** A request by address, whatever certificate the server has. */
  reach(path: string, init: RequestInit = {}): Promise<Response> {
    const config = this.service?.config;
    const scheme = config?.tls_cert || config?.acme ? "https" : "http";
    const tls = { rejectUnauthorized: false };
    return fetch(`${scheme}://127.0.0.1:${this.port}${path}`, { redirect: "manual", ...init, tls } as RequestInit);
  }
  /** The API, by the name that clients use. */
  api(path: string, init: RequestInit = {}): Promise<Response> {
    return this.reach(path, init);
  }
  /** A site, by its slug (or `<version_id>--<slug>`). */
  site(slug: string, path = "/", init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("host", `${slug}.localhost:${this.port}`);
    return this.reach(path, { ...init, headers });
  }

  /** `POST /sites` with any body. */
  post(body: Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}, query = ""): Promise<Response> {
    return this.api(`/sites${query}`, { method: "POST", body, headers: { ...ZIP, ...headers } });
  }
  /** A new anonymous site; throws with the whole answer where it is refused. */
  async deploy(files: Contents, query = ""): Promise<DeployResult> {
    return result(await this.post(zipOf(files), {}, query));
  }
  async redeploy(
    site: Pick<DeployResult, "site_id" | "manage_token">,
    files: Contents,
    query = "",
  ): Promise<DeployResult> {
    const headers = { ...ZIP, authorization: `Bearer ${site.manage_token}` };
    const path = `/sites/${site.site_id}/deploys${query}`;
    return result(await this.api(path, { method: "POST", body: zipOf(files), headers }));
  }

  rollback({ site_id, manage_token }: DeployResult, version_id: unknown): Promise<Response> {
    const headers = { ...JSON_TYPE, authorization: `Bearer ${manage_token}` };
    return this.api(`/sites/${site_id}/rollback`, { method: "POST", body: JSON.stringify({ version_id }), headers });
  }

  // What time, an operator or another process does, done behind the server's back and seen at its next request.

  /** The site's time is over; the sweep has not run. */
  expire(site: Site, expires_at = this.now() - 1): void {
    this.set("expires_at", expires_at, site);
  }
  disable(site: Site, reason: string): void {
    this.set("disabled_reason", reason, site);
  }
  enable(site: Site): void {
    this.set("disabled_reason", null, site);
  }
  freeze(site: Site): void {
    this.set("frozen", 1, site);
  }
  /** As its owner names it. */
  label(site: Site, label: string): void {
    this.set("label", label, site);
  }
  quarantine(site: Site): void {
    this.set("quarantine", '["x"]', site);
  }
  /** Ends a quarantine. */
  clear(site: Site): void {
    this.set("quarantine", null, site);
  }
  /** As a claim does. */
  giveAway({ site_id }: Site): void {
    this.write("update sites set owner_account_id = 'acct_x', expires_at = null where site_id = ?", site_id);
  }
  remove({ site_id, slug }: Pick<DeployResult, "site_id" | "slug">, reason: "deleted" | "expired" = "deleted"): void {
    const values = [slug, site_id, reason, "2026-11-21"];
    this.write("insert into tombstones (slug, site_id, reason, gone_at) values (?, ?, ?, ?)", ...values);
    this.write("insert into leftovers (site_id) values (?)", site_id);
    this.write("delete from sites where site_id = ?", site_id);
  }
  /** As of versions that were made before receipts were kept. */
  forgetReceipts({ site_id }: Site): void {
    this.write("delete from receipts where version_no in (select version_no from versions where site_id = ?)", site_id);
  }
  removeAccounts(): void {
    this.write("delete from accounts");
  }
  /** As `svc-server account invite` does. */
  invite(email: string, ttl_ms: number): string {
    const token = newToken("svc_invite_");
    const [created_at, expires_at] = [new Date(this.now()).toISOString(), this.now() + ttl_ms];
    this.write("insert into invitations values (?, ?, ?, ?, null)", hashToken(token), email, created_at, expires_at);
    return token;
  }
  /** As a backup that runs until then. */
  holdBlobs(expires_at: number): void {
    this.write("insert into holds (hold_id, expires_at) values ('hold_x', ?)", expires_at);
  }
  endHolds(): void {
    this.write("update holds set expires_at = ?", Date.now() - 1);
  }
  /** Whatever touches this site's row fails there, as a disk or a crash would. */
  breakAt(event: "update" | "delete", { site_id }: Site): void {
    for (const statement of databases.trigger(this.data_dir, event, `old.site_id = '${site_id}'`))
      this.write(statement);
  }
  mend(): void {
    this.write(databases.urlOf(this.data_dir) === undefined ? "drop trigger broken" : "drop trigger broken on sites");
  }

  /** How many rows a table has. */
  rows(table: string): number {
    return count(this.data_dir, table);
  }

  private set(column: string, value: string | number | null, { site_id }: Site): void {
    this.write(`update sites set ${column} = ? where site_id = ?`, value, site_id);
  }
  private write(statement: string, ...values: (string | number | null)[]): void {
    write(this.data_dir, statement, ...values);
  }

  async stop(): Promise<void> {
    await this.service?.stop();
    this.service = null;
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await databases.drop(this.data_dir);
    await removeFolder(this.data_dir);
  }
}

async function result(response: Response): Promise<DeployResult> {
  const body = await response.text();
  if (response.status !== 200) throw new Error(`deploy was answered ${response.status}: ${body}`);
  return JSON.parse(body) as DeployResult;
}

/** The same calls as of a server in the test's own process. */
export const callsOf = (config: { port: number; base_url: string; tls_cert?: string }): TestServer =>
  new TestServer("", { config } as unknown as Service);

/** `await using server = await startServer("--max-files", "5")`, or `server[Symbol.asyncDispose]()` in afterAll. */
export async function startServer(...flags: Setting[]): Promise<TestServer> {
  const server = new TestServer(await mkdtemp(join(tmpdir(), "svc-test-")));
  await server.start(flags);
  return server;
}
