/** The two ways to send fields: as a form and as JSON. */
import { call } from "../kit/people.ts";
import type { TestServer } from "../kit/server.ts";

/** To a server that starts later than this is called. */
export const senders = (started: () => TestServer) => ({
  form: (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    started().api(path, { method: "POST", body: new URLSearchParams(fields), headers }),
  post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
    call(started(), "POST", path, body, headers),
});
