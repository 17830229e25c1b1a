/** The service's URL if none is named: a build for a hosted service gets its URL by `--define`. */
declare const SVC_DEFAULT_SERVER: string;

export const BUILT_IN_SERVER =
  typeof SVC_DEFAULT_SERVER === "string" && SVC_DEFAULT_SERVER !== "" ? SVC_DEFAULT_SERVER : "http://localhost:8787";
