/** The configuration: read once from flags and environment by the rows of settings.ts. `--help`, `--print-config` and the
 *  error for a bad value come from the same rows (CONTRACT 1). */
import { domainName, isAtOrBelow } from "../base/domain-names.ts";
import { hasFlag, type KnownFlag, scanArguments } from "../command/arguments.ts";
import { flagMeant } from "../command/nearest.ts";
import { connectionsAllowed } from "./machine.ts";
import { isInside, namesBucket, type Setting } from "./setting.ts";
import { SETTINGS, type Values } from "./settings.ts";
import { type SharedStore, sharedStore, unfitShared } from "./shared.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** The effective settings, frozen. A missing `base_url` or `sites_domain` is filled in from port and TLS, a missing
 *  `max_connections` from the limit of descriptors. */
export interface Config extends Readonly<Values> {
  /** No trailing slash. With `port` 0 and no base URL its port is 0 until the server listens. */
  readonly base_url: string;
  /** `host` or `host:port`, lower case. */
  readonly sites_domain: string;
  /** The place of the state that several boxes share; null for the data directory's own (SCALE 1). Tests keep blobs in the folder. */
  readonly shared: (Omit<SharedStore, "bucket"> & Partial<Pick<SharedStore, "bucket">>) | null;
}

/** A flag or value cannot be used: the program ends with exit code 2 and this one line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type SettingName = keyof typeof SETTINGS;
const NAMES = Object.keys(SETTINGS) as SettingName[];

interface SettingFlag extends KnownFlag {
  key: SettingName;
}

/** The settings that have a flag; each takes a value. */
export const SETTING_FLAGS: readonly SettingFlag[] = NAMES.flatMap((key) => {
  const { flag } = SETTINGS[key];
  return flag === null ? [] : [{ key, name: flag.slice(2), value: "value" }];
});

export const HELP_FLAG = { name: "help", short: "h", meaning: "this text" } as const;

/** Flags that ask for something else than serving. If several are given, the first row here counts. */
const ASKING_FLAGS = [
  HELP_FLAG,
  { name: "version", meaning: "the version" },
  { name: "print-config", meaning: "the effective settings as JSON" },
] as const;

const SERVER_FLAGS: readonly (KnownFlag & { key?: SettingName })[] = [...ASKING_FLAGS, ...SETTING_FLAGS];

/** The task that the flags ask for; null means to serve. */
export const askedFor = (argv: readonly string[]): (typeof ASKING_FLAGS)[number]["name"] | null =>
  ASKING_FLAGS.find(({ name }) => hasFlag(argv, SERVER_FLAGS, name))?.name ?? null;

function unknownArgument(argument: string): ConfigError {
  const names = argument.startsWith("-") ? SERVER_FLAGS.map(({ name }) => name) : [];
  const way = flagMeant(argument.split("=", 1)[0]!, names, "see svc-server --help.");
  return new ConfigError(`Unknown argument ${argument}: ${way}`);
}

/** `--flag value` and `--flag=value` as a map from key to text. */
function readFlags(argv: readonly string[]): Map<SettingName, string> {
  const found = new Map<SettingName, string>();
  for (const word of scanArguments(argv, SERVER_FLAGS)) {
    if (word.kind !== "flag" || word.known === undefined) throw unknownArgument(word.argument);
    const { written, value } = word;
    const { key } = word.known;
    if (key === undefined) {
      if (value === undefined) continue;
      throw new ConfigError(`${written} takes no value.`);
    }
    if (value === undefined) throw new ConfigError(`${written} needs a value: ${SETTINGS[key].allowed}.`);
    found.set(key, value);
  }
  return found;
}

function readOne(key: SettingName, flags: Map<SettingName, string>, env: Env): unknown {
  const { variables, parse, allowed, flag, secret, only_with, ...row }: Setting<unknown> = SETTINGS[key];
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== "";
  const variable = only_with === undefined || isSet(only_with) ? variables.find(isSet) : undefined;
  const fallback = row.fallback_with && isSet(row.fallback_with.variable) ? row.fallback_with.fallback : row.fallback;
  const text = flags.get(key) ?? (variable ? env[variable]! : fallback);
  if (text === null) return null;
  const value = parse(text);
  if (value !== undefined) return value;
  const shown = secret ? "not usable" : JSON.stringify(text.replace(/:\/\/[^/@]+@/, "://…@"));
  throw new ConfigError(`${flags.has(key) ? flag : variable} is ${shown}: it must be ${allowed}.`);
}

