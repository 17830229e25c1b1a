/** Paths that are served, or dropped, otherwise than their author may expect. */
import { droppedAs, type Reserved, reservedFor } from "../../base/reserved-paths.ts";
import type { Warning } from "../../base/types.ts";

const WINDOWS_UNSAFE = /[<>:"|?*]|[. ]$/;
const WINDOWS_DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³]) *(\.|$)/i;

export function windowsUnsafe(path: string): Warning[] {
  const segment = path.split("/").find((name) => WINDOWS_UNSAFE.test(name) || WINDOWS_DEVICE.test(name));
  if (segment === undefined) return [];
  return [
    {
      code: "windows_unsafe_name",
      path,
      message: `${path} is served, but Windows cannot keep a file or folder called "${segment}".`,
      fix_recipe: `Rename "${segment}" without < > : " | ? *, without a dot or space at its end, and to no device name such as CON.`,
    },
  ];
}

const KEPT_FOR: Record<Reserved, string> = {
  service: "the service answers under /_svc/ itself, so this file is never served",
  certificates: "certificates are proved under this path, so this file is never served",
  comments: "the service keeps comments at this path; the file is served in their place",
};

export function reservedPath(path: string): Warning[] {
  const reserved = reservedFor(path);
  return reserved !== null
    ? [
        {
          code: "reserved_path",
          path,
          message: `${path} is a reserved path: ${KEPT_FOR[reserved]}.`,
          fix_recipe: `Rename ${path} to a path that the service does not use, and change the links to it.`,
        },
      ]
    : [];
}

export const guessedName = (path: string): Warning => ({
  code: "name_encoding_guessed",
  path,
  message: `The zip does not say in which encoding the name ${path} is; it was read as CP437.`,
  fix_recipe: `Make the zip with a program that writes UTF-8 names, or rename ${path} to plain ASCII.`,
});

/** One warning for each secret file, or for each folder of them: node_modules alone can hold thousands. */
export function droppedSecrets(paths: readonly string[]): Warning[] {
  const by_root = Map.groupBy(paths, secretRoot);
  return [...by_root].map(([root, files]) => {
    const path = files.length === 1 ? files[0]! : `${root}/`;
    return {
      code: "secret_file_dropped",
      path,
      message: `${path} was left out${files.length > 1 ? ` (${files.length} files)` : ""}: such files may hold secrets and are never published.`,
      fix_recipe: `Leave ${root} out of what you deploy.`,
    };
  });
}

/** The shortest beginning of the path that is dropped itself. */
function secretRoot(path: string): string {
  const segments = path.split("/");
  const depth = segments.findIndex((_, index) => droppedAs(segments.slice(0, index + 1).join("/")) === "secret");
  return segments.slice(0, depth + 1).join("/");
}
