/** Texts that docs/self-hosting.md tells an operator to paste. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./paths.ts";

export const SELF_HOSTING = readFileSync(join(ROOT, "docs", "self-hosting.md"), "utf8");

const BLOCKS = [...SELF_HOSTING.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({
  language,
  text,
}));

/** The one block of this language that has these words. */
export function block(language: string, words: string): string {
  const found = BLOCKS.filter((one) => one.language === language && one.text.includes(words));
  if (found.length !== 1) throw new Error(`${found.length} blocks of ${language || "text"} have ${words}`);
  return found[0]!.text;
}

export const UNIT = block("ini", "ExecReload=");
export const BACKUP_UNIT = block("ini", "Type=oneshot");
export const BACKUP_TIMER = block("ini", "OnCalendar=");
export const BACKUP_SCRIPT = block("sh", "tail -n +8");
export const INSTALL = block("sh", "useradd");
export const RENEWAL_HOOK = block("sh", "RENEWED_LINEAGE");
export const START = block("sh", "svc-server doctor");
export const PROXY_SETTINGS = block("", "SVC_TRUST_PROXY=");
export const NGINX = block("nginx", "upstream svc");
export const CADDY = block("caddyfile", "reverse_proxy");

/** Variables, read from lines `NAME=value`. */
export const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(SVC_\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));

/** A directive's values, in their order. */
export const directive = (unit: string, name: string): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value]) => value!);
