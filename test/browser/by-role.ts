/** A page as somebody knows it who cannot see it: roles and accessible names, from Chromium's own tree. */
import { until } from "../kit/until.ts";
import type { Browser } from "./chromium.ts";

interface AxNode {
  ignored: boolean;
  role?: { value: string };
  name?: { value: string };
  properties?: { name: string; value: { value: unknown } }[];
  backendDOMNodeId?: number;
}

export interface Thing {
  role: string;
  name: string;
  /** `checked`, `invalid`, `focused` and the like. */
  is: Readonly<Record<string, unknown>>;
  dom_node: number;
}

/** All that has a role, in the order of the page. */
export async function things(browser: Browser): Promise<Thing[]> {
  const { nodes } = await browser.cdp<{ nodes: AxNode[] }>("Accessibility.getFullAXTree");
  return nodes
    .filter(({ ignored, backendDOMNodeId }) => !ignored && backendDOMNodeId !== undefined)
    .map(({ role, name, properties = [], backendDOMNodeId }) => ({
      role: role?.value ?? "",
      name: (name?.value ?? "").replace(/\s+/g, " ").trim(),
      is: Object.fromEntries(properties.map((one) => [one.name, one.value.value])),
      dom_node: backendDOMNodeId!,
    }));
}

/** The names of all of a role. */
export const named = async (browser: Browser, role: string): Promise<string[]> =>
  (await things(browser)).filter((thing) => thing.role === role).map(({ name }) => name);

/** The first of that role and name, once it is there. */
export async function byRole(browser: Browser, role: string, name: string | RegExp): Promise<Thing> {
  const fits = (text: string) => (typeof name === "string" ? text === name : name.test(text));
  let found: Thing | undefined;
  const looked = async () => (found = (await things(browser)).find((one) => one.role === role && fits(one.name)));
  await until(async () => (await looked().catch(() => undefined)) !== undefined).catch(async () => {
    const all = (await things(browser)).map((one) => `${one.role} "${one.name}"`);
    throw new Error(`no ${role} named ${String(name)} among ${all.join(", ")}`.slice(0, 4000));
  });
  return found!;
}

/** Does something with the element of a thing: `this` in the function's text. */
export async function on<T>(browser: Browser, { dom_node }: Thing, text: string): Promise<T> {
  const { object } = await browser.cdp<{ object: { objectId: string } }>("DOM.resolveNode", {
    backendNodeId: dom_node,
  });
  const { result } = await browser.cdp<{ result: { value: T } }>("Runtime.callFunctionOn", {
    objectId: object.objectId,
    functionDeclaration: `function () { ${text} }`,
    returnByValue: true,
    userGesture: true,
  });
  return result.value;
}

const MARK = "data-test-pressed";

/** A click with the mouse. */
export async function press(browser: Browser, role: string, name: string | RegExp): Promise<void> {
  const thing = await byRole(browser, role, name);
  await on(browser, thing, `this.scrollIntoView({ block: "center" }); this.setAttribute("${MARK}", "")`);
  await browser.click(`[${MARK}]`);
  await browser.evaluate(`document.querySelector("[${MARK}]")?.removeAttribute("${MARK}")`).catch(() => {});
}

/** What a field holds instead of what it held. */
export async function fill(browser: Browser, role: string, name: string | RegExp, text: string): Promise<void> {
  const thing = await byRole(browser, role, name);
  // On a busy machine the page may still take the focus elsewhere, where the text is lost: people look at what they type.
  for (let tried = 0; tried < 5; tried++) {
    await on(browser, thing, `this.focus(); this.select?.()`);
    await (text === "" ? browser.press("Backspace") : browser.type(text));
    if (text === "" || (await on<unknown>(browser, thing, "return this.value")) !== "") return;
  }
}

/** Chooses the option with the value. */
export async function choose(browser: Browser, name: string, value: string): Promise<void> {
  const thing = await byRole(browser, "combobox", name);
  await on(browser, thing, `this.value = ${JSON.stringify(value)}`);
}

export const valueOf = async (browser: Browser, role: string, name: string | RegExp): Promise<string> =>
  on<string>(browser, await byRole(browser, role, name), "return this.value");

export const hrefOf = async (browser: Browser, name: string | RegExp): Promise<string> =>
  on<string>(browser, await byRole(browser, "link", name), "return this.href");

/** What has the focus. */
export async function focused(browser: Browser): Promise<Pick<Thing, "role" | "name"> | null> {
  const all = (await things(browser)).filter(({ is, role }) => is.focused === true && role !== "RootWebArea");
  const last = all.at(-1);
  return last ? { role: last.role, name: last.name } : null;
}
