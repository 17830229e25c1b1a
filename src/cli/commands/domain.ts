/** `svc domain`: the site's domains of its own (BEYOND 10). */
import { array, object, type Infer, pick } from "../../api/shapes/builder.ts";
import * as sites from "../../api/shapes/sites.ts";
import type { CallWords, Context } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import type { Credential } from "../saved/state.ts";
import { ask } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import { requireSession } from "../service/which-server.ts";
import { ANY } from "../service/wire.ts";
import { columns, dim, green, text, yellow } from "../terminal/text.ts";
import { type ChosenSite, chooseSite, siteGone } from "./chosen-site.ts";

const DOMAIN = pick(
  sites.DOMAIN,
  ...(["domain", "state", "primary", "hsts", "records", "verified_at", "checked_at", "tls"] as const),
);
type Domain = Infer<typeof DOMAIN>;
const LIST = object({ domains: array(DOMAIN) });

interface DomainCall extends ChosenSite {
  credential: Credential;
}

/** The site, and the session: no other credential opens its domains. */
function asked(context: Context, given: CallWords, command: string): DomainCall {
  const site = chooseSite(context, given, undefined);
  return { ...site, credential: requireSession(context.env, site.server, command) };
}

/** An older server has no such route, and a site that is gone none either. */
async function told<T>(context: Context, site: DomainCall, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error;
    if (error.code === "unknown_site") throw siteGone(context, site);
    if (error.code !== "not_found" || !error.message.includes("of the API")) throw error;
    throw new Failure(
      "not_found",
      `The server ${site.server.origin} is older than this svc: sites have no domains there until it is upgraded.`,
    );
  }
}

const pathOf = (site_id: string, domain = "", then = ""): string =>
  `/sites/${site_id}/domains${domain && `/${encodeURIComponent(domain)}`}${then}`;

const SITE_URL = pick(sites.SITE, "url");

/** Scheme and port are those of the site's own address. */
async function urlOf({ server, link, site_id, credential }: DomainCall, { domain }: Pick<Domain, "domain">) {
  const call = { method: "GET", path: `/sites/${site_id}?limit=1`, credential, repeatable: true } as const;
  const url = new URL(link?.url ?? (await ask(server, call, SITE_URL)).url);
  return `${url.protocol}//${domain}${url.port === "" ? "" : `:${url.port}`}/`;
}

function nameIn(given: CallWords, command: string): string {
  if (given.argument !== undefined) return given.argument;
  throw usage(`${svc(command)} wants the domain: ${svc(`${command} www.example.org`)}`);
}

/** The result is the records, one a line, or the address once there is nothing more to set. */
async function show({ terminal }: Context, site: DomainCall, domain: Domain): Promise<void> {
  if (domain.state === "active") return terminal.url(await urlOf(site, domain));
  for (const { type, name, value } of domain.records) terminal.result(`${type} ${name} ${value}`);
}

async function add(context: Context, given: CallWords): Promise<void> {
  const name = nameIn(given, "domain add");
  const site = asked(context, given, "domain add");
  const { server, credential, site_id } = site;
  const call = { method: "POST", path: pathOf(site_id), credential, json: { domain: name }, repeatable: true } as const;
  const domain = await told(context, site, ask(server, call, DOMAIN));
  const { terminal } = context;
  if (given.json) return terminal.json({ ok: true, ...domain });
  if (domain.state === "active") terminal.say(text`\n  ${green("✓")} ${domain.domain} shows this site`);
  else {
    terminal.say(
      text`\n  ${green("✓")} ${domain.domain} waits for its proof. Set one of these two records in its DNS:`,
    );
  }
  await show(context, site, domain);
  if (domain.state === "active") return;
  terminal.say(
    dim(text`  The CNAME also leads visitors here; with the TXT record alone the domain needs an A or AAAA`),
  );
  terminal.say(
    dim(text`  record of this server as well (at the top of a domain, such as example.org, it is the only way).`),
  );
  terminal.say(text`  Then: ${svc(`domain verify ${domain.domain}`)}`);
}

/** The records that stand in the DNS instead, so that a slip of the pen is seen. */
function tellFound({ terminal }: Context, { body }: ApiFailure): void {
  const { found } = (body ?? {}) as { found?: { txt?: unknown; cname?: unknown } };
  if (Array.isArray(found?.txt))
    for (const one of found.txt.slice(0, 5)) terminal.say(text`  Found: TXT ${String(one)}`);
  if (typeof found?.cname === "string") terminal.say(text`  Found: CNAME ${found.cname}`);
}

