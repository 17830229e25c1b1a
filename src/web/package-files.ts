/** The files of the npm package, path → text. Imported when somebody asks for them: from source they are bundled then. */
import { packageAsJson } from "./built.ts" with { type: "macro" };

export const FILES = JSON.parse(packageAsJson()) as Readonly<Record<string, string>>;
