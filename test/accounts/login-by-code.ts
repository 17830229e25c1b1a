/** The two sides of a login by code: the program that waits, and the browser of the person who decides (RFC 8628). */
import { type BrowserSession, call, submit } from "../kit/people.ts";
import type { TestServer } from "../kit/server.ts";

/** The program. Its server starts later than this is called. */
export function device(started: () => TestServer) {
  const poll = (device_code: string, at = started()) => call(at, "POST", "/auth/device/token", { device_code });
  return {
    begin: async (at = started()) => (await call(at, "POST", "/auth/device/code", {})).body,
    poll,
    codeOf: async (device_code: string) => (await poll(device_code)).body.code,
  };
}

/** The person, signed in. */
export const approver = (started: () => TestServer, browser: () => BrowserSession) => ({
  open: (path: string) => started().api(path, { headers: { cookie: browser().cookie, accept: "text/html" } }),
  decide: (user_code: string, decision: "approve" | "deny", more: Record<string, string> = {}) => {
    const { cookie, csrf } = browser();
    return submit(started(), "/device", { user_code, decision, csrf, ...more }, { cookie });
  },
});
