/** The door of the library. Runs on Node 18+ and Bun; its declarations are types/lib.d.ts. */
export { collectDist } from "./src/client/collect.ts";
export { BUILD_DIR_CANDIDATES } from "./src/client/build-dir-candidates.ts";
export { resolveDeployDir } from "./src/client/build-dir.ts";
export { deploySite } from "./src/client/deploy-site.ts";
export type { DeployOptions, DeployResult, NextAction } from "./src/client/deploy-site.ts";
