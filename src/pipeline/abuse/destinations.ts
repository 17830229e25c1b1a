/** Reject 1: a form that asks for a secret and sends it to another domain. */

import { decodePercent } from "../../base/percent.ts";
import type { Warning } from "../../base/types.ts";
import {
  type Address,
  addressOf,
  baseOf,
  fileAt,
  isOfHost,
  movedBase,
  type OwnHost,
  ROOT,
} from "../../html/addresses.ts";
import { decodeEntities } from "../../html/character-references.ts";
import type { Budget } from "../budget.ts";
import { show } from "../show.ts";
import { type Control, type Form, isSubmit, MOST, type PageFacts, type Risk, RISK_NAMES } from "./facts.ts";

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

/** The addresses that each form sends to, as far as the markup shows: its own address and those of its buttons. */
function* targets({ controls }: PageFacts, risky: ReadonlyMap<Form, Risk>, byId: ReadonlyMap<string, Form[]>) {
  for (const [form, risk] of risky) if (form.action) yield { risk, address: form.action };
  for (const control of controls) {
    const address = control.attributes.get("formaction");
    if (!address || !isSubmit(control)) continue;
    for (const form of formsOf(control, byId)) if (risky.has(form)) yield { risk: risky.get(form)!, address };
  }
}

/** The secrets that the page's forms ask for, each with the address that receives it. Each address comes once. */
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

/** The reason to refuse the page. Null if there is none. */
export function foreignForm(sent: readonly { risk: Risk; to: Destination }[]): string | null {
  for (const { risk, to } of sent) {
    if (to.kind === "other") return `a form asks for ${RISK_NAMES[risk]} and sends it to ${to.where}`;
    if (to.kind === "mail") return `a form asks for ${RISK_NAMES[risk]} and sends it by e-mail`;
  }
  return null;
}

/** Warnings of forms that send to an address on the visitor's own machine: such a form is broken, not phishing. */
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

// To whom a page sends what its visitors enter: to the site itself, to another domain, or elsewhere. A site is a domain
// of its own: its host and its version hosts are the same, every other host is another.

type Destination =
  /** `where`: the host as it is shown, because a host may have megabytes; or a text in place of one that cannot be
   *  known. */
  | { kind: "other"; where: string }
  /** The visitor's own machine or network. */
  | { kind: "local"; where: string; loopback: boolean }
  | { kind: "mail" }
  | { kind: "none" };

const NOWHERE: Destination = { kind: "none" };

/** Strings in a script that are addresses. */
const LITERAL = /["'`]\s*((?:https?:)?(?:\/\/|\\\\)[^"'`\s]{1,2000}|[./?#][^"'`\s]{0,2000})/gi;
const MOVES = /\blocation\b|\bopen\s*\(|\bfetch\s*\(|sendBeacon|XMLHttpRequest|\.action\b|\.submit\b|\.src\b/;

/** `javascript:`: other if it names another domain, or moves to an address that cannot be known. */
function ofScript(written: string, own: OwnHost): Destination {
  const code = decodePercent(written) ?? written;
  const literals = [...code.matchAll(LITERAL)].map((found) => destination(found[1]!, [ROOT], own));
  const other = literals.find(({ kind }) => kind === "other");
  if (other) return other;
  if (!MOVES.test(code) || literals.length > 0) return NOWHERE;
  return { kind: "other", where: "an address that a script makes up" };
}

/** An address that names a scheme or a host. Another parser may read it even if ours cannot. */
const ABSOLUTE = /^[\s\0-\x1f]*(?:[a-z][\w+.-]*:|[/\\\s]{2})/i;

function ofAddress(written: string, address: Address, own: OwnHost): Destination {
  if (address.kind === "mail") return { kind: "mail" };
  if (address.kind === "script") return ofScript(address.code, own);
  if (address.kind === "public") return { kind: "other", where: show(address.url.host) };
  if (isOfHost(address)) return { kind: "local", where: show(address.url.host), loopback: address.kind === "loopback" };
  const unread = address.kind === "none" && address.url === null && ABSOLUTE.test(written);
  return unread ? { kind: "other", where: show(written) } : NOWHERE;
}

/** A scheme without slashes: relative to a page of that scheme, and another host's on all others. */
const SCHEME_ALONE = /^[\0- ]*(https?):(?![/\\]{2})/i;

/** A site may be served over http and over https. */
function basesFor(address: string, bases: readonly string[]): readonly string[] {
  const [, scheme] = SCHEME_ALONE.exec(address.replace(/[\t\n\r]/g, "")) ?? [];
  if (scheme === undefined) return bases;
  return [...bases, ...bases.map((base) => base.replace(/^https?:/, scheme.length === 4 ? "https:" : "http:"))];
}

/** `bases`: what the page may take as the base of its addresses; where one of them leads elsewhere, the address does. */
export function destination(address: string, bases: readonly string[], own: OwnHost): Destination {
  const addresses = basesFor(address, bases).map((base) => addressOf(address, base, own));
  // A script is the same on every base, and may be long.
  const told = addresses[0]?.kind === "script" ? addresses.slice(0, 1) : addresses;
  const found = told.map((one) => ofAddress(address, one, own));
  const named = (kind: Destination["kind"]) => found.find((one) => one.kind === kind);
  return named("other") ?? named("mail") ?? named("local") ?? NOWHERE;
}

/** The same for an attribute as it is written in the page. */
const destinationOf = (written: string, bases: readonly string[], own: OwnHost): Destination =>
  destination(decodeEntities(written), bases, own);

/** The possible bases of a page: its own address, and those that it names. */
export function basesOf(bases: readonly string[], path: string): string[] {
  const page = baseOf(path);
  return [page, ...bases.flatMap((base) => movedBase(base, page) ?? []).filter((base) => /^https?:/.test(base))];
}

/** The file of the site that an address leads to. Null if the address is another host's, or if there is no such
 *  file. */
export const ownFile = (address: string, base: string, own: OwnHost): string | null =>
  fileAt(addressOf(address, base, own));

/** The host that an address names, as it is written in the page. */
export function hostOf(written: string): string {
  const address = addressOf(decodeEntities(written), ROOT);
  return isOfHost(address) ? address.url.hostname : "";
}
