/** Which browser there is. */
const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/** Throws a sentence for whoever starts the server. `named`: SVC_CHROME. */
export function findChromium(named: string | null): string {
  const found = named === null ? NAMES.map((name) => Bun.which(name)).find((path) => path !== null) : Bun.which(named);
  if (found) return found;
  throw new Error(
    named === null
      ? `no browser was found: install chromium, or name one in SVC_CHROME (looked for ${NAMES.join(", ")} on PATH)`
      : `there is no program ${named}: SVC_CHROME must be a path to Chromium or Chrome`,
  );
}
