/** The settings of svc-server, a row each: `--help`, `--print-config` and the docs tests read them in this order. The limits
 *  on calls are in rates.ts. */
import { availableParallelism } from "node:os";
import { RATE_SETTINGS } from "./rates.ts";
import { SHARED_SETTINGS } from "./shared.ts";
import { isSigningKey } from "../base/tokens.ts";
import { durationText, sizeText } from "../base/units.ts";
import {
  DURATION,
  duration,
  filled,
  networks,
  servers,
  integer,
  onOrOff,
  oneOf,
  orOff,
  percent,
  quotaSize,
  setting,
  type Setting,
  SIZE,
  size,
  variable,
  backupPlace,
  baseUrl,
  domain,
  secureUrl,
  quota,
} from "./setting.ts";

const LETSENCRYPT = "https://acme-v02.api.letsencrypt.org/directory";

export const SETTINGS = {
  port: setting({
    flag: "--port",
    variables: ["SVC_PORT", "PORT"],
    fallback: "8787",
    meaning: "port to listen on; 0 picks a free one, printed in the ready line",
    allowed: "a number from 0 to 65535",
    parse: integer(0, 65_535),
  }),
  host: setting({
    flag: "--host",
    variables: ["SVC_HOST"],
    fallback: "127.0.0.1",
    meaning: "address to bind",
    allowed: "an address or host name, e.g. 0.0.0.0",
    parse: filled,
  }),
  base_url: setting({
    flag: "--base-url",
    variables: ["SVC_BASE_URL"],
    fallback: null,
    meaning: "where the API is, as clients see it; default http://localhost:<port>",
    allowed: "an http or https URL without a path, e.g. https://svc.example",
    parse: baseUrl,
  }),
  sites_domain: setting({
    flag: "--sites-domain",
    variables: ["SVC_SITES_DOMAIN"],
    fallback: null,
    meaning: "sites live at <slug>.<this>; default: the host of the base URL",
    allowed: "a domain with an optional port, e.g. sites.example or sites.example:8443",
    parse: domain,
  }),
  data_dir: setting({
    flag: "--data-dir",
    variables: ["SVC_DATA_DIR"],
    fallback: "./svc-data",
    meaning: "database and files",
    allowed: "a folder",
    parse: filled,
  }),
  workers: setting({
    flag: "--workers",
    variables: ["SVC_WORKERS"],
    fallback: "1",
    meaning: "serving processes that share the port; more than 1 on Linux only",
    allowed: "a number from 1 to 256, or auto (one per core)",
    parse: (text) => (text === "auto" ? availableParallelism() : integer(1, 256)(text)),
  }),
  signup: setting({
    flag: "--signup",
    variables: ["SVC_SIGNUP"],
    fallback: "open",
    meaning: "who may create an account",
    allowed: "open, invite or closed",
    parse: oneOf("open", "invite", "closed"),
  }),
  trust_proxy: setting({
    flag: "--trust-proxy",
    variables: ["SVC_TRUST_PROXY"],
    fallback: null,
    meaning: "proxies whose X-Forwarded-For and X-Forwarded-Proto are believed",
    allowed: "addresses or CIDR ranges separated by commas, e.g. 127.0.0.1,10.0.0.0/8",
    parse: networks,
  }),
  tls_cert: setting({
    flag: "--tls-cert",
    variables: ["SVC_TLS_CERT"],
    fallback: null,
    meaning: "certificate chain, PEM; with --tls-key the server speaks HTTPS and HTTP/2",
    allowed: "a path to a PEM file",
    parse: filled,
  }),
  tls_key: setting({
    flag: "--tls-key",
    variables: ["SVC_TLS_KEY"],
    fallback: null,
    meaning: "private key of the certificate, PEM",
    allowed: "a path to a PEM file",
    parse: filled,
  }),
  max_files: setting({
    flag: "--max-files",
    variables: ["SVC_MAX_FILES"],
    fallback: "200",
    meaning: "files per deploy",
    allowed: "a number from 1 to 100000",
    parse: integer(1, 100_000),
  }),
  max_bytes: setting({
    flag: "--max-bytes",
    variables: ["SVC_MAX_BYTES"],
    fallback: "10MB",
    meaning: "what a deploy may hold, uncompressed",
    allowed: SIZE,
    parse: size(2 ** 31),
    show: sizeText,
  }),
  max_zip_bytes: setting({
    flag: "--max-zip-bytes",
    variables: ["SVC_MAX_ZIP_BYTES"],
    fallback: "5MB",
    meaning: "size of the uploaded zip",
    allowed: SIZE,
    parse: size(2 ** 31),
    show: sizeText,
  }),
  anonymous_ttl: setting({
    flag: "--anonymous-ttl",
    variables: ["SVC_ANONYMOUS_TTL"],
    fallback: "14d",
    meaning: "lifetime of an anonymous site",
    allowed: DURATION,
    parse: duration,
    show: durationText,
  }),
  gc_interval: setting({
    flag: "--gc-interval",
    variables: ["SVC_GC_INTERVAL"],
    fallback: "5m",
    meaning: "how often expired sites and orphaned files are swept",
    allowed: DURATION,
    parse: duration,
    show: durationText,
  }),
  max_connections: setting({
    flag: "--max-connections",
    variables: ["SVC_MAX_CONNECTIONS"],
    fallback: null,
    meaning: "connections of a process, past which a new one is closed; default: the limit of descriptors less 256",
    allowed: "a number from 1 to 10000000",
    parse: integer(1, 10_000_000),
  }),
  metrics_token: variable("METRICS_TOKEN", {
    fallback: null,
    meaning: "bearer token that GET /metrics answers to; without it, programs on this machine alone",
    allowed: "at least 16 visible ASCII characters",
    parse: (text) => (/^[\x21-\x7e]{16,512}$/.test(text) ? text : undefined),
    secret: true,
  }),
  contact: setting({
    flag: "--contact",
    variables: ["SVC_CONTACT"],
    fallback: null,
    meaning: "where to appeal and report, shown in refusals and on pages of disabled sites",
    allowed: "an e-mail address or URL",
    parse: filled,
  }),
  log: setting({
    flag: "--log",
    variables: ["SVC_LOG"],
    fallback: "text",
    meaning: "access log to stderr",
    allowed: "text, json or off",
    parse: oneOf("text", "json", "off"),
  }),
  anonymous: variable("ANONYMOUS", {
    fallback: "on",
    meaning: "whether sites are made without an account; off: POST /sites without one is 401",
    allowed: "on or off",
    parse: oneOf("on", "off"),
  }),
  challenge: variable("CHALLENGE", {
    fallback: "off",
    meaning: "what anonymous deploys must show: a proof of work, or nothing",
    allowed: "pow or off",
    parse: oneOf("pow", "off"),
  }),
  skew: variable("SKEW", {
    fallback: "7d",
    meaning: "how long a former version gives its scripts, styles and pictures to pages that are open",
    allowed: `${DURATION}, or off`,
    parse: orOff(duration),
    show: durationText,
  }),
  stats: variable("STATS", {
    fallback: "on",
    meaning: "whether visits of sites are counted, without cookies and without keeping who they were",
    allowed: "on or off",
    parse: oneOf("on", "off"),
  }),
  stats_flush: variable("STATS_FLUSH", {
    fallback: "1m",
    meaning: "how often counts of visits go to disk",
    allowed: DURATION,
    parse: duration,
    show: durationText,
  }),
  http_port: setting({
    flag: "--http-port",
    variables: ["SVC_HTTP_PORT"],
    fallback: "off",
    meaning: "a second, plain port beside https: challenges for certificates, and the way to https",
    allowed: "a port from 1 to 65535, or off",
    parse: orOff(integer(1, 65_535)),
  }),
  acme: variable("ACME", {
    fallback: "off",
    fallback_with: { variable: "SVC_DNS_HOOK", fallback: "letsencrypt" },
    meaning:
      "the authority from which the server orders certificates (ACME, RFC 8555); default with SVC_DNS_HOOK: letsencrypt",
    allowed: "off, letsencrypt, or the https URL of a directory",
    parse: orOff((text) => (text === "letsencrypt" ? LETSENCRYPT : secureUrl(text))),
  }),
  acme_ca: variable("ACME_CA", {
    fallback: null,
    meaning: "whom to trust for that authority's own certificate; default: the system's",
    allowed: "a PEM file",
    parse: filled,
  }),
  acme_contact: variable("ACME_CONTACT", {
    fallback: null,
    meaning: "whom the authority may write to",
    allowed: "a mail address",
    parse: (text) => (/^[^\s@,?]{1,200}@[^\s@,?]{1,200}$/.test(text) ? text : undefined),
  }),
  dns_hook: variable("DNS_HOOK", {
    fallback: null,
    meaning: "sets the DNS records that prove the server's own names: <hook> present|cleanup <name> <value>",
    allowed: "a path to a program",
    parse: filled,
  }),
  dns: variable("DNS", {
    fallback: null,
    meaning: "servers that are asked for the proofs of domains; default: the system's",
    allowed: "addresses with an optional port, separated by commas, e.g. 9.9.9.9 or 127.0.0.1:5353",
    parse: servers,
  }),
  domain_recheck: variable("DOMAIN_RECHECK", {
    fallback: "1d",
    meaning: "how often the proof of each domain is looked up again",
    allowed: DURATION,
    parse: duration,
    show: durationText,
  }),
  domain_grace: variable("DOMAIN_GRACE", {
    fallback: "7d",
    meaning: "how long the proof of a domain may be missing before the domain ends",
    allowed: DURATION,
    parse: duration,
    show: durationText,
  }),
  render: setting({
    flag: "--render",
    variables: ["SVC_RENDER"],
    fallback: "off",
    meaning: "whether a headless browser looks at each new version; needs Chromium on this machine",
    allowed: "off or chrome",
    parse: oneOf("off", "chrome"),
  }),
  chrome: variable("CHROME", {
    fallback: null,
    meaning: "that browser; default: the first of chromium, chromium-browser, google-chrome, chrome on PATH",
    allowed: "a path to Chromium or Chrome",
    parse: filled,
  }),
  mcp: onOrOff("MCP", "agents read and answer comments over MCP"),
  webhooks: onOrOff("WEBHOOKS", "what happens in comments is posted to the address that a site's owner set"),
  webhooks_allow: variable("WEBHOOKS_ALLOW", {
    fallback: null,
    meaning: "private networks that webhooks may reach all the same",
    allowed: "addresses or CIDR ranges separated by commas, e.g. 10.1.2.0/24",
    parse: networks,
  }),
  notify: variable("NOTIFY", {
    fallback: null,
    meaning: "where reports, quarantines, errors and what else an operator must know are posted",
    allowed: "an https URL without a user",
    parse: secureUrl,
    secret: true, // such an address is often all that it takes to post there
  }),
  notify_secret: variable("NOTIFY_SECRET", {
    fallback: null,
    meaning: "the key of their signatures (Standard Webhooks)",
    allowed: "16 to 200 visible ASCII characters; behind whsec_ the Base64 of at least 12 bytes",
    parse: (text) => (/^[\x21-\x7e]{16,200}$/.test(text) && isSigningKey(text) ? text : undefined),
    secret: true,
  }),
  preview_ttl: variable("PREVIEW_TTL", {
    fallback: "30d",
    meaning: "lifetime of a preview since its last deploy",
    allowed: DURATION,
    parse: duration,
    show: durationText,
  }),
  quota_account: quota("ACCOUNT", "5GB", "what an account's sites hold"),
  quota_address: quota("ADDRESS", "500MB", "what the unowned sites of one client address hold"),
  keep_versions: variable("KEEP_VERSIONS", {
    fallback: "1000",
    meaning: "versions a site keeps; older ones are removed after a deploy",
    allowed: "a number from 1 to 1000000, or off",
    parse: orOff(integer(1, 1_000_000)),
  }),
  backup: variable("BACKUP", {
    fallback: null,
    meaning: "where backups go by themselves: a folder on another disk, or a bucket",
    allowed: "a folder or s3://bucket/prefix",
    parse: backupPlace,
  }),
  backup_every: variable("BACKUP_EVERY", {
    fallback: "1d",
    meaning: "how old the last backup may be before another is made",
    allowed: DURATION,
    parse: duration,
    show: durationText,
  }),
  backup_keep: variable("BACKUP_KEEP", {
    fallback: "14",
    meaning: "backups that stay; older ones and what only they have are removed",
    allowed: "a number from 1 to 10000",
    parse: integer(1, 10_000),
  }),
  ...SHARED_SETTINGS,
  disk_high: variable("DISK_HIGH", {
    fallback: "90%",
    meaning: "use of the disk from which deploys without an account are refused",
    allowed: "a share from 1% to 100%, or off",
    parse: orOff(percent),
  }),
  ...RATE_SETTINGS,
};

type Name = keyof typeof SETTINGS;
type Parsed<K extends Name> = Exclude<ReturnType<(typeof SETTINGS)[K]["parse"]>, undefined>;
type Optional =
  | "base_url"
  | "sites_domain"
  | "trust_proxy"
  | "tls_cert"
  | "tls_key"
  | "max_connections"
  | "metrics_token"
  | "webhooks_allow"
  | "dns"
  | "acme_ca"
  | "acme_contact"
  | "dns_hook"
  | "chrome"
  | "notify"
  | "notify_secret"
  | "backup"
  | "database_url"
  | "blobs"
  | "s3_endpoint"
  | "region"
  | "access_key_id"
  | "secret_access_key"
  | "session_token"
  | "contact";

/** The values as they are read. Durations are in milliseconds; a setting without a default is null unless it is set. */
export type Values = { [K in Name]: Parsed<K> | (K extends Optional ? null : never) };
