/** Signed in in the browser, without the sign-in's page. */
import type { TestServer } from "../kit/server.ts";
import type { Visitor } from "../kit/visitor.ts";
import type { Browser } from "./chromium.ts";

export async function enter(browser: Browser, server: TestServer, visitor: Visitor): Promise<Visitor> {
  const [name, value] = visitor.cookie.split("=") as [string, string];
  await browser.cdp("Network.clearBrowserCookies");
  await browser.cdp("Network.setCookie", { name, value, url: server.base_url, httpOnly: true, sameSite: "Lax" });
  return visitor;
}
