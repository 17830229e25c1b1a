/** What of an upload is judged. */
import type { Draft } from "../base/types.ts";

/** Of what the service made, that which somebody wrote. Its own navigation on a thousand pages would cost as much as they,
 *  and say nothing of them. */
export const asWritten = (draft: Draft): Draft => ({
  ...draft,
  files: new Map([...draft.files].map(([path, bytes]) => [path, draft.written?.get(path) ?? bytes])),
});
