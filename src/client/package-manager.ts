/** Finds the package manager that a project uses, so that a hint names a command that works there. */
import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

const MANAGERS = ["npm", "pnpm", "yarn", "bun"] as const;
type PackageManager = (typeof MANAGERS)[number];

const LOCKS: readonly (readonly [file: string, PackageManager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
  ["package-lock.json", "npm"],
  ["npm-shrinkwrap.json", "npm"],
];

const isThere = async (path: string): Promise<boolean> => (await stat(path).catch(() => null)) !== null;

interface Manifest {
  packageManager?: unknown;
  scripts?: { build?: unknown };
}

/** The package.json of a folder; null if there is none that can be read. Only a file is opened: reading a pipe might never
 *  end. */
export async function manifestOf(folder: string): Promise<Manifest | null> {
  const path = join(folder, "package.json");
  try {
    return (await stat(path)).isFile() ? (JSON.parse(await readFile(path, "utf8")) as Manifest) : null;
  } catch {
    return null;
  }
}

async function namedIn(folder: string): Promise<PackageManager | null> {
  const { packageManager } = Object(await manifestOf(folder)) as Manifest;
  const named = typeof packageManager === "string" ? packageManager.split("@")[0] : undefined;
  const known = MANAGERS.find((manager) => manager === named);
  if (known !== undefined) return known;
  for (const [file, manager] of LOCKS) if (await isThere(join(folder, file))) return manager;
  return null;
}

/** Known by the field `packageManager`, else by the lock file, of the folder or of the nearest one above it in its repository:
 *  a workspace has both at its top. npm if neither is there. */
export async function packageManagerOf(folder: string): Promise<PackageManager> {
  for (let at = folder; ; at = dirname(at)) {
    const named = await namedIn(at);
    if (named !== null) return named;
    if (at === dirname(at) || (await isThere(join(at, ".git")))) return "npm";
  }
}

/** The command that runs a script, such as `pnpm run build`: all four take this form. */
export const runScript = (manager: PackageManager, script: string): string => `${manager} run ${script}`;
