/** What the feed of comments tells, as JSON-LD (COMMENTS 1): pure, of what everybody may see. */
import { annotation } from "./feed/annotations.ts";
import { collection, container, exported, history, page } from "./feed/collections.ts";
import type { FeedDocuments } from "./types.ts";

export const feedDocuments: FeedDocuments = { annotation, collection, page, container, exported, history };
