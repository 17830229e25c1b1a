/** Texts that docs/server-in-ten-minutes.md, docs/self-hosting.md and docs/watching.md have an operator paste. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./paths.ts";

const manual = (name: string): string => readFileSync(join(ROOT, "docs", name), "utf8");
export const SELF_HOSTING = manual("self-hosting.md");
export const WATCHING = manual("watching.md");
export const TEN_MINUTES = manual("server-in-ten-minutes.md");

export interface Block {
  language: string;
  text: string;
}

/** The fenced blocks of a page, in their order. */
export const blocksOf = (page: string): Block[] =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = "", text = ""]) => ({ language, text }));

const BLOCKS = [...blocksOf(TEN_MINUTES), ...blocksOf(SELF_HOSTING), ...blocksOf(WATCHING)];

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
export const RENEWAL_HOOK = block("sh", '"$RENEWED_LINEAGE/privkey.pem"');
export const CERTBOT = block("sh", "certbot certonly");
export const START = block("sh", "systemctl enable --now svc\n");
export const DOCTOR = block("sh", "svc-server doctor --data-dir /var/lib/svc)");
export const INVITE = block("sh", "account invite");
export const INSTALL_COMMAND = block("sh", "npm install --global");
export const BUCKET = block("sh", "cat >> /etc/svc/env");
export const FIRST_BACKUP = block("sh", "/srv/backup/first");
export const BEHIND_CADDY = block("sh", "echo SVC_TRUST_PROXY=");
export const BY_ITSELF = block("sh", "SVC_DNS_HOOK=/usr/local/bin/svc-dns SVC_HTTP_PORT=80");
export const PROXY_SETTINGS = block("", "SVC_TRUST_PROXY=");
export const NGINX = block("nginx", "upstream svc");
export const NGINX_OWN_NAME = block("nginx", "docs.firm.example");
export const CADDY = block("caddyfile", "/etc/svc/cert.pem");
export const CADDY_DNS = block("caddyfile", "dns cloudflare");
export const CADDY_OWN_NAME = block("caddyfile", "docs.firm.example");

/** Variables, read from lines `NAME=value`. */
export const variablesOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(SVC_\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));

/** A directive's values, in their order. */
export const directive = (unit: string, name: string): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value]) => value!);
