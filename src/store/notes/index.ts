/** Comments in the database: each call one operation, each change one transaction. */
import type { Bound } from "../operation.ts";
import { ANCHORS, HISTORY } from "./changes.ts";
import { DELIVERIES } from "./deliveries.ts";
import { FEEDS } from "./feed.ts";
import { MODERATING, REMOVING } from "./moderate.ts";
import { RESENDING } from "./outbox.ts";
import { PEOPLE } from "./people.ts";
import { SETTINGS } from "./settings.ts";
import { VIEWING } from "./view.ts";
import { WRITING } from "./write.ts";

export const NOTES = {
  ...SETTINGS,
  ...VIEWING,
  ...FEEDS,
  ...MODERATING,
  ...HISTORY,
  ...PEOPLE,
  ...WRITING,
  ...REMOVING,
  ...ANCHORS,
  ...DELIVERIES,
  ...RESENDING,
};
export type Notes = Bound<typeof NOTES>;
