/** Comments that visitors could have written on the sample account's docs site, and what its owner answered. */
import type { DeployResult } from "../lib.ts";
import { StepFailed } from "./run.ts";

/** A call of the site's own host. */
export type Ask = (host: string, path: string, init?: RequestInit) => Promise<Response>;

export const COMMENTED = "/sailing/tides";

interface Talk {
  days_ago: number;
  by: string;
  text: string;
  /** Without one it answers the thread before it. */
  quote?: { exact: string; prefix: string; suffix: string };
}

const OWNER = "Owner";

const TALKS: readonly Talk[] = [
  {
    days_ago: 2,
    by: "Jonas",
    text: "At neaps, too? We draw 0.9 m and would come on Sunday.",
    quote: {
      exact: "two hours on either side of low water",
      prefix: "The harbour dries. For about ",
      suffix: " there is nothing under the inner moorings but mud",
    },
  },
  { days_ago: 1.8, by: OWNER, text: "At neaps you stay afloat in the outer row. Take berth 14." },
  { days_ago: 1.7, by: "Jonas", text: "Berth 14 it is, thank you!" },
  {
    days_ago: 0.2,
    by: "Wilma",
    text: "The chart of 2024 has another datum than the old one. Which is it?",
    quote: { exact: "above chart datum", prefix: "Heights are ", suffix: ", times are local summer time." },
  },
];

/** `at`: puts the server's clock that many days back. */
export async function makeSampleComments(ask: Ask, host: string, site: DeployResult, at: (days_ago: number) => void) {
  const { host: own, origin } = new URL(site.url);
  const cookies = new Map<string, string>();

  async function call(to: string, path: string, method: string, body: object, headers: Record<string, string>) {
    const init = { method, body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } };
    const response = await ask(to, path, init);
    if (!response.ok) throw new StepFailed(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }
  const manage = (path: string, method: string, body: object) =>
    call(host, `/sites/${site.site_id}/comments/${path}`, method, body, {
      authorization: `Bearer ${site.manage_token}`,
    });
  async function visit(by: string, path: string, method: string, body: object): Promise<Response> {
    const cookie = cookies.get(by);
    const headers = { origin, "sec-fetch-site": "same-origin", ...(cookie !== undefined && { cookie }) };
    const response = await call(own, `/_svc/comments/${path}`, method, body, headers);
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) cookies.set(by, set.split(";")[0]!);
    return response;
  }

  await manage("settings", "PATCH", { mode: "anonymous" });
  let thread = "";
  for (const { days_ago, by, text, quote } of TALKS) {
    at(days_ago);
    if (by === OWNER) {
      const { code } = (await (await manage("owner-code", "POST", {})).json()) as { code: string };
      await visit(by, "owner", "POST", { code });
    }
    const source = origin + COMMENTED;
    const target = quote ? { source, selector: { type: "TextQuoteSelector", ...quote } } : thread;
    const is_new = !cookies.has(by);
    const { id } = (await (await visit(by, "", "POST", { body: text, target })).json()) as { id: string };
    if (quote) thread = id;
    if (is_new) await visit(by, "me", "PATCH", { name: by });
  }
  at(0);
}
