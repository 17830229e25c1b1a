/** A site that holds as many comments as it may, written through the store: over HTTP it would take minutes. */
import type { Notes } from "../../src/store/notes/index.ts";
import { newCommentId } from "../../src/base/tokens.ts";
import type { DeployResult } from "./server.ts";

const REPLIES = 19;
const PAGES = 25;

type Place = Pick<DeployResult, "site_id" | "version_id">;

const WORDS = "Some words that somebody wrote about the page, as long as most are. ";
const QUOTE = { exact: "a passage of the page that is quoted", prefix: "before it ", suffix: " after it" };

/** The path of a page that has some, from 0. */
export const pageWithComments = (n: number): string => `/page-${n}.html`;

/** Threads of 20 in turn over 25 pages, all public, from 50 visitors. */
export async function writeComments(notes: Notes, { site_id, version_id }: Place, count: number): Promise<void> {
  const version_created_at = new Date(0).toISOString();
  let thread_id = "";
  for (let n = 0; n < count; n++) {
    const by = { id: `p_${n % 50}`, name: `Visitor ${n % 50}`, kind: "visitor" as const };
    const id = newCommentId();
    const writing = {
      site_id,
      id,
      by,
      text: `${WORDS}${n}`,
      canonical: null,
      network: null,
      most_waiting: Infinity,
      visibility: "public" as const,
    };
    if (n % (REPLIES + 1) === 0) {
      const page = pageWithComments((n / (REPLIES + 1)) % PAGES);
      const anchor = { quote: QUOTE, element: null, carried: "lost" as const, place: null };
      await notes.start({ ...writing, page, version_id, version_created_at, ...anchor });
      thread_id = id;
    } else await notes.reply({ ...writing, thread_id, as: { kind: "public" } });
  }
}
