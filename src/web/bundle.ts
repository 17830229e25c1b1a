/** Bundles the browser scripts that it is given as one script each, and prints them as JSON, by name. */
import { basename } from "node:path";

const { outputs } = await Bun.build({
  entrypoints: process.argv.slice(2),
  target: "browser",
  format: "iife",
  minify: true,
});
const texts = outputs.map(async (output) => [basename(output.path, ".js"), (await output.text()).trim()] as const);
process.stdout.write(JSON.stringify(Object.fromEntries(await Promise.all(texts))));
