/** The test set of the receipts: sites that are broken in ways that people break them, and sound ones that look like it. */
import { BROKEN_BUILDS } from "./broken-builds.ts";
import { BROKEN_CONTENT } from "./broken-content.ts";
import { BROKEN_NESTED } from "./broken-nested.ts";
import { BROKEN_REFERENCES } from "./broken-references.ts";
import { BROKEN_SOURCES } from "./broken-sources.ts";
import type { Sample } from "./parts.ts";
import { SOUND_CODE } from "./sound-code.ts";
import { SOUND_PAGES } from "./sound-pages.ts";

export const BROKEN: Sample[] = [
  ...BROKEN_BUILDS,
  ...BROKEN_SOURCES,
  ...BROKEN_REFERENCES,
  ...BROKEN_NESTED,
  ...BROKEN_CONTENT,
];
export const SOUND: Sample[] = [...SOUND_PAGES, ...SOUND_CODE];
export { SECRETS } from "./broken-content.ts";
