/** BEYOND 7: what a preview is, what is answered of it, and what it leaves alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { database, removed } from "../kit/checked.ts";
import { asOwner } from "../kit/people.ts";
import { type DeployResult, startServer, type TestServer } from "../kit/server.ts";
import { pageOf, previewing } from "./previewing.ts";
import { page, records } from "./site-record.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server[Symbol.asyncDispose]());
