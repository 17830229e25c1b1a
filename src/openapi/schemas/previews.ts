/** What is shown beside the live version (BEYOND 7), and what an upload would be (BEYOND 6). */
import { flag, list, type Members, object, orNull, ref, text, whole } from "../schema.ts";

const of_preview = {
  url: ref("Url", "Where it is shown: under its name, or as its version."),
  version_url: ref("Url", "Where the version is shown."),
  name: orNull(text("Its name; null without one.")),
  version_id: ref("VersionId"),
  expires_at: whole("Epoch milliseconds."),
};

export const PREVIEWS: Members = {
  Preview: object({
    ...of_preview,
    site_id: ref("SiteId"),
    slug: ref("Slug"),
    live_url: ref("Url", "Where the live version is."),
    changed: flag("It is another content than the live one."),
    files: ref("FileChanges"),
    healed: list(ref("Healed"), "What was fixed on the caller's behalf."),
    warnings: list(ref("Warning"), "What could not be fixed."),
  }),
  Previews: object({
    previews: list(
      object({ ...of_preview, title: orNull(text("Title of its index.")), created_at: ref("Time") }),
      "Newest first.",
    ),
  }),
  Plan: object({
    version_id: ref("VersionId", "Of this content."),
    live: flag("It is live."),
    stored: flag("The site has it."),
    need: list(ref("Sha256"), "What the site lacks, in the order of the list, each once."),
  }),
  Sha256: text("Of a file's bytes, in hex.", {
    pattern: "^[0-9a-f]{64}$",
    examples: ["9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"],
  }),
};
