/** What the browser tests stand on: a browser that ended takes none of those after it along. */
import { expect, test } from "bun:test";
import { browserProcesses } from "../kit/process.ts";
import { openBrowser } from "./chromium.ts";

test("a browser that is opened as soon as the last one was closed is a new one", async () => {
  const seen = new Set<number>();
  for (let count = 0; count < 4; count++) {
    const browser = await openBrowser();
    const running = browserProcesses(process.pid);
    expect(running).toHaveLength(1);
    seen.add(running[0]!);
    await browser.visit("about:blank");
    await browser.close();
  }
  expect(seen.size).toBe(4);
}, 60_000);
