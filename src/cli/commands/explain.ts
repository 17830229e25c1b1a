/** `svc explain`: tells why an address of a site answers as it does. */
import type { Context, CallWords } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import { ask } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import { ANY } from "../service/wire.ts";
import { bold, columns, dim, green, text, sayWithMark } from "../terminal/text.ts";
import { tellQuarantine } from "./receipt.ts";
import { type ChosenSite, chooseSite, openSite, type OpenedSite, siteAt } from "./chosen-site.ts";
import { withheldSoon } from "./versions.ts";
import { type Infer, array, extend, nullable, pick } from "../../api/shapes/builder.ts";
import * as sites from "../../api/shapes/sites.ts";

const EXPLAINED = extend(pick(sites.EXPLAINED, "url", "version_id", "live", "status", "by", "headers", "steps"), {
  file: nullable(pick(sites.EXPLAINED_FILE, "path")),
  rule: nullable(pick(sites.EXPLAINED_RULE, "path", "text")),
  header_rules: array(pick(sites.HEADER_RULE, "path", "name", "applied", "reason")),
});

/** A path of the site that was deployed from here, or an address with or without its scheme. */
async function chosen(context: Context, given: CallWords): Promise<{ url: string; site: ChosenSite }> {
  const written = given.argument;
  if (written === undefined) throw usage(`Which address? ${svc("explain <url>")}, or a path such as /about.`);
  // A site's host has a dot, so a word without one is meant as a path.
  if (/^[^/.:[]+(?:\/|$)/.test(written))
    throw usage(`${written} is no address: for a path write its slash too, ${svc("explain")} /${written}`);
  const url = written.startsWith("/") || /^[a-z][a-z\d+.-]*:\/\//i.test(written) ? written : `http://${written}`;
  if (given.value("site") !== undefined || url.startsWith("/"))
    return { url, site: chooseSite(context, given, undefined) };
  if (!URL.canParse(url)) throw usage(`${written} is no address: write a URL, or a path such as /about.`);
  return { url, site: await siteAt(context, given, new URL(url).host, svc("explain <url> --site <id>")) };
}

/** Asks for the explanation. An older server, which cannot explain, answers that nothing is there. */
async function askExplain({ server, credential, site_id }: OpenedSite, url: string): Promise<Explained> {
  const path = `/sites/${site_id}/explain?${new URLSearchParams({ url })}`;
  try {
    return await ask(server, { method: "GET", path, credential, repeatable: true }, EXPLAINED);
  } catch (error) {
    if (!(error instanceof ApiFailure) || error.code !== "not_found") throw error;
    throw new Failure(
      "not_found",
      `The server ${server.origin} explains no addresses: it is older than this svc. Upgrade it first.`,
    );
  }
}

/** The lines of `_headers` that made a header. */
const linesOf = (name: string, { header_rules }: Explained): string =>
  header_rules
    .filter((rule) => rule.applied && rule.name.toLowerCase() === name)
    .map(({ path }) => path)
    .join(", ");

function rowsOf(told: Explained): string[] {
  const { by, version_id, live, file, rule, headers } = told;
  const facts = [
    ["by", by],
    ["version", `${version_id}${live ? " [live]" : ""}`],
    ...(file === null ? [] : [["file", file.path]]),
    ...(rule === null ? [] : [["rule", `${rule.path} ${rule.text}`]]),
  ];
  const fields = Object.entries(headers).map(([name, value]) => {
    const lines = linesOf(name, told);
    return ["header", `${name}: ${value}${lines === "" ? "" : ` (${lines})`}`];
  });
  return columns([...facts, ...fields]);
}

export async function explain(context: Context, given: CallWords): Promise<void> {
  const { terminal } = context;
  const { url, site } = await chosen(context, given);
  const opened = await openSite(context, site, 1, ANY);
  const told = await askExplain(opened, url);
  if (given.json) return terminal.json({ ok: true, ...told });
  terminal.result(`${told.status} ${told.url}`);
  for (const row of rowsOf(told)) terminal.result(row);
  if (given.has("quiet")) return;
  tellQuarantine(terminal, (await withheldSoon(opened)).quarantine);
  if (told.steps.length > 0) terminal.say(text`\n  ${bold("What was tried")}`);
  for (const { step, matched, why } of told.steps) {
    sayWithMark(terminal, matched ? green("✓") : dim("·"), `${step}: ${why}`);
  }
  for (const { path, name, applied, reason } of told.header_rules) {
    if (!applied) sayWithMark(terminal, dim("·"), `${path} ${name} does nothing here: ${reason ?? ""}`);
  }
}

type Explained = Infer<typeof EXPLAINED>;
