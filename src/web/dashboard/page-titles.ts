/** The titles of a site's live pages, for lists that would else name them by their paths. */
import { pageOf } from "../../comments/addresses.ts";
import type { LivePages } from "../../comments/context.ts";
import { Refusal } from "../../base/errors.ts";
import { decodePath } from "../../base/percent.ts";
import type { Bytes, Site } from "../../base/types.ts";
import { decodeHtml } from "../../html/decode.ts";
import { Page, titleOf } from "../../html/page.ts";
import type { SignedIn } from "../who.ts";

/** A title stands in the head: of longer pages no more is read. */
const HEAD_BYTES = 64 * 1024;

/** Null while visitors cannot see the site. */
async function liveOf({ parts }: SignedIn, site: Site): Promise<LivePages | null> {
  try {
    return await parts.comments.livePages(site);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

async function titleAt({ parts }: SignedIn, live: LivePages | null, path: string): Promise<string | null> {
  const found = live && pageOf(live, path);
  const file = found && live.files.get(found.file.path);
  if (!file) return null;
  // A page that cannot be read has no title; whoever opens it learns the rest.
  const head = async () => (await parts.store.blobs.open(file)).slice(0, HEAD_BYTES).bytes();
  const bytes = await head().catch(() => null);
  return bytes && titleOf(new Page(decodeHtml(bytes as Bytes)));
}

/** The name of each page: its title, or its path in readable letters. */
export async function pageNames(ctx: SignedIn, site: Site, paths: readonly string[]): Promise<Map<string, string>> {
  const live = await liveOf(ctx, site);
  const named = [...new Set(paths)].map(async (path): Promise<[string, string]> => {
    return [path, (await titleAt(ctx, live, path)) ?? decodePath(path) ?? path];
  });
  return new Map(await Promise.all(named));
}
