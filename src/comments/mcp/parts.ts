/** What MCP is given of the server around it. */
import type { Notes } from "../../store/notes.ts";
import type { Sites, Versions } from "../../store/serving.ts";
import type { CommentParts } from "../context.ts";

export interface McpParts extends Pick<CommentParts, "config" | "limit" | "keys" | "now" | "livePages"> {
  store: { notes: Notes; sites: Pick<Sites, "byId">; versions: Pick<Versions, "get"> };
}
