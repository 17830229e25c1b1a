/** Domains in tests: a server whose proofs a DNS server of the test's own tells, owned sites, and requests by the name of a host. */
import { startDnsServer } from "../kit/dns-server.ts";
import { call, type Person } from "../kit/people.ts";
import { type DeployResult, type Setting, startServer, type TestServer, ZIP } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

export interface Domain {
  domain: string;
  state: string;
  primary: boolean;
  hsts: boolean;
  records: { type: "TXT" | "CNAME"; name: string; value: string }[];
  verified_at: string | null;
  checked_at: string | null;
  tls: { state: string; expires_at: string | null; error: string | null };
}

type Contents = Parameters<typeof zipOf>[0];
let names = 0;

export async function domainWorld(...settings: Setting[]) {
  const dns = await startDnsServer();
  const server = await startServer({ SVC_DNS: dns.address }, ...settings);
  return {
    ...{ dns, server },
    ...calls(server, dns),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await dns[Symbol.asyncDispose]();
    },
  };
}

function calls(server: TestServer, dns: Awaited<ReturnType<typeof startDnsServer>>) {
  const ask = (by: Person | null, method: string, path: string, body?: object) =>
    call(server, method, path, body, by === null ? {} : by.bearer);

  async function owned(by: Person, files: Contents = { "index.html": "<!doctype html><title>Home</title><p>home" }) {
    const response = await server.post(zipOf(files), { ...ZIP, ...by.bearer });
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.json()) as DeployResult;
  }
  const add = (site: { site_id: string }, domain: unknown, by: Person) =>
    ask(by, "POST", `/sites/${site.site_id}/domains`, { domain });
  const verify = (site: { site_id: string }, domain: string, by: Person) =>
    ask(by, "POST", `/sites/${site.site_id}/domains/${domain}/verify`);
  const change = (site: { site_id: string }, domain: string, wanted: object, by: Person) =>
    ask(by, "PATCH", `/sites/${site.site_id}/domains/${domain}`, wanted);
  const remove = (site: { site_id: string }, domain: string, by: Person) =>
    ask(by, "DELETE", `/sites/${site.site_id}/domains/${domain}`);

  /** Sets the record of this type that proves it. */
  function prove({ records }: Domain, type: "TXT" | "CNAME" = "TXT"): void {
    const { name, value } = records.find((one) => one.type === type)!;
    dns.set(name, type, [value]);
  }
  /** One that is proved and active. */
  async function active(site: { site_id: string }, by: Person, domain = freshDomain()): Promise<Domain> {
    prove((await add(site, domain, by)).body as unknown as Domain);
    const { status, body } = await verify(site, domain, by);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body as unknown as Domain;
  }
  /** A request to any host of the server. */
  async function at(host: string, path = "/", init: RequestInit = {}) {
    const headers = new Headers(init.headers);
    headers.set("host", `${host}:${server.port}`);
    const response = await server.reach(path, { ...init, headers });
    const location = response.headers.get("location");
    return { status: response.status, headers: response.headers, location, text: await response.text() };
  }
  return { ask, owned, add, verify, change, remove, prove, active, at };
}

export const freshDomain = (): string => `www.garden-${++names}.example.org`;
