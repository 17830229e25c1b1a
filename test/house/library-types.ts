/** `bun check` fails here when types/lib.d.ts and lib.ts part ways, in either direction. Nothing runs. */
import type * as Declared from "../../types/lib.d.ts";
import type * as Written from "../../lib.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Flat<T> = { [Key in keyof T]: T[Key] };

declare const declared: typeof Declared;
declare const written: typeof Written;

export const writtenIsDeclared: typeof Declared = written;
export const declaredIsWritten: typeof Written = declared;

/** Assignability alone would let an optional member go missing. */
export const sameTypes: [
  Same<Flat<Declared.DeployOptions>, Flat<Written.DeployOptions>>,
  Same<Flat<Declared.DeployResult>, Flat<Written.DeployResult>>,
  Same<Flat<Declared.NextAction>, Flat<Written.NextAction>>,
  Same<Parameters<typeof Declared.resolveDeployDir>, Parameters<typeof Written.resolveDeployDir>>,
  Same<keyof typeof Declared, keyof typeof Written>,
] = [true, true, true, true, true];
