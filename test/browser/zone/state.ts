/** WEB 10 for one state of the drop zone. */
import { expect } from "bun:test";
import { axeFinds, inScheme, sized } from "../health.ts";
import type { ZoneWorld } from "./world.ts";

/** How a state is reached; what is returned ends it. */
export type Reach = () => Promise<(() => Promise<void>) | void>;

/** Axe finds nothing in light and dark, and 320 px are enough. */
export async function looksRight({ browser }: ZoneWorld, reach: Reach): Promise<void> {
  await sized(browser, 320);
  const end = await reach();
  for (const scheme of ["light", "dark"] as const) {
    await inScheme(browser, scheme);
    expect([scheme, await axeFinds(browser)]).toEqual([scheme, []]);
  }
  expect(await browser.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
  await end?.();
  await inScheme(browser, "light");
  await sized(browser, 1280);
}
