/** Rows of a site's password (BEYOND 8). */
import { type ApiRows, json, JSON_CODES, ok } from "./row.ts";
import { literal, object, string } from "./shapes/builder.ts";
import { ACCESS } from "./shapes/sites.ts";

export const ACCESS_ROWS = {
  "GET /sites/:id/access": {
    id: "readAccess",
    tag: "Sites",
    summary: "Read whether visitors need a password",
    who: { site: "read" },
    answers: ok("Who may see the site.", ACCESS, { mode: "public", set_at: null }),
    codes: [],
  },
  "PUT /sites/:id/access": {
    id: "setPassword",
    tag: "Sites",
    summary: "Let only those see a site who know a password",
    description:
      "On all of its hosts, from the next request on. Whoever was let in before, by the same password even, is asked anew. Of an owned site the owner's session alone: its manage_token is 401.",
    who: { keeper: true },
    body: {
      required: true,
      content: json(object({ password: string("8 to 256 characters.", { maxLength: 1024 }) }), {
        password: "correct horse",
      }),
    },
    answers: ok("Visitors need it.", ACCESS, { mode: "password", set_at: "2026-11-28T09:00:00.000Z" }),
    codes: [...JSON_CODES, "site_disabled", "unavailable"],
  },
  "DELETE /sites/:id/access": {
    id: "removePassword",
    tag: "Sites",
    summary: "Let everybody see a site again",
    description: "Of an owned site the owner's session alone: its manage_token is 401.",
    who: { keeper: true },
    answers: ok("It is public.", object({ mode: literal("public", "Everybody may see it.") }), { mode: "public" }),
    codes: ["site_frozen", "site_disabled"],
  },
} satisfies ApiRows;
