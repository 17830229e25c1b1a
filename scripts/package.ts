/** The files of the npm package as JSON on stdout, path → text, without a default server. The build runs this (src/web/built.ts):
 *  every server gives the package out, and puts its own address in (BEYOND 14). */
import { join } from "node:path";
import packageJson from "../package.json";
import { cliText, libraryText, TYPES } from "./release/portable.ts";
import { readmeOfPackage } from "./release/absolute-links.ts";
import { ROOT } from "./run.ts";

const { name, version, description, license, type, engines, bin, exports } = packageJson;
const textOf = (path: string): Promise<string> => Bun.file(join(ROOT, path)).text();

const files = {
  "package.json": `${JSON.stringify({ name, version, description, license, type, engines, bin, exports }, null, 2)}\n`,
  LICENSE: await textOf("LICENSE"),
  "README.md": readmeOfPackage(await textOf("README.md")),
  "dist/cli.js": await cliText({}),
  "dist/lib.js": await libraryText({}),
  "dist/lib.d.ts": await Bun.file(TYPES).text(),
};
process.stdout.write(JSON.stringify(files));
