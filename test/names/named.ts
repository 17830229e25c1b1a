/** Sites that get names of their owners' choice, for the tests of BEYOND 17. */
import { expect } from "bun:test";
import { ownership } from "../accounts/owned.ts";
import { type Answer, call, type Person } from "../kit/people.ts";
import type { DeployResult, TestServer } from "../kit/server.ts";

type Site = Pick<DeployResult, "site_id">;

export function naming(started: () => TestServer) {
  const { owned } = ownership(started);
  const rename = ({ site_id }: Site, slug: unknown, person: Pick<Person, "bearer">, at = started()) =>
    call(at, "PUT", `/sites/${site_id}/slug`, { slug }, person.bearer);
  return {
    owned,
    rename,
    /** The same, where anything but 200 is a fault of the test. */
    async renamed(site: Site, slug: string, person: Pick<Person, "bearer">, at = started()): Promise<Answer> {
      const { status, body } = await rename(site, slug, person, at);
      expect([status, body.code]).toEqual([200, undefined as unknown as string]);
      return body;
    },
    /** Status and target of what is answered at a host. */
    async at(host: string, path = "/", init: RequestInit = {}, server = started()) {
      const response = await server.site(host, path, init);
      const { status, headers } = response;
      return { status, location: headers.get("location"), headers, text: await response.text() };
    },
    /** The address of a host. */
    url: (host: string, path = "/", server = started()) => `http://${host}.localhost:${server.port}${path}`,
  };
}
