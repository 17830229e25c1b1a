/** A page that asks for a password and shows itself as somebody else. */
import { type Brand, isBelow } from "./brands.ts";
import type { Picture } from "./facts.ts";
import { typeOf } from "./fields.ts";
import type { Look } from "./signal.ts";
import { hostOf } from "./destinations.ts";
import { plainWords } from "./words.ts";
import { attributesOf } from "../../html/attributes.ts";

/** A picture that stands for the page: none on a button, or in a link that names or leads to the brand. `said`: its
 *  alternative text. */
function isLogo(said: string, { inside }: Picture, word: string, { domains }: Brand): boolean {
  const at = said.indexOf(word);
  if (at < 0 || /^ .*(?:with|using|via|mit|avec|con|com|met) $/.test(said.slice(0, at + 1))) return false;
  if (inside === null) return true;
  const href = attributesOf(inside.written).get("href") ?? "";
  return (
    inside.is !== "button" && !isBelow(hostOf(href), domains) && !plainWords(`${inside.text} ${href}`).includes(word)
  );
}

/** `apple-touch-icon.png` is what any site calls its icon for a phone's home screen. */
const ICON_OF_ANY_SITE = / apple (?=touch|icon|splash|startup|launch)/g;

export const borrowedBrand: Look = ({ page, own, brands, budget }) => {
  if (!page.controls.some((control) => typeOf(control) === "password")) return null;
  const title = plainWords(page.title);
  const pictures = page.pictures.map((picture) => {
    budget.step();
    return [plainWords(picture.alt), picture] as const;
  });
  const icons = page.icons.map((address) => {
    budget.step();
    return [plainWords(address.slice(-200)).replace(ICON_OF_ANY_SITE, " "), hostOf(address)] as const;
  });
  const site = own.slug === null ? `x.${own.sites_domain}` : `${own.slug}.${own.sites_domain}`;
  const brand = brands.find((one) => {
    if (isBelow(site.replace(/:\d+$/, ""), one.domains)) return false;
    const word = plainWords(one.name);
    return (
      title.includes(word) ||
      icons.some(([said, host]) => isBelow(host, one.domains) || said.includes(word)) ||
      pictures.some(([said, picture]) => isLogo(said, picture, word, one))
    );
  });
  if (!brand) return null;
  return {
    name: "borrowed_brand",
    why: `asks for a password and shows itself as ${brand.name}, whose own pages are at ${brand.domains[0]}`,
    fix: `Take the name and the logo of ${brand.name} off the page that asks for a password`,
  };
};
