/** Programs for download: an anonymous site has no name that answers for them, and a program that a page builds
 *  itself passes filters unseen. */
import { LITTLE_TEXT } from "./facts.ts";
import type { Look, Signal } from "./signal.ts";
import { type Address, addressOf } from "../../html/addresses.ts";
import { basesOf, destination } from "./destinations.ts";
import { attributesOf } from "../../html/attributes.ts";
import { decodeEntities } from "../../html/character-references.ts";
import { decodePercent } from "../../base/percent.ts";

const PROGRAM = /\.(?:exe|scr|iso|apk|hta|lnk)$/i;
export const isProgram = (path: string): boolean => PROGRAM.test(path);

const MAY_BE_PROGRAM = /exe|scr|iso|apk|hta|lnk|&|%/i;

/** The address of a link that downloads a program; null for any other. */
function programAt(written: string, base: string): string | null {
  if (!MAY_BE_PROGRAM.test(written)) return null;
  const attributes = attributesOf(written);
  const address = decodeEntities(attributes.get("href") ?? "");
  return isProgram(pathOf(addressOf(address, base))) || isProgram(decodeEntities(attributes.get("download") ?? ""))
    ? address
    : null;
}

function pathOf(address: Address): string {
  const path = address.kind === "own" ? address.path : "url" in address ? (address.url?.pathname ?? "") : "";
  return decodePercent(path) ?? path;
}

/** A page that does not say what it offers: a manual may link to anybody's installer. */
export const program: Look = ({ page, path, own, anonymous, budget }) => {
  if (!anonymous || page.text.length >= LITTLE_TEXT) return null;
  const [base = ""] = basesOf(page.bases, path).slice(-1);
  let address: string | null = null;
  for (const { written } of page.links) {
    budget.step();
    address ??= programAt(written, base);
  }
  if (address === null) return null;
  const where = destination(address, [base], own);
  return programSignal(
    where.kind === "other" ? `offers a program of ${where.where} for download` : "offers a program for download",
  );
};

export const programSignal = (why: string): Signal => ({
  name: "program_download",
  why,
  fix: "Claim the site before it offers programs, or leave them out",
});

const PROGRAM_NAME = /["'`][^"'`\s/\\?#*]{1,200}\.(?:exe|scr|iso|apk|hta|lnk)["'`]/i;
const buildsProgram = (code: string): true | null =>
  (code.includes("createObjectURL") && PROGRAM_NAME.test(code)) || null;

/** A program that a page builds itself passes every filter on the way unseen. */
export const builtProgram: Look = ({ page, path, code }) => {
  if (code.find(page, path, buildsProgram) === null) return null;
  return {
    name: "built_program",
    why: "puts a program together and has visitors save it",
    fix: "Link to the program where it is published",
  };
};
