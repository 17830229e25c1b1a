/** Whether an upload's own configuration, written for another host, sends every path to the index. All of it is text of
 *  a stranger: no pattern in it is ever compiled, and a file too large to be configuration is not read. */
import type { Files } from "../../types.ts";

const MAX_BYTES = 64 * 1024;

const isIndex = (target: unknown): boolean =>
  typeof target === "string" && /^(?:\.?\/)?(?:(?:index|200)(?:\.html)?)?$/.test(target) && target !== "";

/** Shapes that Vercel, Firebase and Azure use for "any path", with or without exceptions such as `(?!api/)`. */
const ANY_PATH =
  /^(?:\*{1,2}|:\w+\*|(?::\w+)?\((?:\(\?!.*\))?(?:\.[*+]|\[\^\.\/?\][*+])\)\??|\.[*+]|\(?\[\^\.\][*+]\)?)$/;
const matchesAny = (source: unknown): boolean =>
  typeof source === "string" && (source.startsWith("!") || ANY_PATH.test(source.replace(/^\^?\/?|\$$/g, "")));

/** `/* /index.html 200` */
const redirects = (text: string): boolean =>
  text.split("\n").some((line) => {
    const [from, to, status] = line.trim().split(/\s+/, 3);
    return from === "/*" && isIndex(to) && /^200!?$/.test(status ?? "");
  });

const tomlValue = (section: string, key: string): string | undefined =>
  new RegExp(`^[ \\t]*${key}[ \\t]*=[ \\t]*["']?([^"'\\s#]+)`, "m").exec(section)?.[1];

const netlify = (text: string): boolean =>
  text
    .split("[[redirects]]")
    .slice(1)
    .some(
      (section) =>
        tomlValue(section, "from") === "/*" &&
        isIndex(tomlValue(section, "to")) &&
        tomlValue(section, "status") === "200",
    );

const withoutComments = (text: string): string =>
  text.replace(/"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)/g, (part) => (part.startsWith("/") ? "" : part));

type Json = { [member: string]: Json } | Json[] | string | number | boolean | null | undefined;

function json(text: string): Json {
  try {
    return JSON.parse(withoutComments(text)) as Json;
  } catch {
    return null;
  }
}

const member = (value: Json, name: string): Json =>
  value && typeof value === "object" && !Array.isArray(value) ? value[name] : undefined;
const list = (value: Json): Json[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);

/** Whether one of `rules` sends any path (under one of the names `from`) to the index (under one of `to`). */
const sendsAll = (rules: Json, from: string[], to: string[]): boolean =>
  list(rules).some(
    (rule) => from.some((name) => matchesAny(member(rule, name))) && to.some((name) => isIndex(member(rule, name))),
  );

const vercel = (text: string): boolean => {
  const config = json(text);
  return (
    sendsAll(member(config, "rewrites"), ["source"], ["destination"]) ||
    sendsAll(member(config, "routes"), ["src"], ["dest"])
  );
};

const firebase = (text: string): boolean =>
  list(member(json(text), "hosting")).some((hosting) =>
    sendsAll(member(hosting, "rewrites"), ["source", "glob", "regex"], ["destination"]),
  );

const azure = (text: string): boolean => {
  const config = json(text);
  return (
    isIndex(member(member(config, "navigationFallback"), "rewrite")) ||
    sendsAll(member(config, "routes"), ["route"], ["rewrite", "serve"])
  );
};

const cloudflare = (text: string): boolean =>
  withoutComments(text)
    .split("\n")
    .some((line) => /^[^#]*not_found_handling"?\s{0,9}[:=]\s{0,9}["']single-page-application["']/.test(line));

const READERS: Record<string, (text: string) => boolean> = {
  _redirects: redirects,
  "vercel.json": vercel,
  "netlify.toml": netlify,
  "firebase.json": firebase,
  "staticwebapp.config.json": azure,
  "wrangler.jsonc": cloudflare,
  "wrangler.json": cloudflare,
  "wrangler.toml": cloudflare,
};

export const hasCatchAll = (files: Files): boolean =>
  Object.entries(READERS).some(([name, reads]) => {
    const bytes = files.get(name);
    return bytes !== undefined && bytes.length <= MAX_BYTES && reads(new TextDecoder().decode(bytes));
  });
