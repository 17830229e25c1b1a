/** The recipes of a receipt as they read on this machine: the server knows neither its package manager nor its shell. */
import { join } from "node:path";
import { quoted } from "../../client/build-dir.ts";
import { BUILD_DIR_CANDIDATES } from "../../client/build-dir-candidates.ts";
import { packageManagerOf, runScript } from "../../client/package-manager.ts";
import type { Context } from "../command.ts";
import type { DeployResult, Receipt } from "../service/wire.ts";
import type { Content } from "./content.ts";
import { shownFrom } from "./find-link.ts";

/** As the server writes it: it cannot know better. */
const NPM_BUILD = /\bnpm run build\b/g;

/** Where sources were sent with their build beside them, the recipe ends with the command for the build. */
function withBuild({ cwd }: Context, { files, location }: Content, command: (path: string) => string) {
  const built = BUILD_DIR_CANDIDATES.find((folder) => files.has(`${folder}/index.html`));
  return (warning: DeployResult["warnings"][number]): DeployResult["warnings"][number] => {
    if (built === undefined || warning.code !== "unbuilt_source") return warning;
    const path = shownFrom(cwd, join(location, built));
    return { ...warning, fix_recipe: `${warning.fix_recipe} A build is there already: ${command(quoted(path))}` };
  };
}

/** `command`: the one that sends a path to where this content went. */
export async function localReceipt(
  context: Context,
  receipt: Receipt,
  content: Content,
  command: (path: string) => string,
): Promise<Receipt> {
  const warnings = receipt.warnings.map(withBuild(context, content, command));
  if (!warnings.some(({ fix_recipe }) => fix_recipe.search(NPM_BUILD) >= 0)) return { ...receipt, warnings };
  const build = runScript(await packageManagerOf(content.location), "build");
  return {
    ...receipt,
    warnings: warnings.map((warning) => ({ ...warning, fix_recipe: warning.fix_recipe.replace(NPM_BUILD, build) })),
  };
}
