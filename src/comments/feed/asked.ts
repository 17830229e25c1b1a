/** What a client asks of a feed beside its address: in whose words, and how much of it. */
import { ANNO } from "./vocabulary.ts";

/** A member of Accept or Prefer: its name, and its parameters as they stand. Quoted values may hold commas. */
const MEMBER = /([^\s,;]+)((?:\s*;\s*[^\s,;=]+\s*=\s*(?:"[^"]*"|[^\s,;"]*))*)/g;
const PARAMETER = /;\s*([^\s,;=]+)\s*=\s*(?:"([^"]*)"|([^\s,;"]*))/g;

interface Member {
  name: string;
  parameters: ReadonlyMap<string, string>;
}

const membersOf = (header: string | null): Member[] =>
  [...(header ?? "").matchAll(MEMBER)].map(([, name, parameters]) => ({
    name: name!.toLowerCase(),
    parameters: new Map(
      [...parameters!.matchAll(PARAMETER)].map(([, key, quoted, plain]) => [key!.toLowerCase(), quoted ?? plain!]),
    ),
  }));

/** Several addresses in one value have spaces between them. */
const names = (value: string | undefined, iri: string): boolean => value?.split(/\s+/).includes(iri) ?? false;

/** Whether Accept names the profile of the Web Annotation model (COMMENTS, ruling 5). */
export const wantsW3c = ({ headers }: Request): boolean =>
  membersOf(headers.get("accept")).some(
    ({ name, parameters }) =>
      name === "application/ld+json" && names(parameters.get("profile"), ANNO) && Number(parameters.get("q") ?? 1) > 0,
  );

/** How much of its contents a client wants of the container (Annotation Protocol 4.1.1). Pages carry them whole, so that
 *  nothing else is to be done for those who want them whole, or not at all. */
const PREFERENCES: readonly (readonly [iri: string, preference: "iris" | "other"])[] = [
  ["http://www.w3.org/ns/oa#PreferContainedIRIs", "iris"],
  ["http://www.w3.org/ns/oa#PreferContainedDescriptions", "other"],
  ["http://www.w3.org/ns/ldp#PreferMinimalContainer", "other"],
];

/** Null where Prefer says nothing that is known. */
export function preferred({ headers }: Request): "iris" | "other" | null {
  const included = membersOf(headers.get("prefer")).map(({ parameters }) => parameters.get("include"));
  return PREFERENCES.find(([iri]) => included.some((value) => names(value, iri)))?.[1] ?? null;
}

/** Null where no page is asked for, undefined where what is asked for is no number. */
export function pageNumber(query: URLSearchParams): number | null | undefined {
  const asked = query.get("page");
  if (asked === null) return null;
  return /^\d{1,6}$/.test(asked) ? Number(asked) : undefined;
}

/** Whether items shall be told as their addresses alone. */
export const asksIris = (query: URLSearchParams): boolean => query.get("iris") === "1";
