/** `svc rename`, and `--name` of a deploy: a site of the account gets the name that its owner chose (BEYOND 17). */
import { faultOfName } from "../../base/slugs.ts";
import type { Context, CallWords } from "../command.ts";
import { Failure, usage } from "../failure.ts";
import { svc } from "../invocation.ts";
import type { Server } from "../saved/server.ts";
import type { Credential } from "../saved/state.ts";
import { ask } from "../service/api.ts";
import { ApiFailure } from "../service/refusal.ts";
import { requireSession } from "../service/which-server.ts";
import type { DeployResult } from "../service/wire.ts";
import { dim, green, text, yellow } from "../terminal/text.ts";
import { pick } from "../../api/shapes/builder.ts";
import * as sites from "../../api/shapes/sites.ts";
import { chooseSite, siteGone } from "./chosen-site.ts";
import { isLinkOf } from "./find-link.ts";

const NAMED = pick(sites.SITE, "site_id", "slug", "url");

interface Naming {
  server: Server;
  credential: Credential;
  site_id: string;
  slug: string;
}

/** Repeated it changes nothing more: a site that has the name already keeps it. */
const put = ({ server, credential, site_id, slug }: Naming) =>
  ask(
    server,
    { method: "PUT", path: `/sites/${site_id}/slug`, credential, json: { slug }, repeatable: true },
    NAMED,
  ).catch((error: unknown) => {
    if (!(error instanceof ApiFailure) || error.code !== "not_found") throw error;
    const older = `The server ${server.origin} is older than this svc: names cannot be chosen there until it is upgraded.`;
    throw new Failure("not_found", older);
  });

/** The links of this machine name the new address: the former one goes on all the same. */
function keepUrl({ links }: Context, { server, site_id }: Pick<Naming, "server" | "site_id">, url: string): void {
  const isOurs = isLinkOf(site_id, server);
  try {
    links.edit((link) => (isOurs(link) ? { ...link, url } : link));
  } catch {
    // The site has its name: that a link could not be saved is no failure of it.
  }
}

export async function rename(context: Context, given: CallWords): Promise<void> {
  const { argument: slug } = given;
  const { terminal } = context;
  if (slug === undefined) throw usage(`${svc("rename")} wants the new name: ${svc("rename my-garden")}`);
  const site = chooseSite(context, given, undefined);
  const { site_id, server, link } = site;
  const credential = requireSession(context.env, server, "rename");
  const named = await put({ server, credential, site_id, slug }).catch((error: unknown) => {
    throw error instanceof ApiFailure && error.code === "unknown_site" ? siteGone(context, site) : error;
  });
  keepUrl(context, site, named.url);
  if (given.json) return terminal.json({ ok: true, ...named });
  terminal.say(text`\n  ${green("✓")} The site has its new address`);
  terminal.url(named.url);
  if (link !== null && link.url !== named.url) terminal.say(dim(text`  ${link.url} leads there, for good.`));
}

/** The credential for `--name`, before anything is sent: a name is given by an account, and one of another form never. */
export function nameToBe({ env, server }: Context, given: CallWords): Naming | null {
  const slug = given.value("name");
  if (slug === undefined) return null;
  const credential = requireSession(env, server, "--name");
  const fault = faultOfName(slug, { base_url: server.origin });
  if (fault !== null) throw new Failure("invalid_slug", `${fault.message} Nothing was sent.`);
  return { server, credential, site_id: "", slug };
}

/** The result of a deploy under the name that was asked for. If the site did not get it, `unnamed` says why, and it is live all the
 *  same. */
export async function namedResult(
  naming: Naming | null,
  result: DeployResult,
): Promise<{ result: DeployResult; unnamed: string | null }> {
  if (naming === null) return { result, unnamed: null };
  try {
    const { url } = await put({ ...naming, site_id: result.site_id });
    return { result: { ...result, url }, unnamed: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { result, unnamed: error.message };
  }
}

/** The last lines of a deploy whose site did not get its name. */
export function tellUnnamed({ terminal }: Context, { url, site_id }: DeployResult, unnamed: string): void {
  terminal.insist(text`  ${yellow("!")} It is live at ${url}, and not under the name that you chose. ${unnamed}`);
  terminal.insist(text`    Give it a name: ${svc(`rename <name> --site ${site_id}`)}`);
}
