/** When a site ends, as its server says now: since this machine made the link, the site may have been claimed or deleted. */
import type { Link } from "../saved/links.ts";
import type { Server } from "../saved/server.ts";
import { OWN_LINK } from "../saved/state.ts";
import { ask, soon } from "./api.ts";
import { ApiFailure } from "./refusal.ts";
import { SITE_RECORD } from "./wire.ts";

/** Null if it does not end, or if the server says no more. What the person asked for is done by then, so nobody waits long
 *  for it. */
export async function endOf(
  server: Server,
  { site_id, manage_token, expires_at }: Link,
): Promise<number | null | "gone"> {
  if (expires_at === null || manage_token === null) return expires_at;
  const credential = { token: manage_token, from: OWN_LINK };
  const call = { method: "GET", path: `/sites/${site_id}?limit=1`, credential, repeatable: false } as const;
  const asked = ask(server, call, SITE_RECORD).then(
    (record) => (record.expires_at === null ? null : expires_at),
    (error: unknown) => (error instanceof ApiFailure && [404, 410].includes(error.status) ? "gone" : null),
  );
  return soon<number | null | "gone">(asked, null);
}
