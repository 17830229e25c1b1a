/** The same for the comments of a site, which has none: who is let in is told from who is not. */
import { all, managed } from "./matrix-credentials.ts";
import { json, type Row } from "./matrix-rows.ts";

/** `let_in`: what whoever may manage the site is answered. */
const row = (method: string, path: string, let_in: number, body?: unknown): Row => ({
  title: `${method} /sites/:id/comments/${path}`,
  method,
  path: ({ own }) =>
    `/sites/${own.site_id}/comments/${path.replace(/:(comment|token)/, "x").replace(":delivery", "msg_x")}`,
  ...(body !== undefined && { send: () => json(body) }),
  expected: { ...managed, "M own": let_in, "S owner": let_in },
});

export const comment_rows: Row[] = [
  row("GET", "settings", 200),
  row("PATCH", "settings", 200, { mode: "approved" }),
  row("POST", "owner-code", 200, {}),
  row("POST", "tokens", 201, { name: "bot", scopes: ["read"] }),
  row("GET", "tokens", 200),
  row("DELETE", "tokens/:token", 404),
  row("GET", "webhook/deliveries", 200),
  // This server has webhooks off.
  row("POST", "webhook/deliveries/:delivery/again", 400, {}),
  row("GET", "threads", 200),
  row("GET", "queue", 200),
  ...["approve", "reject", "resolve", "reopen"].map((action) => row("POST", `c_:comment/${action}`, 404, {})),
  row("POST", "c_:comment/reject-all", 404, { of: "visitor" }),
  {
    ...row("DELETE", "c_:comment", 404),
    // A manage_token never deletes.
    expected: all(401, { "M own": 403, "S owner": 404, "S other": 403 }),
  },
  row("GET", "c_:comment/history", 404),
];
