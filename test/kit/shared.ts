/** Things that all tests of a file share: made while the file is read (`const server = await sharedServer()`), gone after its
 *  last test. */
import { afterAll } from "bun:test";
import { Home } from "./cli.ts";
import { type Person, signUp } from "./people.ts";
import { type Setting, startServer, type TestServer } from "./server.ts";

export function shared<Made extends AsyncDisposable>(made: Made): Made {
  afterAll(() => made[Symbol.asyncDispose]());
  return made;
}

export const sharedServer = async (...settings: Setting[]): Promise<TestServer> =>
  shared(await startServer(...settings));

/** A server with somebody who has an account. */
export async function sharedPerson(): Promise<{ server: TestServer; person: Person }> {
  const server = await sharedServer();
  return { server, person: await signUp(server) };
}

/** A machine that knows the server. */
export async function sharedHome(made = sharedServer()): Promise<{ server: TestServer; home: Home }> {
  const server = await made;
  return { server, home: shared(await Home.make(server.base_url)) };
}
