/** What a reader of JSON-LD makes of a document, by the `jsonld` package in safe mode, which refuses whatever it would drop. */
import { join } from "node:path";
import { CONTEXTS } from "./contexts.ts";

/** What is used of it: the types are not there before test/tools is installed. */
interface JsonLd {
  expand(document: object, options: object): Promise<object[]>;
}

const JSONLD = join(import.meta.dir, "..", "..", "tools", "node_modules", "jsonld", "lib", "index.js");
const { default: jsonld } = (await import(JSONLD)) as { default: JsonLd };

async function documentLoader(url: string): Promise<object> {
  const document = CONTEXTS[url];
  if (document === undefined) throw new Error(`no context is known as ${url}`);
  return { contextUrl: null, document, documentUrl: url };
}

/** Throws where anything of it would be dropped. `base`: where the document was found. */
export const expand = (document: object, base: string): Promise<object[]> =>
  jsonld.expand(document, { safe: true, documentLoader, base });
