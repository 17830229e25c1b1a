/** The settings of svc-server, a row each. */
import { availableParallelism } from "node:os";
import { COMMENT_SETTINGS } from "./comments.ts";
import { networks } from "./networks.ts";
import { RATE_SETTINGS } from "./rates.ts";
import { RENDER_SETTINGS } from "./render.ts";
import { PREVIEW_SETTINGS } from "./previews.ts";
import { QUOTA_SETTINGS } from "./quotas.ts";
import { SERVING_SETTINGS } from "./serving.ts";
import { durationText, sizeText } from "../base/units.ts";
import { duration, filled, integer, oneOf, type Setting, size } from "./setting.ts";

function baseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search || url.hash) return undefined;
  return url.username || url.password ? undefined : url.origin;
}

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*(?::\\d{1,5})?$`);
const domain = (text: string): string | undefined =>
  DOMAIN.test(text.toLowerCase()) ? text.toLowerCase().replace(/:0*(\d+)$/, ":$1") : undefined;

const SIZE = "a size such as 64KB, 50MB or 2GB (the most), or a number of bytes";

const setting = <T>(row: Setting<T>): Setting<T> => row;

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
    meaning: "who may make an account",
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
    allowed: "a duration such as 30s, 15m, 12h or 14d",
    parse: duration,
    show: durationText,
  }),
  gc_interval: setting({
    flag: "--gc-interval",
    variables: ["SVC_GC_INTERVAL"],
    fallback: "5m",
    meaning: "how often expired sites and orphaned files are swept",
    allowed: "a duration such as 30s, 15m, 12h or 14d",
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
  metrics_token: setting({
    flag: null,
    variables: ["SVC_METRICS_TOKEN"],
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
  challenge: setting({
    flag: null,
    variables: ["SVC_CHALLENGE"],
    fallback: "off",
    meaning: "what anonymous deploys must show: a proof of work, or nothing",
    allowed: "pow or off",
    parse: oneOf("pow", "off"),
  }),
  ...SERVING_SETTINGS,
  ...RENDER_SETTINGS,
  ...COMMENT_SETTINGS,
  ...PREVIEW_SETTINGS,
  ...QUOTA_SETTINGS,
  ...RATE_SETTINGS,
};

type Settings = typeof SETTINGS;
type Parsed<K extends keyof Settings> = Exclude<ReturnType<Settings[K]["parse"]>, undefined>;
type Optional =
  | "base_url"
  | "sites_domain"
  | "trust_proxy"
  | "tls_cert"
  | "tls_key"
  | "max_connections"
  | "metrics_token"
  | "webhooks_allow"
  | "chrome"
  | "contact";

/** Durations in milliseconds. What has no default is null where it is not set. */
export type Values = { [K in keyof Settings]: Parsed<K> | (K extends Optional ? null : never) };