async function verify(context: Context, given: CallWords): Promise<void> {
  const name = nameIn(given, "domain verify");
  const site = asked(context, given, "domain verify");
  const { server, credential, site_id } = site;
  const call = { method: "POST", path: pathOf(site_id, name, "/verify"), credential, repeatable: true } as const;
  const domain = await told(context, site, ask(server, call, DOMAIN)).catch((error: unknown) => {
    if (error instanceof ApiFailure && error.code === "domain_unproved" && !given.json) tellFound(context, error);
    throw error;
  });
  if (given.json) return context.terminal.json({ ok: true, ...domain });
  context.terminal.say(text`\n  ${green("✓")} ${domain.domain} shows this site`);
  await show(context, site, domain);
}

async function change(context: Context, site: DomainCall, name: string, wanted: { primary?: boolean; hsts?: boolean }) {
  const { server, credential, site_id } = site;
  const call = { method: "PATCH", path: pathOf(site_id, name), credential, json: wanted, repeatable: true } as const;
  return told(context, site, ask(server, call, DOMAIN));
}

const listed = async (context: Context, site: DomainCall): Promise<Domain[]> => {
  const call = { method: "GET", path: pathOf(site.site_id), credential: site.credential, repeatable: true } as const;
  return (await told(context, site, ask(site.server, call, LIST))).domains;
};

async function primary(context: Context, given: CallWords): Promise<void> {
  const name = given.argument;
  if (name === undefined) throw usage(`Which domain? ${svc("domain primary www.example.org")}, or off`);
  const site = asked(context, given, "domain primary");
  const { terminal } = context;
  if (name !== "off") {
    const domain = await change(context, site, name, { primary: true });
    if (given.json) return terminal.json({ ok: true, ...domain });
    terminal.say(text`\n  ${green("✓")} All other addresses of the site lead to ${domain.domain}`);
    return terminal.url(await urlOf(site, domain));
  }
  const before = (await listed(context, site)).find((one) => one.primary);
  if (before !== undefined) await change(context, site, before.domain, { primary: false });
  if (given.json) return terminal.json({ ok: true, primary: null });
  terminal.say(text`\n  ${green("✓")} Each address of the site answers by itself`);
  terminal.result("off");
}

async function hsts(context: Context, given: CallWords): Promise<void> {
  const [name, state] = given.all;
  if (name === undefined || (state !== "on" && state !== "off")) {
    throw usage(`${svc("domain hsts")} wants a domain, and on or off: ${svc("domain hsts www.example.org on")}`);
  }
  const site = asked(context, given, "domain hsts");
  const domain = await change(context, site, name, { hsts: state === "on" });
  if (given.json) return context.terminal.json({ ok: true, ...domain });
  context.terminal.result(state);
}

async function remove(context: Context, given: CallWords): Promise<void> {
  const name = nameIn(given, "domain remove");
  const site = asked(context, given, "domain remove");
  const { server, credential, site_id } = site;
  await told(
    context,
    site,
    ask(server, { method: "DELETE", path: pathOf(site_id, name), credential, repeatable: false }, ANY),
  );
  if (given.json) return context.terminal.json({ ok: true, domain: name });
  context.terminal.say(text`\n  ${green("✓")} ${name} shows nothing any more`);
  context.terminal.result(name);
}

const words = ({ domain, state, primary, hsts, tls }: Domain): string[] => [
  domain,
  state,
  [primary && "primary", hsts && "hsts"].filter(Boolean).join(" "),
  tls.state === "none" ? "" : `certificate ${tls.state}`,
];

async function list(context: Context, given: CallWords): Promise<void> {
  const site = asked(context, given, "domain list");
  const domains = await listed(context, site);
  const { terminal } = context;
  if (given.json) return terminal.json({ ok: true, domains });
  if (domains.length === 0)
    terminal.say(text`  The site has no domain of its own: ${svc("domain add www.example.org")}`);
  for (const line of columns(domains.map(words))) terminal.result(line.trimEnd());
  for (const { domain, tls } of domains)
    if (tls.error !== null) terminal.say(text`  ${yellow("!")} ${domain}: ${tls.error}`);
}

/** The commands about a site's domains. */
export const DOMAIN_COMMANDS = { add, verify, list, primary, hsts, remove };
