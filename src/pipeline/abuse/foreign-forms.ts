/** Reject 1: a form that asks for a secret and sends it to another domain. */
import type { Warning } from "../../base/types.ts";
import type { Budget } from "../budget.ts";
import type { OwnHost } from "../../html/addresses.ts";
import { basesOf, type Destination, destinationOf } from "./destinations.ts";
import { isSubmit } from "./fields.ts";
import { type Control, type Form, MOST, type PageFacts } from "./facts.ts";
import { type Risk, RISK_NAMES } from "./words.ts";
import { decodeEntities } from "../../html/entities.ts";

/** Those of a browser: by place, or by the id in `form=`. */
function formsOf(control: Control, byId: ReadonlyMap<string, Form[]>): readonly Form[] {
  const id = control.attributes.get("form");
  return id === undefined ? control.forms : (byId.get(decodeEntities(id)) ?? []);
}

/** The forms that ask for a secret. */
function riskyForms({ controls }: PageFacts, byId: ReadonlyMap<string, Form[]>): Map<Form, Risk> {
  const risky = new Map<Form, Risk>();
  for (const control of controls) {
    const [risk] = control.risks;
    if (risk) for (const form of formsOf(control, byId)) if (!risky.has(form)) risky.set(form, risk);
  }
  return risky;
}

/** Where each form sends, as far as it is told: its own address and those of its buttons. */
function* targets({ controls }: PageFacts, risky: ReadonlyMap<Form, Risk>, byId: ReadonlyMap<string, Form[]>) {
  for (const [form, risk] of risky) if (form.action) yield { risk, address: form.action };
  for (const control of controls) {
    const address = control.attributes.get("formaction");
    if (!address || !isSubmit(control)) continue;
    for (const form of formsOf(control, byId)) if (risky.has(form)) yield { risk: risky.get(form)!, address };
  }
}

/** What the page's forms ask for that is secret, and where they send it: each address once. */
export function secretsSent(
  page: PageFacts,
  path: string,
  own: OwnHost,
  budget: Budget,
): { risk: Risk; to: Destination }[] {
  const byId = new Map<string, Form[]>();
  for (const form of page.forms) {
    if (form.id === null) continue;
    const id = decodeEntities(form.id);
    byId.set(id, [...(byId.get(id) ?? []), form].slice(0, MOST.open_forms));
  }
  const risky = riskyForms(page, byId);
  if (risky.size === 0) return [];
  const bases = basesOf(page.bases, path);
  const sent = new Map<string, { risk: Risk; to: Destination }>();
  for (const { risk, address } of targets(page, risky, byId)) {
    budget.step();
    if (!sent.has(address)) sent.set(address, { risk, to: destinationOf(address, bases, own) });
  }
  return [...sent.values()];
}

/** The reason to refuse the page; null where there is none. */
export function foreignForm(sent: readonly { risk: Risk; to: Destination }[]): string | null {
  for (const { risk, to } of sent) {
    if (to.kind === "other") return `a form asks for ${RISK_NAMES[risk]} and sends it to ${to.where}`;
    if (to.kind === "mail") return `a form asks for ${RISK_NAMES[risk]} and sends it by e-mail`;
  }
  return null;
}

/** Nobody phishes for an address that leads visitors to themselves: such a form is merely broken. */
export function localForms(sent: readonly { risk: Risk; to: Destination }[], path: string): Warning[] {
  return sent.flatMap(({ to }) => {
    if (to.kind !== "local") return [];
    const whose = to.loopback ? "each visitor's own machine" : "a machine that only the author's own network can reach";
    return {
      code: to.loopback ? "localhost_url" : "private_network_url",
      message: `A form of ${path} sends to "${to.where}", which is ${whose}.`,
      path,
      fix_recipe: `Change the form's address "${to.where}" in ${path} to one that visitors can reach.`,
    };
  });
}
