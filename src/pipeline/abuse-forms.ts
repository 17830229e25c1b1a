/** Reject 1: a form that asks for a secret and sends it to another domain. */
import { basesOf, type Destination, destinationOf, type OwnHost } from "./abuse-urls.ts";
import { isSubmit } from "./abuse-fields.ts";
import type { Control, Form, PageFacts } from "./abuse-facts.ts";
import { type Risk, RISK_NAMES } from "./abuse-words.ts";
import { decodeEntities } from "./entities.ts";

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

/** The reason to refuse the page; null where there is none. */
export function foreignForm(page: PageFacts, path: string, own: OwnHost): string | null {
  const byId = new Map<string, Form[]>();
  for (const form of page.forms) {
    if (form.id !== null)
      byId.set(decodeEntities(form.id), [...(byId.get(decodeEntities(form.id)) ?? []), form].slice(0, 20));
  }
  const risky = riskyForms(page, byId);
  if (risky.size === 0) return null;
  const bases = basesOf(page.bases, path);
  const seen = new Map<string, Destination>();
  for (const { risk, address } of targets(page, risky, byId)) {
    const found = seen.get(address) ?? destinationOf(address, bases, own);
    seen.set(address, found);
    if (found.kind === "other") return `a form asks for ${RISK_NAMES[risk]} and sends it to ${found.where}`;
    if (found.kind === "mail") return `a form asks for ${RISK_NAMES[risk]} and sends it by e-mail`;
  }
  return null;
}
