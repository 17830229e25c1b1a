/** Deploy tokens as an account makes them, and what is done with them. */
import { expect } from "bun:test";
import { bearer, call, type Person } from "../../kit/people.ts";
import { type DeployResult, type TestServer, ZIP } from "../../kit/server.ts";
import { zipOf } from "../../kit/zip.ts";

/** As the API answers it. */
export interface Given {
  token_id: string;
  token: string;
  name: string;
  scopes: string[];
  site_ids: string[] | null;
  created_at: string;
  expires_at: number;
}

export type Listed = Omit<Given, "token"> & { last_used_at: string | null };

/** What a deploy is answered, or refused with. */
export type Answered = DeployResult & { status: number; code: string; error: string; needed: string };

/** Of a server that starts later than this is called. */
export function givenBy(started: () => TestServer) {
  const send = async (path: string, token: string, text: string, headers: Record<string, string> = {}) => {
    const body = zipOf({ "index.html": `<!doctype html><title>${text}</title>${text}` });
    const response = await started().api(path, {
      method: "POST",
      headers: { ...ZIP, ...bearer(token), ...headers },
      body,
    });
    return { status: response.status, ...((await response.json()) as object) } as Answered;
  };
  const ask = (person: Person, body: unknown) => call(started(), "POST", "/account/tokens", body, person.bearer);
  return {
    ask,
    async give(person: Person, scopes: string[], more: object = {}): Promise<Given> {
      const { status, body } = await ask(person, { name: "CI", scopes, ...more });
      expect(status, JSON.stringify(body)).toBe(200);
      return body as unknown as Given;
    },
    async list(person: Person): Promise<Listed[]> {
      const { body } = await call(started(), "GET", "/account/tokens", undefined, person.bearer);
      return (body as unknown as { tokens: Listed[] }).tokens;
    },
    revoke: (person: Person, token_id: string) =>
      call(started(), "DELETE", `/account/tokens/${token_id}`, undefined, person.bearer),
    deploy: (site: { site_id: string }, token: string, text = "by CI", query = "") =>
      send(`/sites/${site.site_id}/deploys${query}`, token, text),
    create: (token: string, text = "by CI", headers: Record<string, string> = {}) =>
      send("/sites", token, text, headers),
    read: ({ site_id }: { site_id: string }, token: string) =>
      call(started(), "GET", `/sites/${site_id}`, undefined, bearer(token)),
  };
}
