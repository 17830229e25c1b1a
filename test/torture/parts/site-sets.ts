/** The sites of bench/receipts.md that no rule was written for, by the set and the part of it that they are counted in. */
import { debianSite, type DebianSite } from "./debian-sites.ts";
import { FIFTH } from "./fifth-list.ts";
import { FOURTH } from "./fourth-list.ts";
import { npmSite, type NpmSite } from "./npm-sites.ts";
import { SECOND } from "./second-list.ts";
import { SITES } from "./site-list.ts";
import { THIRD, THIRD_OF_SERVERS } from "./third-list.ts";

export interface Site {
  spec: string;
  read(): Promise<Map<string, Uint8Array>>;
}

export interface SiteSet {
  sites: readonly Site[];
  /** Pages of each that are opened, beside those that a warning names. */
  most: number;
  spread: boolean;
}

const ofNpm = (rows: readonly NpmSite[]): SiteSet => ({
  sites: rows.map((row) => ({ spec: row[0], read: () => npmSite(row) })),
  most: 40,
  spread: false,
});
const ofDebian = (rows: readonly DebianSite[]): SiteSet => ({
  sites: rows.map((row) => ({ spec: `${row[0]}=${row[1]}`, read: () => debianSite(row) })),
  most: 12,
  spread: true,
});

export const SETS: Record<string, SiteSet> = {
  first: ofNpm(SITES),
  second: ofNpm(SECOND),
  third: ofNpm(THIRD),
  "third, interfaces of programs": ofNpm(THIRD_OF_SERVERS),
  "fourth, manuals": ofDebian(FOURTH.manual),
  "fourth, libraries": ofDebian(FOURTH.library),
  "fourth, pages and interfaces": ofDebian(FOURTH.page),
  "fifth, manuals": ofDebian(FIFTH.manual),
  "fifth, libraries": ofDebian(FIFTH.library),
};
