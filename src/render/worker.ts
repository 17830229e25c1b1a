/** The code of the process that looks at pages: one page, and then its end. It and the browser are one group of
 *  processes, which ends together. */
import { dieWithParent, lowerPriority, serveParent } from "../run/serve-parent.ts";
import type { Chromium, FromRender, ToRender, Tried } from "./job.ts";
import { visit } from "./visit.ts";
import { startBrowser } from "./browser.ts";

const TRY_MS = 10_000;
/** Pages and deploys come before pictures of them. */
const NICE = 10;

/** The browser too: all of them are of this group. */
function endGroup(): void {
  try {
    process.kill(-process.pid, "SIGKILL");
  } catch {
    process.exit(); // it leads no group
  }
}

/** Whether the browser runs here. */
async function tryOut(wanted: Chromium & { folder: string }): Promise<Tried> {
  const browser = startBrowser({ ...wanted, gate: null, heard: () => {} });
  const late = Bun.sleep(TRY_MS).then(() => Promise.reject(new Error("it did not answer")));
  try {
    const { targetId } = await Promise.race([
      browser.send<{ targetId: string }>("Target.createTarget", { url: "about:blank" }),
      late,
    ]);
    const attach = { targetId, flatten: true };
    const { sessionId } = await browser.send<{ sessionId: string }>("Target.attachToTarget", attach);
    await Promise.race([browser.send("Runtime.evaluate", { expression: "1" }, sessionId), late]);
    return { trouble: null };
  } catch (error) {
    await Bun.sleep(100); // for its last words
    return { trouble: browser.complaint() || (error as Error).message };
  }
}

async function answer(message: ToRender): Promise<void> {
  const said: FromRender = "try" in message ? await tryOut(message.try) : { seen: await visit(message.look) };
  process.send!(said);
}

export function serveRenders(): void {
  serveParent("svc-render", (message: ToRender | "close") => {
    if (message === "close") return endGroup();
    return answer(message);
  });
  // The kernel would end this process alone; the closed channel ends the browser with it.
  dieWithParent(false);
  process.prependListener("disconnect", endGroup);
  lowerPriority(NICE);
}
