/** Which rows of a list a page shows. */
import type { AskedPage, ListPage } from "../../serving.ts";

type Span = Omit<ListPage<never>, "rows"> & { offset: number };

/** Past the end it is the last page. */
export function spanOf({ page, per_page }: AskedPage, matching: number): Span {
  const pages = Math.max(1, Math.ceil(matching / per_page));
  const shown = Math.min(Math.max(1, page), pages);
  return { page: shown, pages, matching, offset: (shown - 1) * per_page };
}
