/** Names and values that stand in many bodies. */
import { type Members, text } from "../schema.ts";

const name = (prefix: string, of: string, example: string) =>
  text(`Name of ${of}.`, { pattern: `^${prefix}_[0-9a-z]{20}$`, examples: [`${prefix}_${example}`] });

export const SCALARS: Members = {
  SiteId: name("site", "a site in paths of this API", "k3v9x0q2m7w1z8t4b6cd"),
  AccountId: name("acct", "an account", "0f6h2k8r4v1x9m3q7t5w"),
  SessionId: name("sess", "a session", "4p8s1v6y3b9e2h5k7n0q"),
  DeployTokenId: name("tok", "a deploy token", "7c2g5k9p1t4x8b3f6j0n"),
  AgentTokenId: name("agent", "an agent's token", "1d4h7m0r3v6z9c2g5k8p"),
  CommentId: name("c", "a comment; of a thread that of its first comment", "9m2q5t8x1b4f7j0n3r6v"),
  ReportId: name("rep", "an abuse report", "5k8n1r4v7z0c3g6j9m2q"),
  VersionId: text("First 16 hex digits of a SHA-256 over the uploaded content: equal content, equal id.", {
    pattern: "^[0-9a-f]{16}$",
    examples: ["64def806c7aa7fda"],
  }),
  Slug: text("Name of the site's host.", {
    pattern: "^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$",
    examples: ["quiet-heron-7f3k"],
  }),
  Time: text("When, as ISO 8601.", { format: "date-time", examples: ["2026-11-21T09:30:00.000Z"] }),
  Url: text("An address.", { format: "uri", examples: ["http://quiet-heron-7f3k.localhost:8787"] }),
};
