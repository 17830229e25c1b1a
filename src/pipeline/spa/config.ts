/** Whether an upload's own configuration, written for another host, sends every path to the index. All of it is text of
 *  a stranger: no pattern in it is ever compiled, and a file too large to be configuration is not read. */
import { type Json, member } from "../../base/json.ts";
import type { Files } from "../../base/types.ts";

/** Bun's TOML parser takes the square of the number of keys: 0.2 s for this much of them, 2.5 s for four times as much. */
const MAX_BYTES = 64 * 1024;

const isIndex = (target: unknown): boolean =>
  typeof target === "string" && /^(?:\.?\/)?(?:(?:index|200)(?:\.html)?)?$/.test(target) && target !== "";

/** Shapes that Vercel, Firebase and Azure use for "any path", with or without exceptions such as `(?!api/)`. */
const ANY_PATH =
  /^(?:\*{1,2}|:\w+\*|(?::\w+)?\((?:\(\?!.*\))?(?:\.[*+]|\[\^\.\/?\][*+])\)\??|\.[*+]|\(?\[\^\.\][*+]\)?)$/;
const matchesAny = (source: unknown): boolean =>
  typeof source === "string" && (source.startsWith("!") || ANY_PATH.test(source.replace(/^\^?\/?|\$$/g, "")));

/** Null for what cannot be read. */
const tried =
  (parse: (text: string) => unknown) =>
  (text: string): Json => {
    try {
      return parse(text) as Json;
    } catch {
      return null; // no TOML or JSON, or nested deeper than any configuration
    }
  };
const json = tried(Bun.JSONC.parse);
const toml = tried(Bun.TOML.parse);

const list = (value: Json): Json[] => (Array.isArray(value) ? value : value === undefined ? [] : [value]);

/** Whether one of `rules` sends any path (under one of the names `from`) to the index (under one of `to`). */
const sendsAll = (rules: Json, from: string[], to: string[]): boolean =>
  list(rules).some(
    (rule) => from.some((name) => matchesAny(member(rule, name))) && to.some((name) => isIndex(member(rule, name))),
  );

const isRewrite = (status: Json): boolean => status === 200 || status === "200";
const netlify = (text: string): boolean =>
  list(member(toml(text), "redirects")).some(
    (rule) => member(rule, "from") === "/*" && isIndex(member(rule, "to")) && isRewrite(member(rule, "status")),
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

/** Of a Worker, or of one of its environments. */
const cloudflare = (config: Json): boolean =>
  [config, ...Object.values(member(config, "env") ?? {})].some(
    (worker: Json) => member(member(worker, "assets"), "not_found_handling") === "single-page-application",
  );

const READERS: Record<string, (text: string) => boolean> = {
  "vercel.json": vercel,
  "netlify.toml": netlify,
  "firebase.json": firebase,
  "staticwebapp.config.json": azure,
  "wrangler.jsonc": (text) => cloudflare(json(text)),
  "wrangler.json": (text) => cloudflare(json(text)),
  "wrangler.toml": (text) => cloudflare(toml(text)),
};

export const hasCatchAll = (files: Files): boolean =>
  Object.entries(READERS).some(([name, reads]) => {
    const bytes = files.get(name);
    return bytes !== undefined && bytes.length <= MAX_BYTES && reads(new TextDecoder().decode(bytes));
  });
