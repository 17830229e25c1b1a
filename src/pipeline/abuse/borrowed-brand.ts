/** A page that asks for a password and shows itself as somebody else. */
import type { Budget } from "../budget.ts";
import { type Brand, isBelow } from "./brands.ts";
import { asksForPassword, type PageFacts, type Picture, plainWords } from "./facts.ts";
import type { Look } from "./signal.ts";
import { hostOf } from "./destinations.ts";
import { attributesOf } from "../../html/attributes.ts";

/** The separators between the parts of a page's title. */
const PART = /\s[-‐‑‒]+\s|[–—―|¦:·•»«›‹]|\s[/~]\s/;
/** The words right before and right after a brand that the page signs its visitors in to. */
const BEFORE =
  / (?:sign|log) ?(?:in|on)(?: (?:in ?)?to| at| on)?(?: (?:your|my|the))? $| (?:account|verify|verification)(?: (?:your|my))? $| (?:anmelden|einloggen)(?: bei)? $| (?:connexion|connecter)(?: [aà])? $/;
const BEHIND =
  /^ (?:s )?(?:(?:sign|log) ?(?:in|on)|accounts?|verify|verification|anmelden|anmeldung|einloggen|konto|connexion|compte|cuenta|conta) /;

/** Whether a title calls the page by the brand: a part of its own, with one word more at most, or what one signs in to. */
function entitled(title: string, parts: readonly string[], word: string): boolean {
  const size = word.split(" ").length;
  if (parts.some((part) => part.includes(word) && part.split(" ").length <= size + 1)) return true;
  for (let at = title.indexOf(word); at >= 0; at = title.indexOf(word, at + 1)) {
    if (BEFORE.test(title.slice(Math.max(0, at - 60), at + 1)) || BEHIND.test(title.slice(at + word.length - 1)))
      return true;
  }
  return false;
}

/** A picture, as a visitor sees it. */
interface SeenPicture {
  said: string;
  host: string;
  picture: Picture;
}

const isSaid = ({ said }: SeenPicture, word: string): boolean => said.includes(word);

/** A picture that may be the page's logo: not one on a button, or in a link that names or leads to the brand. */
function isLogo({ said, host, picture: { inside } }: SeenPicture, word: string, { domains }: Brand): boolean {
  if (inside === null && isBelow(host, domains)) return true;
  const at = said.indexOf(word);
  if (at < 0 || /^ .*(?:with|using|via|mit|avec|con|com|met) $/.test(said.slice(0, at + 1))) return false;
  if (inside === null) return true;
  const href = attributesOf(inside.written).get("href") ?? "";
  return (
    inside.is !== "button" && !isBelow(hostOf(href), domains) && !plainWords(`${inside.text} ${href}`).includes(word)
  );
}

/** A row of logos is no disguise. */
const ROW = 3;

/** The pictures that may be the page's logo. Empty if they belong to several brands. */
function picturesOf({ pictures }: PageFacts, brands: readonly Brand[], budget: Budget): SeenPicture[] {
  const seen = pictures.map((picture) => {
    budget.step();
    return { said: plainWords(picture.alt), host: picture.address && hostOf(picture.address), picture };
  });
  // One brand a picture: several of a house have the same hosts.
  const brandOf = (one: SeenPicture): number => {
    budget.step();
    return brands.findIndex(({ word, domains }) => isSaid(one, word) || isBelow(one.host, domains));
  };
  const shown = new Set(seen.map(brandOf));
  shown.delete(-1);
  return shown.size < ROW ? seen : [];
}

/** `apple-touch-icon.png` is what any site calls its icon for a phone's home screen. */
const ICON_OF_ANY_SITE = / apple (?=touch|icon|splash|startup|launch)/g;

export const borrowedBrand: Look = ({ page, own, brands, budget }) => {
  if (!asksForPassword(page)) return null;
  const title = plainWords(page.title);
  const parts = page.title.slice(0, 2000).split(PART).map(plainWords);
  const pictures = picturesOf(page, brands, budget);
  const icons = page.icons.map((address) => {
    budget.step();
    return [plainWords(address.slice(-200)).replace(ICON_OF_ANY_SITE, " "), hostOf(address)] as const;
  });
  const site = own.slug === null ? `x.${own.sites_domain}` : `${own.slug}.${own.sites_domain}`;
  const brand = brands.find((one) => {
    budget.check();
    if (isBelow(site.replace(/:\d+$/, ""), one.domains)) return false;
    const { word } = one;
    return (
      entitled(title, parts, word) ||
      icons.some(([said, host]) => isBelow(host, one.domains) || said.includes(word)) ||
      pictures.some((seen) => isLogo(seen, word, one))
    );
  });
  if (!brand) return null;
  return {
    name: "borrowed_brand",
    why: `asks for a password and shows itself as ${brand.name}, whose own pages are at ${brand.domains[0]}`,
    fix: `Take the name and the logo of ${brand.name} off the page that asks for a password`,
  };
};
