/** The names in a web app's manifest: pictures, and the page where the app begins. */
import { type Json, member } from "../../base/json.ts";
import { LONGEST_URL, type Reference } from "./reference.ts";

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}
const list = (value: Json): Json[] => (Array.isArray(value) ? value : []);

export function webManifestReferences(text: string): Reference[] {
  const manifest = parse(text);
  const shortcuts = list(member(manifest, "shortcuts"));
  const pictures = [manifest, ...shortcuts].flatMap((part) => [
    ...list(member(part, "icons")),
    ...list(member(part, "screenshots")),
  ]);
  const found = [
    ...pictures.map((picture) => ({ url: member(picture, "src"), use: "image" as const })),
    ...[manifest, ...shortcuts]
      .flatMap((part) => [member(part, "start_url"), member(part, "url")])
      .map((url) => ({ url, use: "link" as const })),
  ];
  return found.filter(
    (one): one is { url: string; use: "image" | "link" } =>
      typeof one.url === "string" && one.url.length <= LONGEST_URL,
  );
}