/** Throws `ConfigError`. */
export function readConfig(argv: readonly string[], env: Env): Config {
  const flags = readFlags(argv);
  const values = Object.fromEntries(NAMES.map((key) => [key, readOne(key, flags, env)])) as unknown as Values;
  if ((values.tls_cert === null) !== (values.tls_key === null)) {
    throw new ConfigError("--tls-cert and --tls-key (SVC_TLS_CERT, SVC_TLS_KEY) go together: set both or neither.");
  }
  if ((values.notify === null) !== (values.notify_secret === null)) {
    throw new ConfigError("SVC_NOTIFY and SVC_NOTIFY_SECRET go together: set both or neither.");
  }
  if (values.backup?.startsWith("s3:") && (values.access_key_id === null || values.secret_access_key === null)) {
    throw new ConfigError("For a bucket in SVC_BACKUP set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.");
  }
  if (values.backup !== null && !namesBucket(values.backup) && isInside(values.data_dir, values.backup)) {
    throw new ConfigError("SVC_BACKUP lies in the data directory, which is lost with its disk: name another folder.");
  }
  if (values.workers > 1 && process.platform !== "linux") {
    throw new ConfigError("--workers above 1 (SVC_WORKERS) works on Linux only: elsewhere it must be 1.");
  }
  refuseUnfitShared(values);
  refuseUnfitAcme(values);
  const max_connections = connectionsAllowed(values.max_connections);
  const config = withAddresses({ ...values, max_connections, shared: sharedStore(values) }, values.port);
  refuseUnreachableSites(config);
  return config;
}

/** Whether the server speaks https: with the operator's certificate, or with one that a hook lets it order. */
export const isSecure = ({ tls_cert, acme, dns_hook }: Pick<Values, "tls_cert" | "acme" | "dns_hook">): boolean =>
  tls_cert !== null || (acme !== null && dns_hook !== null);

/** The names that the server itself needs a certificate for. */
export const ownNames = ({ base_url, sites_domain }: Pick<Config, "base_url" | "sites_domain">): [string, string] => [
  new URL(base_url).hostname,
  `*.${sites_domain.replace(/:\d+$/, "")}`,
];

function refuseUnfitShared(values: Values): void {
  const why = unfitShared(values);
  if (why !== null) throw new ConfigError(why);
  const [backup, blobs] = [values.backup, values.blobs].map((place) => place?.replace(/\/$/, ""));
  if (backup !== undefined && backup === blobs) {
    throw new ConfigError("SVC_BACKUP is the place of SVC_BLOBS, and would be lost with it: name another.");
  }
}

/** Whether an authority may certify it: no address, no single word, nothing of this machine alone. */
const isCertifiable = (host: string): boolean => domainName(host) !== null && !isAtOrBelow(host, "localhost");

function refuseUnfitHook({ acme, tls_cert, base_url, sites_domain }: Values): void {
  if (acme === null) {
    throw new ConfigError(
      "SVC_DNS_HOOK is for certificates that the server orders, and SVC_ACME is off: leave that out, or name an authority.",
    );
  }
  if (tls_cert !== null) {
    throw new ConfigError(
      "SVC_DNS_HOOK lets the server order the certificates for its own names, and --tls-cert (SVC_TLS_CERT) gives it another: set one of them.",
    );
  }
  if (base_url === null || !base_url.startsWith("https:") || !isCertifiable(new URL(base_url).hostname)) {
    throw new ConfigError(
      "SVC_DNS_HOOK lets the server order a certificate for the host of its base URL: set --base-url (SVC_BASE_URL) to https://<a public name>.",
    );
  }
  if (sites_domain !== null && !isCertifiable(sites_domain.replace(/:\d+$/, ""))) {
    throw new ConfigError(
      "SVC_DNS_HOOK lets the server order a certificate for the sites: set --sites-domain (SVC_SITES_DOMAIN) to a public name.",
    );
  }
}

/** New certificates come in by another socket on the same port, which Linux alone can steer (BEYOND 10). */
function refuseUnfitAcme(values: Values): void {
  if (values.dns_hook !== null) refuseUnfitHook(values);
  if (values.http_port !== null && !isSecure(values)) {
    throw new ConfigError(
      "--http-port (SVC_HTTP_PORT) is the plain port beside https: set --tls-cert and --tls-key, or SVC_DNS_HOOK, or use --port alone.",
    );
  }
  if (values.http_port !== null && values.http_port === values.port) {
    throw new ConfigError("--http-port (SVC_HTTP_PORT) and --port (SVC_PORT) are the same: choose two.");
  }
  if (values.acme === null) return;
  if (process.platform !== "linux") {
    throw new ConfigError(
      "The server orders certificates itself (SVC_ACME, SVC_DNS_HOOK) on Linux only: elsewhere let a proxy get them, and leave both out.",
    );
  }
  if (!isSecure(values)) {
    throw new ConfigError(
      "SVC_ACME orders certificates for domains beside the server's own: set --tls-cert and --tls-key for those, or SVC_DNS_HOOK, which lets it order them too.",
    );
  }
  if (values.http_port === null && values.dns_hook === null) {
    throw new ConfigError(
      "SVC_ACME needs --http-port (SVC_HTTP_PORT), mostly 80: there the certificate authority looks for its proof.",
    );
  }
}

