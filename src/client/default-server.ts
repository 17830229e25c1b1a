/** The service's URL if none is named: a build for a hosted service gets its URL by `--define`, and a package that a server gives out
 *  has it in its first line (BEYOND 14). */
declare const SVC_DEFAULT_SERVER: string;

/** Null in a build that is for no service. */
export const GIVEN_SERVER: string | null =
  typeof SVC_DEFAULT_SERVER === "string" && SVC_DEFAULT_SERVER !== "" ? SVC_DEFAULT_SERVER : null;

export const BUILT_IN_SERVER: string = GIVEN_SERVER ?? "http://localhost:8787";
