/** RELIABILITY 5: every endpoint × the credentials of people and of sites. */
import { expect, test } from "bun:test";
import { ROWS, tryEach } from "./matrix.ts";
import { CREDENTIALS, isDeployCredential } from "./matrix-credentials.ts";

tryEach(CREDENTIALS.filter((credential) => !isDeployCredential(credential)));

test("every row of the API's table has its row here", async () => {
  const { apiRoutes } = await import("../../src/routes/table.ts");
  const tried = new Set(ROWS.map(({ title }) => /^(?:A1 )?([A-Z]+ \S+)/.exec(title)![1]));
  // The first opens to callers without a credential alone: accounts.test.ts. The other is the same to all: document.test.ts.
  const elsewhere = ["POST /auth/signup", "GET /openapi.json"];
  const missing = apiRoutes({ mcp: "off" })
    .map(([method, path]) => `${method} ${path}`)
    .filter((row) => !tried.has(row));
  expect(missing).toEqual(elsewhere);
});
