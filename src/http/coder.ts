/** Content codings of whole bodies, made somewhere off the serving thread. */
import type { Bytes } from "../base/types.ts";
import type { Coding } from "./negotiate.ts";

export type Compression = Exclude<Coding, "identity">;

/** `quick`: for whoever waits. `small`: for what is coded once and sent often; takes 35 to 200 times as long. */
export type Effort = "quick" | "small";

/** Null where the coding does not make it smaller, and where somebody's bytes ended what coded them; undefined where it
 *  cannot be done now. `ahead`: nobody waits for it, so it stands behind whoever works for somebody. Never rejects. */
export type Code = (
  bytes: Bytes,
  coding: Compression,
  effort: Effort,
  ahead?: boolean,
) => Promise<Bytes | null | undefined>;
