/** The settings of a site (BEYOND 0), and why its addresses answer as they do (BEYOND 5). */
import { json, JSON_CODES, ok, type Operations } from "../operation.ts";
import { flag, object, oneOf, ref, text } from "../schema.ts";

const header = (name: string, of: string) => ({
  name,
  description: `As if ${of} had this value.`,
  schema: text("A value.", { maxLength: 500 }),
});

export const SETTINGS: Operations = {
  "GET /sites/:id/settings": {
    id: "readSettings",
    tag: "Sites",
    summary: "Read how a site is set up",
    who: { site: "read" },
    answers: ok("The settings.", ref("Settings")),
  },
  "PATCH /sites/:id/settings": {
    id: "changeSettings",
    tag: "Sites",
    summary: "Set a site up",
    description: "Of an owned site the owner's session alone: its manage_token is 401.",
    who: { site: null },
    body: {
      required: true,
      content: json(
        object(
          {},
          { skew: flag("Former versions give open pages their scripts."), stats: flag("Views are counted.") },
          { minProperties: 1 },
        ),
        { skew: false },
      ),
    },
    answers: ok("The settings as they are now.", ref("Settings")),
    codes: [...JSON_CODES, "site_frozen", "site_disabled"],
  },
  "GET /sites/:id/explain": {
    id: "explain",
    tag: "Sites",
    summary: "Ask why an address of the site answers as it does",
    description: "The code that answers visitors tells its steps. Nothing is counted.",
    who: { site: "read" },
    query: [
      {
        name: "url",
        description: "A path of the live host, or an address on one of the site's hosts.",
        schema: text("What to ask for.", { maxLength: 4096, examples: ["/about"] }),
        required: true,
      },
      {
        name: "method",
        description: "How to ask.",
        schema: { ...oneOf("A method.", ["GET", "HEAD"]), default: "GET" },
      },
      header("accept_encoding", "Accept-Encoding"),
      header("sec_fetch_dest", "Sec-Fetch-Dest"),
      header("sec_fetch_site", "Sec-Fetch-Site"),
    ],
    answers: ok("The answer, and what led to it.", ref("Explained")),
    codes: ["invalid_input"],
  },
};
