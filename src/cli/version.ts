/** The version that `svc --version` prints; package.json says the same. */
export const VERSION = "0.3.0";
