/** How content gets to a site that is there. */
import type { Context } from "../command.ts";
import { ask } from "../service/api.ts";
import type { Shape } from "../service/shape.ts";
import { STOPPED, zipBody } from "../service/upload.ts";
import type { Spinner } from "../terminal/spinner.ts";
import { count } from "../terminal/units.ts";
import type { OpenedSite } from "./chosen-site.ts";
import { type Content, zipContent } from "./content.ts";

interface Sending<Answer> {
  /** Below the server's base, query included. */
  path: string;
  shape: Shape<Answer>;
  spinner: Spinner;
}

/** Posts it to `path`, and resolves to the answer. */
export async function sendContent<Answer>(
  context: Context,
  { server, credential }: Pick<OpenedSite, "server" | "credential" | "site_id">,
  content: Content,
  { path, shape, spinner }: Sending<Answer>,
): Promise<Answer> {
  spinner.label(`Zipping ${count(content.files.size, "file")}`);
  const zip = zipBody(await zipContent(content), spinner, () => context.terminal.ifStopped(STOPPED.late));
  // Equal content is one version, also where it arrives twice.
  return ask(server, { method: "POST", path, credential, zip, repeatable: true }, shape);
}
