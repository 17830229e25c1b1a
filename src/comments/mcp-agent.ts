/** The agent that calls: known by its token, for one site (COMMENTS 6). */
import { Refusal } from "../base/errors.ts";
import { hashToken } from "../base/tokens.ts";
import type { Site } from "../base/types.ts";
import { UNIT_MS } from "../base/units.ts";
import type { AgentToken, Author, AgentScope, Viewpoint } from "../store/notes.ts";
import type { Notes } from "../store/notes/index.ts";
import { refusals, refuseUnlessThere } from "../store/refusals.ts";
import type { Sites } from "../store/sites.ts";
import type { Versions } from "../store/versions.ts";
import type { CommentParts } from "./context.ts";

/** The parts of the server that MCP asks. */
export interface McpParts extends Pick<CommentParts, "config" | "limit" | "keys" | "now" | "livePages"> {
  store: { notes: Notes; sites: Pick<Sites, "byId">; versions: Pick<Versions, "get"> };
}

/** The time of last use is stored once a minute. */
const NOTED_MS = UNIT_MS.m;

export interface Agent {
  token: AgentToken;
  site: Site;
  author: Author;
  /** Its view: without waiting comments unless its token allows them. */
  as: Viewpoint;
}

/** The author `a_…`: each token writes as its own author. */
const authorOf = ({ token_id, name }: AgentToken): Author => ({
  id: token_id.replace(/^agent_/, "a_"),
  name,
  kind: "agent",
});

const noToken = (): Refusal =>
  new Refusal(
    "unauthorized",
    "Send a token of this site (Authorization: Bearer fau_…): its owner makes one with svc comments token create.",
  );

async function noteUse({ store, now }: McpParts, hash: string, { last_used_at }: AgentToken): Promise<void> {
  if (last_used_at === null || Date.parse(last_used_at) + NOTED_MS <= now()) await store.notes.noteTokenUse(hash);
}

/** Throws 401; 404 or 451 if the site is gone, and 404 if its comments are off. */
export async function agentOf(parts: McpParts, site_id: string, sent: string | null): Promise<Agent> {
  const hash = sent?.startsWith("fau_") ? hashToken(sent) : null;
  const token = hash === null ? null : await parts.store.notes.agent(hash);
  if (hash === null || token === null || token.site_id !== site_id) throw noToken();
  const site = await parts.store.sites.byId(site_id);
  if (site === null) throw refusals.unknownSite();
  refuseUnlessThere(site, parts.now());
  if (site.comments_mode === "off") throw refusals.commentsOff();
  await noteUse(parts, hash, token);
  const as: Viewpoint = token.scopes.includes("see_pending") ? { kind: "owner" } : { kind: "public" };
  return { token, site, author: authorOf(token), as };
}

export function refuseWithout({ token }: Pick<Agent, "token">, scope: AgentScope): void {
  if (token.scopes.includes(scope)) return;
  throw new Refusal("forbidden", `This token lacks the scope ${scope}: the site's owner can make one that has it.`);
}