/** An address such as 192.168.1.5 can have no names below it: browsers do not even take that for a URL. */
function refuseUnreachableSites({ base_url, sites_domain }: Config): void {
  if (URL.canParse(`http://some-site.${sites_domain}`)) return;
  throw new ConfigError(
    `Sites cannot live below ${sites_domain} (base URL ${base_url}): --sites-domain (SVC_SITES_DOMAIN) must be ` +
      "a domain with an optional port, e.g. sites.example or sites.example:8443.",
  );
}

/** Null for a value that ends in port 0: it was made before the system chose the port. */
const settled = (address: string | null): string | null => (address?.endsWith(":0") ? null : address);

/** Fills in base URL and sites domain, which follow the port that was bound. */
export function withAddresses(values: Values & Pick<Config, "shared">, port: number): Config {
  const scheme = isSecure(values) ? "https" : "http";
  const base_url = settled(values.base_url) ?? `${scheme}://localhost:${port}`;
  const sites_domain = settled(values.sites_domain) ?? new URL(base_url).host;
  return Object.freeze({ ...values, port, base_url, sites_domain });
}

function shownValue(key: SettingName, value: unknown): unknown {
  const { secret, show } = SETTINGS[key];
  if (secret && value !== null) return "***";
  return show && typeof value === "number" ? show(value) : value;
}

/** The text of `--print-config`: keys are the flags in snake_case, sizes and durations are shown as they are written, a
 *  secret only as set. */
export const printConfig = (config: Config): string =>
  JSON.stringify(Object.fromEntries(NAMES.map((key) => [key, shownValue(key, config[key])])), null, 2);

/** The text of `--help`; `commands` is the list of the operator's commands. */
export function helpText(commands = ""): string {
  const rows = NAMES.map((key) => {
    const { flag, variables, fallback, meaning, allowed } = SETTINGS[key];
    return [`  ${flag ?? ""}`, variables.join(", "), fallback ?? "none", `${meaning} (${allowed})`] as const;
  });
  const width = (column: 0 | 1 | 2) => Math.max(...rows.map((row) => row[column].length));
  const [flags, variables, defaults] = [width(0), width(1), width(2)];
  const lines = rows.map(([a, b, c, d]) => `${a.padEnd(flags)}  ${b.padEnd(variables)}  ${c.padEnd(defaults)}  ${d}`);
  return `svc-server: turns folders of static files into live sites, on one box.

Usage: svc-server [serve] [flags]
       svc-server <command> [flags]

Commands, which work on the data directory, also while the server runs (svc-server <command> --help tells more):

${commands}
Flags: a flag beats its environment variable, which beats the default. Columns: flag, variable, default, meaning.

${lines.join("\n")}

${ASKING_FLAGS.map(({ name, meaning }) => `  --${name.padEnd(12)}  ${meaning}\n`).join("")}`;
}

/** The address of the store, which goes to threads and deploy processes with their orders. */
export const storeAddress = ({ data_dir, shared }: Pick<Config, "data_dir" | "shared">) => ({ data_dir, ...shared });

/** Settings that boxes of one service have of their own, or that are asked for elsewhere; and all secrets. */
const OF_ONE_BOX: ReadonlySet<SettingName> = new Set<SettingName>([
  ...(["port", "host", "base_url", "sites_domain", "data_dir", "workers", "trust_proxy", "max_connections"] as const),
  ...(["tls_cert", "tls_key", "http_port", "acme_ca", "dns_hook", "log", "render", "chrome", "disk_high"] as const),
  ...(["cache_bytes", "s3_endpoint", "region"] as const),
]);

/** The settings that all boxes of a service should have alike, as JSON, each by its variable (SCALE 1). */
export const sharedSettings = (config: Config): string =>
  JSON.stringify(
    Object.fromEntries(
      NAMES.filter((key) => !OF_ONE_BOX.has(key) && !SETTINGS[key].secret).map((key) => [
        SETTINGS[key].variables[0],
        shownValue(key, config[key]),
      ]),
    ),
  );

/** The environment without the settings that are secret, for processes that have them by message. */
export function withoutSecrets(env: Env): Env {
  const secret = new Set(NAMES.flatMap((key) => (SETTINGS[key].secret ? SETTINGS[key].variables : [])));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secret.has(name)));
}
