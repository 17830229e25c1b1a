/** BEYOND 5: every answer of a site is held against its explanation, so that the tables of tests that ask a site are tests
 *  of that, too. */
import { expect } from "bun:test";
import { hashToken, newToken } from "../../src/base/tokens.ts";
import { read, write } from "./database.ts";
import { type Setting, startServer, type TestServer } from "./server.ts";

/** Headers that an explanation can take into account. There is none for an answer that depends on others. */
const ASKABLE = new Set(["host", "connection", "accept-encoding", "sec-fetch-dest", "sec-fetch-site"]);
/** Headers that are new with each answer, or that name the way it took. */
const OF_EACH = ["date", "x-request-id", "connection", "transfer-encoding", "keep-alive"];

/** Headers that `fetch` sends by itself. */
export const FETCHED = "gzip, deflate, br, zstd";

interface Request {
  slug: string;
  path: string;
  method: string;
  headers: Headers;
}
type Answer = Pick<Response, "status" | "headers">;

interface Explained {
  status: number;
  location: string | null;
  headers: Record<string, string>;
  by: string;
  steps: { matched: boolean }[];
}

const held = new WeakMap<TestServer, Map<string, { site_id: string; token: string } | null>>();

/** A site's id, and a manage_token of its own. */
function keyOf(server: TestServer, slug: string) {
  const keys = held.get(server)!;
  if (!keys.has(slug)) {
    const [site] = read<{ site_id: string }>(server.data_dir, "select site_id from sites where slug = ?", slug);
    const token = newToken("svc_manage_");
    const row = "insert into tokens (hash, site_id, kind, created_at) values (?, ?, 'manage', '2026-11-23')";
    if (site !== undefined) write(server.data_dir, row, hashToken(token), site.site_id);
    keys.set(slug, site === undefined ? null : { site_id: site.site_id, token });
  }
  return keys.get(slug)!;
}

async function explanationOf(server: TestServer, { slug, path, method, headers }: Request): Promise<Explained | null> {
  const key = keyOf(server, slug.replace(/^.*--/, ""));
  const url = `http://${slug}.localhost:${server.port}${path}`;
  if (key === null || url.length > 4096) return null;
  const query = new URLSearchParams({ url, method });
  for (const name of ["accept-encoding", "sec-fetch-dest", "sec-fetch-site"]) {
    const value = headers.get(name);
    if (value !== null) query.set(name.replaceAll("-", "_"), value);
  }
  const authorization = `Bearer ${key.token}`;
  const answer = await server.api(`/sites/${key.site_id}/explain?${query}`, { headers: { authorization } });
  // A site that is gone, or a host that it has not.
  if (answer.status === 404 || answer.status === 400) return null;
  expect(answer.status).toBe(200);
  return (await answer.json()) as Explained;
}

const seen = ({ status, headers }: { status: number; headers: Headers | Record<string, string> }) => {
  const told = new Headers(headers);
  for (const name of OF_EACH) told.delete(name);
  return { status, location: told.get("location"), headers: Object.fromEntries(told) };
};

/** Fails where the explanation says anything else than the answer. While the machine is busy, a text may go out without
 *  its coding: then both are asked again. */
export async function heldAgainstItsExplanation(
  server: TestServer,
  request: Request,
  answer: Answer,
  again: () => Promise<Answer>,
  tries = 3,
): Promise<void> {
  if (!held.has(server) || !/^(?:GET|HEAD)$/.test(request.method)) return;
  if ([...request.headers.keys()].some((name) => !ASKABLE.has(name))) return;
  const told = await explanationOf(server, request);
  if (told === null) return expect([400, 404, 410]).toContain(answer.status);
  const [is, said] = [seen(answer), { ...seen(told), location: told.location }];
  if (!Bun.deepEquals(is, said) && tries > 0) {
    return heldAgainstItsExplanation(server, request, await again(), again, tries - 1);
  }
  expect(said).toEqual(is);
  expect(told.steps.map(({ matched }) => matched)).toEqual(told.steps.map((_, i, all) => i === all.length - 1));
}

/** A server whose sites' answers are all held against their explanations. */
export async function startExplained(...flags: Setting[]): Promise<TestServer> {
  const server = await startServer(...flags);
  held.set(server, new Map());
  const ask = server.site.bind(server);
  server.site = async (slug, path = "/", init = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has("accept-encoding")) headers.set("accept-encoding", FETCHED);
    const request = { slug, path, method: init.method ?? "GET", headers };
    const again = () => ask(slug, path, init);
    const answer = await again();
    await heldAgainstItsExplanation(server, request, answer, again);
    return answer;
  };
  return server;
}
