/** People zip the folder, not what is in it. */

/** The one folder that all paths lie in, if it is only wrapping. `.well-known` is an address in its own right. */
export function wrappingFolder(paths: readonly string[]): string | null {
  const folder = paths[0]!.slice(0, paths[0]!.indexOf("/") + 1);
  if (folder === "" || folder === ".well-known/") return null;
  return paths.every((path) => path.startsWith(folder)) ? folder.slice(0, -1) : null;
}
