/** The folders in which build tools leave a site. It imports nothing, for browsers load it. */

/** Tried in this order. */
export const BUILD_DIR_CANDIDATES = [
  "dist",
  "build",
  "out",
  ".output/public",
  ".vercel/output/static",
  "public",
  "_site",
] as const;
