/** `gc`, `verify`, `health`, `notify --test` and `dns-hook`: the upkeep of a data directory and of its server; `backup` and `restore` are in backups.ts. */
import { readFile } from "node:fs/promises";
import { newDeliveryId } from "../base/tokens.ts";
import { signedMessage } from "../webhooks/delivery.ts";
import { posting } from "../webhooks/post.ts";
import { BACKUPS, verified } from "./backups.ts";
import { type Config, ConfigError, isSecure } from "../config/index.ts";
import { brandNames } from "../base/brand-list.ts";
import { UNIT_MS } from "../base/units.ts";
import { duration } from "../config/setting.ts";
import { boxes, needsShared } from "./boxes.ts";
import type { OperatorCommand } from "./command.ts";
import everyService from "./dns-hook.sh" with { type: "text" };
import cloudflare from "./dns-hook-cloudflare.sh" with { type: "text" };
import hetzner from "./dns-hook-hetzner.sh" with { type: "text" };
import rfc2136 from "./dns-hook-rfc2136.sh" with { type: "text" };
import { counted } from "./print.ts";

const gc: OperatorCommand = {
  name: "gc",
  arguments: [],
  flags: [{ name: "force" }, { name: "bucket" }],
  summary: "sweep now: expired sites, and files that nothing names for an hour",
  details: [
    "--force sweeps even where the database and the files do not seem to belong together. The server does the same by itself every SVC_GC_INTERVAL.",
    "--bucket looks through all of SVC_BLOBS too, and removes objects over an hour old of which the database knows nothing: what a restored database has lost, say.",
  ],
  async run(context, given) {
    const { open, note } = context;
    if (given.has("bucket")) needsShared(context, "gc --bucket");
    const operations = await open();
    const { sites, blobs, temporary } = await operations.sweep(Date.now(), given.has("force"));
    const left = temporary > 0 ? `, ${counted(temporary, "temporary file")}` : "";
    const swept = `swept ${counted(sites, "expired site")} and ${counted(blobs, "orphaned file")}${left}`;
    await operations.record("gc", swept);
    note(swept);
    if (!given.has("bucket")) return;
    const strays = counted(await operations.shared!.strays(true), "stray object");
    await operations.record("gc", `removed ${strays} of the bucket`);
    note(`removed ${strays} of the bucket`);
  },
};

const brands: OperatorCommand = {
  name: "brands",
  arguments: ["[file]"],
  flags: [],
  summary: "print the brands that pages and names may not borrow, or take them from a file",
  details: [
    "Each line is a brand and its domains: `name domain…`, a name of several words in quotes. The server goes by a new list at once, and so do all that share a state.",
  ],
  async run({ open, print, note }, { argument }) {
    const operations = await open();
    if (argument === undefined) return print(await operations.brands());
    const text = await readFile(argument, "utf8");
    const names = brandNames(text);
    const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.trimStart().startsWith("#"));
    if (lines.length > names.length) {
      const wrong = lines.find((line) => brandNames(line).length === 0)!;
      throw new Error(
        `${JSON.stringify(wrong)} in ${argument} is no brand: write \`name domain…\`. Nothing is changed.`,
      );
    }
    await operations.putBrands(text);
    await operations.record("brands", counted(names.length, "brand"));
    note(`${counted(names.length, "brand")} from ${argument}`);
  },
};

/** A sweep that waits for longer lets the disk fill. */
const LONGEST_HOLD_MS = 7 * UNIT_MS.d;

const hold: OperatorCommand = {
  name: "hold",
  arguments: ["<duration>"],
  flags: [],
  summary: "remove no stored file for a while, so that two copies can be made one after the other",
  details: [
    "For a dump of the database (pg_dump) and then a copy of the bucket: what the dump names is there until the copy has it. At most 7d; a new hold takes the place of the one before, and `off` ends it. Expired sites end all the same.",
  ],
  async run({ open, note }, { argument: text = "" }) {
    const ms = text === "off" ? null : duration(text);
    if (ms === undefined || (ms ?? 0) > LONGEST_HOLD_MS) {
      throw new ConfigError(
        `A hold lasts ${JSON.stringify(text)}: it must be a duration of 7d at most, such as 6h, or off.`,
      );
    }
    const operations = await open();
    const until = ms === null ? null : Date.now() + ms;
    await operations.holdUntil(until);
    const said =
      until === null ? "the hold is over" : `no stored file is removed until ${new Date(until).toISOString()}`;
    await operations.record("hold", said);
    note(said);
  },
};

const verify: OperatorCommand = {
  name: "verify",
  arguments: [],
  flags: [],
  summary: "re-hash every stored file; exit code 1 where one is missing or damaged",
  details: [
    "Damaged files (not those that only cannot be read) go to the folder quarantine of the data directory; deploying the same bytes again heals them. The server goes through all of them by itself every 30 days.",
  ],
  run: async (context) => verified(await context.open(), context),
};

