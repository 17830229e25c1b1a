/** Prints the text of every statement of the store as JSON: `statement` notes each one as its module is loaded. A program of its
 *  own, for modules that are loaded already would be left out. */
import { plugin } from "bun";
import { join } from "node:path";
import { ROOT } from "../kit/paths.ts";

const HEAD = "export function statement<Row = unknown>(sql: string): Statement<Row> {";
const texts = new Set<string>();
Object.assign(globalThis, { noteStatement: (sql: string) => texts.add(sql) });

plugin({
  name: "statements",
  setup(build) {
    build.onLoad({ filter: /[\\/]store[\\/]operation\.ts$/ }, async ({ path }) => {
      const source = await Bun.file(path).text();
      if (!source.includes(HEAD)) throw new Error(`${path} has no line: ${HEAD}`);
      return { loader: "ts", contents: source.replace(HEAD, `${HEAD}\n  globalThis.noteStatement(sql);`) };
    });
  },
});

/** Not what only SQLite is asked, nor a thread's program. */
const OTHERS = /sqlite[\\/]|postgres[\\/]|writer-thread|\.d\.ts$/;
for await (const file of new Bun.Glob("src/store/**/*.ts").scan({ cwd: ROOT })) {
  if (!OTHERS.test(file)) await import(join(ROOT, file));
}
process.stdout.write(JSON.stringify([...texts]));
