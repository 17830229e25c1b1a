/** `--wait`: waits for what the server's browser saw of the version. The deploy is live and done, whatever comes of this. */
import { setTimeout as pause } from "node:timers/promises";
import { ask } from "../service/api.ts";
import type { Context, CallWords } from "../command.ts";
import type { Server } from "../saved/server.ts";
import type { Credential } from "../saved/state.ts";
import { SEEN, type Render } from "../service/wire.ts";
import { whileSpinning } from "../terminal/index.ts";
import { dim, green, text, yellow, sayWithMark } from "../terminal/text.ts";
import { tellReceipt } from "./receipt.ts";

interface Deployed {
  server: Server;
  credential: Credential;
  site_id: string;
  version_id: string;
}

const MOST_MS = 60_000;
const LOOK_MS = 500;

/** The browser's receipt; null if the server has no browser. If it takes too long, the status is still pending. */
async function receiptOf({ server, credential, site_id, version_id }: Deployed, now: () => number) {
  const call = { method: "GET", path: `/sites/${site_id}?limit=1`, credential, repeatable: true } as const;
  for (const end = now() + MOST_MS; ; await pause(LOOK_MS)) {
    const { render } = await ask(server, call, SEEN);
    if (render === undefined) return null;
    // A newer version may be live by now: then the browser does not look at this one any more.
    if (render.status !== "pending" || render.version_id !== version_id || now() >= end) return render;
  }
}

function tellRender({ terminal }: Context, render: Render | null | undefined): void {
  if (render === undefined) return sayWithMark(terminal, yellow("!"), "The server did not say what its browser saw.");
  if (render === null) return terminal.say(dim("  This server has no render engine: there is nothing to wait for."));
  const { status, reason, warnings = [], dom_summary } = render;
  if (status === "pending") return terminal.say(dim("  The server's browser has not looked at it yet."));
  if (status === "failed") {
    sayWithMark(terminal, yellow("!"), `The server's browser could not see it: ${reason ?? "it does not say why."}`);
  } else if (warnings.length === 0) {
    const title = dom_summary?.title ? text` “${dom_summary.title}”` : text``;
    terminal.say(text`  ${green("✓")} A browser opened it${title}, and nothing failed.\n`);
  }
  tellReceipt(terminal, { healed: [], warnings });
}

/** Waits, if `--wait` was given. `tell` prints the deploy: with `--json` when everything is known, else at once, as a person
 *  wants the URL first. */
export async function thenWait(
  context: Context,
  given: CallWords,
  deployed: Deployed,
  tell: (more: { render?: Render }) => void,
): Promise<void> {
  if (!given.has("wait")) return tell({});
  if (!given.json) tell({});
  const wait = () => receiptOf(deployed, context.now).catch(() => undefined);
  const render = await whileSpinning(context.terminal, wait, "Waiting for the server's browser");
  if (given.json) tell(render ? { render } : {});
  tellRender(context, render);
}
