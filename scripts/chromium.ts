/** A Chromium for the browser tests: the one that is there, else the one that test/tools carries from npm. */
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { withWeakImports } from "./elf.ts";
import { step, StepFailed, TOOLS } from "./run.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/** Unpacked once; in node_modules, so that neither git nor `bun check` sees it. Another name for other content. */
const UNPACKED = join(TOOLS, "node_modules", ".chromium-3");
const LAUNCHER = join(UNPACKED, "launch");
/** Its fonts. */
export const CHROMIUM_FONTS = join(UNPACKED, "fonts");

// The browser's libraries and fonts are its own: set for it alone, not for every child of the tests. In no locale it takes
// names on the disk for ASCII: a folder with any other is dropped in vain.
const LAUNCH = `#!/bin/sh
here=$(dirname "$0")
LC_ALL=C.UTF-8 LD_LIBRARY_PATH="$here/al2023/lib" FONTCONFIG_PATH="$here" exec "$here/chromium" "$@"
`;
// The package's own file looks for fonts where AWS Lambda puts them; without a font every page is blank.
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/** Chromium's NSS asks for SQLite at the first certificate and ends where there is none. The package of the browser has
 *  none; this addon exports SQLite's functions, and needs its host for none of them. */
const SQLITE = join(TOOLS, "node_modules", "sqlite3-native", "prebuilds", "linux-x64", "sqlite3-native.node");

const installed = (): string | null =>
  process.env["BUN_CHROME_PATH"] ||
  NAMES.map((name) => Bun.which(name)).find((path) => path !== null) ||
  (existsSync(MAC) ? MAC : null);

/** Unpacks into a new folder and renames it: a run that ends halfway leaves no folder that looks complete. */
async function unpack(): Promise<void> {
  if (process.platform !== "linux" || process.arch !== "x64") {
    throw new StepFailed("The browser tests need Chromium or Chrome: install one, or set BUN_CHROME_PATH to it.");
  }
  const fresh = `${UNPACKED}-${process.pid}`;
  await mkdir(fresh, { recursive: true });
  const program = 'await (await import("@sparticuz/chromium")).default.executablePath()';
  const env = { TMPDIR: fresh, AWS_LAMBDA_JS_RUNTIME: "nodejs20.x" };
  await step("unpack Chromium", ["-e", program], { cwd: TOOLS, env });
  await writeFile(join(fresh, "al2023", "lib", "libsqlite3.so.0"), withWeakImports(await readFile(SQLITE)));
  await writeFile(join(fresh, "fonts.conf"), FONTS);
  await writeFile(join(fresh, "launch"), LAUNCH);
  await chmod(join(fresh, "launch"), 0o755);
  await chmod(join(fresh, "chromium"), 0o755); // whoever is not root has a sandbox
  await rename(fresh, UNPACKED).catch(() => rm(fresh, { recursive: true }));
}

export const foundChromium = (): string | null => installed() || (existsSync(LAUNCHER) ? LAUNCHER : null);

/** The browser to start. Throws `StepFailed` where there is none and none can be unpacked. */
export async function chromiumPath(): Promise<string> {
  const found = foundChromium();
  if (found === null) await unpack();
  return found ?? LAUNCHER;
}