/** Less than the 5 s that a container's check is usually given. */
const WAIT_MS = 4_000;

/** The address at which a server that is bound to `host` can be asked from here. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

function addressOf(config: Config): string {
  const { host, port } = config;
  if (port === 0)
    throw new Error("--port 0 lets the server pick a port, which nobody else knows. Give both the same one.");
  return `${isSecure(config) ? "https" : "http"}://${reachable(host)}:${port}`;
}

/** For a program that restarts a server which does not answer: an image has no curl to ask with. */
const health: OperatorCommand = {
  name: "health",
  arguments: [],
  flags: [],
  summary: "ask the server on this machine whether it answers; exit code 1 where it does not",
  details: [
    "It asks /healthz at the address that --host and --port (SVC_HOST, SVC_PORT) name. Who signed the certificate does not matter.",
  ],
  async run({ config, note }) {
    const address = addressOf(await config());
    const options = { signal: AbortSignal.timeout(WAIT_MS), tls: { rejectUnauthorized: false }, proxy: false } as const;
    const status = await fetch(`${address}/healthz`, options).then(
      (answer) => `answers with ${answer.status}`,
      (error: Error) => `does not answer (${"code" in error ? error.code : error.name})`,
    );
    const well = status.endsWith(" 200");
    note(well ? `${address} answers` : `${address} ${status}`);
    return well ? 0 : 1;
  },
};

export const UPKEEP: readonly OperatorCommand[] = [gc, verify, ...BACKUPS, hold, brands, boxes, health];

function adviceOn(why: string): string {
  if (why.includes("no address of the internet")) return " To allow it, name its network in SVC_WEBHOOKS_ALLOW.";
  if (/certificate/.test(why)) return " Name the file of an authority of your own in NODE_EXTRA_CA_CERTS.";
  return "";
}

/** Whether notices reach the operator (CONTRACT 7.5). */
export const notify: OperatorCommand = {
  name: "notify",
  arguments: [],
  flags: [{ name: "test", required: true }],
  summary: "post a test to SVC_NOTIFY and say whether it was taken; exit code 1 where it was not",
  details: [
    "It is signed with SVC_NOTIFY_SECRET, as all notices are. Give it all settings of the server. Once it is taken, notices that wait are sent at once.",
  ],
  async run({ config, open, print }) {
    const { notify: url, notify_secret, base_url, webhooks_allow: allowed } = await config();
    if (url === null || notify_secret === null) {
      throw new Error("There is no address to send notices to: set SVC_NOTIFY and SVC_NOTIFY_SECRET.");
    }
    const now = Date.now();
    const letter = { id: newDeliveryId(), type: "test", created_at: new Date(now).toISOString() };
    const data = { server: base_url, text: `This is a test: notices of ${base_url} arrive here.` };
    const message = signedMessage(letter, { data }, notify_secret, now);
    const { host } = new URL(url); // the rest of the address may be all that it takes to post there
    const posted = await posting()({ url, message, place: "", allowed });
    if (posted.status === null) {
      throw new Error(`${host} did not get the test ${letter.id}: ${posted.why}.${adviceOn(posted.why)}`);
    }
    if (posted.status < 200 || posted.status > 299) {
      throw new Error(`${host} did not take the test ${letter.id}: it answered ${posted.status}.`);
    }
    await (await open()).retryNotices();
    print(`${host} took the test ${letter.id}: it answered ${posted.status} after ${posted.ms} ms\n`);
  },
};

const DNS_HOOKS: ReadonlyMap<string, string> = new Map(Object.entries({ rfc2136, cloudflare, hetzner }));
const DNS_SERVICES = [...DNS_HOOKS.keys()].join(", ");

/** Programs that prove the server's own names to a certificate authority (BEYOND 10). */
export const dnsHook: OperatorCommand = {
  name: "dns-hook",
  arguments: ["<service>"],
  flags: [],
  summary: `print a program for SVC_DNS_HOOK: ${DNS_SERVICES}`,
  details: [
    "rfc2136 is for every name server that takes dynamic updates. Its first lines say what the program needs. Write it to a file, make that executable, and name it in SVC_DNS_HOOK.",
  ],
  async run({ print }, { argument: service = "" }) {
    const text = DNS_HOOKS.get(service);
    if (text === undefined) {
      const why = `There is no program for ${JSON.stringify(service)}: there are ${DNS_SERVICES}.`;
      throw new ConfigError(`${why} For another service take the one that is nearest as a pattern.`);
    }
    print(`${text}\n${everyService}`);
  },
};
