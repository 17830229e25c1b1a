/** Names of previews, which stand in front of a site's own in a host: `<name>--<slug>` (BEYOND 7). */
import { isVersionId } from "./tokens.ts";

/** `xn--` at the beginning of a host's label marks another writing system. */
const NAME = /^(?!xn$)[a-z0-9]+(?:-[a-z0-9]+)*$/;
const LONGEST_LABEL = 63;
/** Parts a version or a preview from its site. */
export const BETWEEN = "--";

export const isPreviewName = (name: string): boolean => NAME.test(name);

/** Whether a preview of the site may have this name. */
export const fitsPreview = (name: string, slug: string): boolean =>
  isPreviewName(name) && !isVersionId(name) && name.length + BETWEEN.length + slug.length <= LONGEST_LABEL;
