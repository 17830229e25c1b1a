/** CONTRACT 2, BEYOND 7 and RELIABILITY H36 to H39: which host is what. */
import { expect, test } from "bun:test";
import { hostParser } from "../../src/http/hosts.ts";

const API = { kind: "api" };
const UNKNOWN = { kind: "unknown" };
const INVALID = { kind: "invalid" };
const site = (slug: string, version_id: string | null = null) => ({ kind: "site", slug, version_id });
const preview = (name: string, slug: string) => ({ ...site(slug), preview: name });
/** A site may have it (BEYOND 10). */
const domain = (name: string) => ({ kind: "domain", domain: name });
const VERSION = "0123456789abcdef";

const local = hostParser({ base_url: "http://localhost:8787", sites_domain: "localhost:8787" });
const real = hostParser({ base_url: "https://api.svc.example", sites_domain: "sites.example" });
const nested = hostParser({ base_url: "https://api.svc.example", sites_domain: "svc.example" });
const byPort = hostParser({ base_url: "http://api.svc.example:8000", sites_domain: "svc.example:9000" });

test.each([
  ["localhost:8787", local, API],
  ["127.0.0.1:8787", local, API],
  ["[::1]:8787", local, API],
  ["localhost", local, API],
  ["LOCALHOST.:8787", local, API],
  ["brave-otter-1a2b.localhost:8787", local, site("brave-otter-1a2b")],
  ["Brave-Otter-1A2B.localhost", local, site("brave-otter-1a2b")],
  ["a.localhost:1", local, site("a")],
  [" a.localhost\t", local, site("a")],
  ["a.localhost.", local, site("a")],
  [`${VERSION}--a-b-c.localhost`, local, site("a-b-c", VERSION)],
  ["0123--a.localhost", local, preview("0123", "a")],
  ["PR-12--a-b-c.localhost:8787", local, preview("pr-12", "a-b-c")],
  ["a_b--c.localhost", local, UNKNOWN],
  ["a--b--c.localhost", local, UNKNOWN],
  [`${VERSION}--a--b.localhost`, local, UNKNOWN],
  ["a.b.localhost", local, UNKNOWN],
  ["example.com", local, domain("example.com")],
  ["10.0.0.1", local, UNKNOWN],
  ["127.0.0.1", real, UNKNOWN],
  ["[::1]:80", real, UNKNOWN],
  ["api.svc.example", real, API],
  ["a.sites.example", real, site("a")],
  ["sites.example", real, UNKNOWN],
  ["evilsites.example", real, domain("evilsites.example")],
  ["a.evilsites.example", real, domain("a.evilsites.example")],
  ["xn--bcher-kva.sites.example", real, UNKNOWN],
  [`${"a".repeat(64)}.sites.example`, real, UNKNOWN],
  ["-a.sites.example", real, UNKNOWN],
  ["api.svc.example", nested, API],
  ["other.svc.example", nested, site("other")],
  ["api.svc.example:8000", byPort, API],
  ["api.svc.example:9000", byPort, site("api")],
  ["", local, INVALID],
  ["a,b", local, INVALID],
  ["a.localhost, a.localhost", local, INVALID],
  ["a b", local, INVALID],
  ["u@a.localhost", local, INVALID],
  ["a/x", local, INVALID],
  ["a?x", local, INVALID],
  ["%61.localhost", local, INVALID],
  ["a..localhost", local, INVALID],
  [".localhost", local, INVALID],
  ["é.localhost", local, INVALID],
  [`${"a.".repeat(150)}localhost`, local, INVALID],
  ["localhost:abc", local, INVALID],
  ["localhost:99999", local, INVALID],
] as const)("H36-H39 Host %j", (host, parse, expected) => {
  expect(parse(host)).toEqual(expected as ReturnType<typeof parse>);
});

test("H38 no Host at all (HTTP/1.0) is an unknown host", () => {
  expect(local(null)).toEqual({ kind: "unknown" });
});
