/** What is public of a site's comments, for other programs (COMMENTS 1), and the container that new ones are sent to. */
import type { Operation, Operations, Parameter } from "../operation.ts";
import { always, ref, type Schema, text, whole } from "../schema.ts";
import { LD_JSON } from "./moderation.ts";
import { COMMENT_PATH } from "./visitors.ts";

const tag = "On a site's host";

const OFF = ["unknown_host", "site_expired", "site_disabled", "comments_off"] as const;

const PAGE: Parameter = { name: "page", description: "A page of it, from 0.", schema: whole("A number.") };
const IRIS: Parameter = {
  name: "iris",
  description: "Items as their addresses alone.",
  schema: always("1", "The one value."),
};
const SOURCE: Parameter = { name: "source", description: "Of one page of the site.", schema: text("Its path.") };

const documents = (schema: Schema): Operation["answers"] => ({
  200: {
    description: "What is public; in mode `passcode`, what a grant sees.",
    content: { [LD_JSON]: { schema } },
    headers: ["ETag", "Allow"],
  },
  304: { description: "It is what If-None-Match names.", headers: ["ETag"] },
});

const collection = (id: string, summary: string, query: readonly Parameter[]): Operation => ({
  id,
  tag,
  summary,
  who: "reader",
  query,
  answers: documents({ anyOf: [ref("Collection"), ref("CollectionPage")] }),
  codes: ["not_found"],
});

const options = (id: string, summary: string): Operation => ({
  id,
  tag,
  summary,
  who: "no_one",
  answers: { 200: { description: "In Allow.", headers: ["Allow"] } },
  codes: OFF,
});

const X = {
  page: text("The page's path without its first slash, its other slashes as they are.", { examples: ["guide"] }),
};

export const FEEDS: Operations = {
  "GET /comments.json": {
    ...collection("readFeed", "The feed of a site", [PAGE, IRIS]),
    description: "A file of the site with this name wins; the same feed is always at `/_svc/comments/feed.json`.",
  },
  "GET /:page.comments.json": {
    ...collection("readPageFeed", "The feed of a page", [PAGE, IRIS]),
    description:
      "Of `/guide.html` at `/guide.comments.json`, of `/` at `/index.comments.json`. A file of the site with this name wins.",
    path: X,
  },
  "GET /_svc/comments/feed.json": collection("readAnyFeed", "The feed of a site, or of one page", [PAGE, IRIS, SOURCE]),
  "OPTIONS /_svc/comments/feed.json": options("askFeed", "What a feed takes"),
  "GET /_svc/comments/": {
    id: "readContainer",
    tag,
    summary: "The container that comments are sent to",
    description: "An LDP container of the Web Annotation Protocol.",
    who: "reader",
    query: [IRIS],
    headers: [{ name: "Prefer", description: "As the protocol has it.", schema: text("A preference.") }],
    answers: documents(ref("Container")),
  },
  "OPTIONS /_svc/comments/": options("askContainer", "What the container takes"),
  "OPTIONS /_svc/comments/c_:id": { ...options("askComment", "What a comment takes"), path: COMMENT_PATH },
};
