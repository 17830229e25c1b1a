/** Where a thread's code is, named from the repository's root: an entry of its own in the binary, under this very name,
 *  and a file in the source (BUN 1). */
export const threadUrl = (entry: `./src/${string}.ts`): string | URL =>
  Bun.isStandaloneExecutable ? entry : new URL(`../${entry}`, import.meta.url);
