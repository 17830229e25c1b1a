/** Sites and whose they are, for the tests of claims, of owned sites and of deletion. */
import { expect } from "bun:test";
import { call, type Person } from "../kit/people.ts";
import type { DeployResult, TestServer } from "../kit/server.ts";
import { zipOf } from "../kit/zip.ts";

type Owned = DeployResult & { owner_account_id: string };
type Claimable = Pick<DeployResult, "site_id" | "claim_token">;

export const page = (text: string) => ({ "index.html": `<!doctype html><title>${text}</title>${text}` });

/** What people ask of a server that starts later than this is called. */
export function ownership(started: () => TestServer) {
  const post = (path: string, body: unknown, person: Person, at = started()) =>
    call(at, "POST", path, body, person.bearer);
  return {
    post,
    /** A site of the person's, deployed with the session. */
    async owned(person: Person, text = "owned", at = started()): Promise<Owned> {
      const response = await at.post(zipOf(page(text)), person.bearer);
      expect(response.status).toBe(200);
      return (await response.json()) as Owned;
    },
    claim: ({ site_id, claim_token }: Claimable, person: Person, at = started()) =>
      post(`/sites/${site_id}/claim`, { claim_token }, person, at),
    record: async (site_id: string, headers: Record<string, string>) =>
      (await call(started(), "GET", `/sites/${site_id}`, undefined, headers)).body,
    robots: async (slug: string) => (await started().site(slug)).headers.get("x-robots-tag"),
  };
}

/** A site whose time is over; the sweep has not run. */
export async function expired(at: TestServer): Promise<DeployResult> {
  const site = await at.deploy(page("expired"));
  at.expire(site, at.now());
  return site;
}
