/** A site that was deployed again since a page of it was loaded, and what that page asks for. */
import type { DeployResult, TestServer } from "../../kit/server.ts";

export const CHUNK = "/assets/chunk-DiwrgTda.js";
const PAGE = "<!doctype html><title>App</title>app";

/** What a page's own `import()` sends. */
export const AS_SCRIPT = { "sec-fetch-site": "same-origin", "sec-fetch-dest": "script" };

export const ask = (
  server: TestServer,
  { slug }: Pick<DeployResult, "slug">,
  path = CHUNK,
  headers: Record<string, string> = AS_SCRIPT,
  method = "GET",
): Promise<Response> => server.site(slug, path, { method, headers });

/** The body of a 200, else the status. */
export async function given(...call: Parameters<typeof ask>): Promise<string | number> {
  const answer = await ask(...call);
  const body = await answer.text();
  return answer.status === 200 ? body : answer.status;
}

let deploys = 0;
/** Never the same content twice. */
export const contents = (files: Record<string, string | Uint8Array> = {}) => ({
  "index.html": `${PAGE} ${deploys++}`,
  ...files,
});

/** A site whose first version has these files and whose live one has none of them. */
export async function left(
  server: TestServer,
  files: Record<string, string | Uint8Array> = { [CHUNK.slice(1)]: "export default 1;" },
): Promise<DeployResult & { former: string }> {
  const site = await server.deploy(contents(files));
  await server.redeploy(site, contents());
  return { ...site, former: site.version_id };
}
