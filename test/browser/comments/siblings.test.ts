/** Abuse 1 of COMMENTS 4: a neighbour's page, to which the browser attaches the victim's cookies because both hosts are of
 *  one site. On `*.localhost` it would not, and the tests would prove nothing. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { until } from "../../kit/until.ts";
import { byRole, fill, named } from "../by-role.ts";
import type { Browser } from "../chromium.ts";
import { click, panelShows } from "./hands.ts";
import { article, type CommentedSite, PASSAGE, World } from "./world.ts";

let world: World;
let browser: Browser;
let victim: CommentedSite;
let evil: CommentedSite;
/** Cookie headers of what the browser sent to the victim, by the page that sent it. */
const cookies = new Map<string, string>();
/** How the victim's host answered. */
let statuses: number[] = [];
beforeAll(async () => {
  world = await World.open();
  ({ browser } = world);
  evil = await world.site({ "index.html": "<!doctype html><title>A neighbour</title><p>Hello.</p>" }, "off");
  browser.on<{ headers: Record<string, string> }>("Network.requestWillBeSentExtraInfo", ({ headers }) => {
    const sent = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    if (
      sent.get("host")?.startsWith(victim.deployed.slug) ||
      sent.get(":authority")?.startsWith(victim.deployed.slug)
    ) {
      cookies.set(sent.get("origin") ?? "", sent.get("cookie") ?? "");
    }
  });
  browser.on<{ response: { url: string; status: number } }>("Network.responseReceived", ({ response }) => {
    if (response.url.startsWith(`${victim.origin}/_svc/comments/`)) statuses.push(response.status);
  });
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

/** Somebody who has written, and moderates too. */
beforeEach(async () => {
  await browser.cdp("Network.clearBrowserCookies");
  cookies.clear();
  victim = await world.site({ "index.html": article() });
  await browser.visit(`${victim.origin}/`);
  await click(browser, "button", "Comments");
  await fill(browser, "textbox", "Comment", "The victim's own words");
  await click(browser, "button", "Post");
  await until(async () => (await victim.texts()).length === 1);
  await browser.visit(await victim.ownerUrl());
  await panelShows(browser, "You moderate as Owner");
  await browser.visit(`${evil.origin}/`);
  statuses = [];
});

const annotation = (): string =>
  JSON.stringify({ target: `${victim.origin}/index.html`, body: "Not the victim's words" });

/** After what the neighbour tried had its time. */
async function untouched(): Promise<void> {
  await until(() => cookies.has(evil.origin));
  await Bun.sleep(300);
  expect(await victim.texts()).toEqual(["The victim's own words"]);
}

const form = (target: string): string => `(() => {
  const frame = document.createElement("iframe");
  frame.name = "into";
  const form = document.createElement("form");
  Object.assign(form, { method: "post", enctype: "text/plain", action: "${victim.origin}/_svc/comments/", target: "${target}" });
  const field = document.createElement("input");
  field.name = ${JSON.stringify(annotation().slice(0, -2))};
  field.value = '"}';
  form.append(field);
  document.body.append(frame, form);
  form.submit();
})()`;

test.each([
  ["a form", "_self"],
  ["a form in a frame", "into"],
])("abuse 1: %s posts nothing, though it has the cookie", async (_, target) => {
  await browser.evaluate(form(target));
  await untouched();
  expect([cookies.get(evil.origin), statuses]).toEqual([expect.stringContaining("svc_cmt="), [403]]);
});

test.each([
  ["text/plain", "no-cors"],
  ["application/x-www-form-urlencoded", "no-cors"],
  ["application/json", "cors"],
])("abuse 1: fetch with %s and mode %s posts nothing", async (type, mode) => {
  await browser.evaluate(`fetch("${victim.origin}/_svc/comments/", {
    method: "POST", mode: "${mode}", credentials: "include",
    headers: { "content-type": "${type}" }, body: ${JSON.stringify(annotation())},
  }).then(() => 0, () => 0)`);
  await untouched();
  if (mode === "no-cors") expect(statuses).toEqual([403]);
  else expect(statuses).not.toContain(201); // the browser asks before, and is told no
});

test.each(["DELETE", "PATCH", "PUT"])("abuse 1: %s by fetch changes nothing", async (method) => {
  for (const path of ["me", "c_x"]) {
    await browser.evaluate(`fetch("${victim.origin}/_svc/comments/${path}", {
      method: "${method}", credentials: "include", headers: { "content-type": "application/json" }, body: "{}",
    }).then(() => 0, () => 0)`);
  }
  await untouched();
});

/** The form of `view` is one that a browser sends by itself, to whoever's page it leads. */
const formOfView = (target: string): string => `(() => {
  const frame = document.createElement("iframe");
  frame.name = "into";
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: "${victim.origin}/_svc/comments/view", target: "${target}" });
  for (const [name, value] of Object.entries({ page: "/index.html", text: "Not the victim's words" })) {
    const field = document.createElement("input");
    form.append(Object.assign(field, { name, value }));
  }
  document.body.append(frame, form);
  form.submit();
})()`;

test("abuse 1: the form of `view` posts nothing from another site, in a frame or not", async () => {
  await browser.evaluate(formOfView("into"));
  await untouched();
  await browser.evaluate(formOfView("_self"));
  await browser.shows("did not come from a page of this site");
  await untouched();
  expect(statuses).toEqual([403, 403]);
});

test.each(["owner", "passcode", "view"])("abuse 1: nothing is entered for the victim by fetch at %s", async (path) => {
  for (const mode of ["no-cors", "cors"]) {
    const got = await browser.evaluate<string>(`fetch("${victim.origin}/_svc/comments/${path}", {
      method: "POST", mode: "${mode}", credentials: "include", headers: { "content-type": "text/plain" },
      body: JSON.stringify({ code: "x", passcode: "open sesame" }),
    }).then(({ type }) => type, () => "blocked")`);
    expect([mode, got]).toEqual([mode, mode === "cors" ? "blocked" : "opaque"]);
  }
  await untouched();
  expect(statuses).toEqual([403]); // of what a browser blocks it tells no status
});

test("abuse 1: after all of it the victim is who they were", async () => {
  for (const [method, path] of Object.entries({ DELETE: "me", PATCH: "me", POST: "owner" })) {
    await browser.evaluate(`fetch("${victim.origin}/_svc/comments/${path}", {
      method: "${method}", mode: "${method === "POST" ? "no-cors" : "cors"}", credentials: "include",
      headers: { "content-type": "text/plain" }, body: '{"name":"Not me"}',
    }).then(() => 0, () => 0)`);
  }
  await untouched();
  await browser.visit(`${victim.origin}/`);
  const me = "fetch('/_svc/comments/me').then((answer) => answer.json())";
  expect(await browser.evaluate<{ name: string }>(me)).toMatchObject({ name: expect.not.stringContaining("Not me") });
  await click(browser, "button", /^Comments/);
  await panelShows(browser, "You moderate as Owner");
});

test("abuse 1: it neither moderates nor reads what the victim reads", async () => {
  const root = await victim.writeOn({ exact: PASSAGE }, "To be resolved?");
  const read = await browser.evaluate<string>(`Promise.all([
    fetch("${victim.origin}/_svc/comments/${root.id}/reject", { method: "POST", mode: "no-cors", credentials: "include" }),
    fetch("${victim.origin}/_svc/comments/threads?page=/index.html", { credentials: "include" }).then((r) => r.text(), () => "refused"),
  ]).then(([, text]) => text)`);
  expect(read).toBe("refused");
  expect(await victim.texts()).toEqual(["The victim's own words", "To be resolved?"]);
  await browser.visit(`${victim.origin}/`);
  await byRole(browser, "button", `Thread on '${PASSAGE}', 0 replies`);
  expect((await named(browser, "button")).filter((name) => name.includes("resolved"))).toEqual([]);
});
