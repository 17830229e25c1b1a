/** projects.json: which folder became which site, and the tokens that manage it. */
import { existsSync, renameSync } from "node:fs";
import { changeShared, readShared } from "./shared-file.ts";

export interface Link {
  /** Absolute path of the folder or file. */
  folder: string;
  /** True after a deploy without a path: what is deployed is the build folder inside, looked up anew each time. */
  looked_up: boolean;
  /** Absolute path of that build folder, as it was the last time; null for what is deployed by its own path. */
  built: string | null;
  /** The server that issued the tokens, the only one they are sent to. */
  origin: string;
  site_id: string;
  url: string;
  manage_token: string | null;
  claim_token: string | null;
  /** Epoch milliseconds; null when owned. */
  expires_at: number | null;
  /** Epoch milliseconds. Where there are too many links, those that were used longest ago are removed. */
  used_at: number;
}

const MOST_LINKS = 64;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);

/** Files of svc before 2026-11-22 have no `built`. */
const withBuilt = (link: Link): Link => ({ ...link, built: link.built ?? null });

function isLink(value: unknown): value is Link {
  const link = Object(value) as Partial<Record<keyof Link, unknown>>;
  return (
    [link.folder, link.origin, link.site_id, link.url].every(isText) &&
    [link.manage_token, link.claim_token, link.built ?? null].every(isTextOrNull) &&
    typeof link.looked_up === "boolean" &&
    (link.expires_at === null || Number.isFinite(link.expires_at)) &&
    Number.isFinite(link.used_at)
  );
}

/** One folder has one link for each server. */
export const isSamePlace = (a: Pick<Link, "folder" | "origin">, b: Pick<Link, "folder" | "origin">): boolean =>
  a.folder === b.folder && a.origin === b.origin;

const isExpired = (link: Link, now: number): boolean => link.expires_at !== null && link.expires_at <= now;

export interface Links {
  /** All links, the one used last first; those of expired sites are in a list of their own. */
  read(): { live: Link[]; expired: Link[]; /** The file, where it cannot be read. */ broken: string | null };
  /** Adds a link or replaces the one of the same folder and server. */
  save(link: Link): void;
  /** Replaces each link by what `change` returns; null removes it. `used_at` stays. */
  edit(change: (link: Link) => Link | null): void;
  /** Removes the links that match and returns them. */
  remove(matches: (link: Link) => boolean): Link[];
}

function readAll(file: string): Link[] {
  const content = readShared(file);
  const { projects } = Object(content) as { projects?: unknown };
  if (content !== null && !Array.isArray(projects)) throw new Error("no list of projects");
  return ((projects ?? []) as unknown[]).filter(isLink).map(withBuilt);
}

/** `projects.json.broken`, then `.broken-2` and so on: each may hold tokens that another does not. */
function nameAside(file: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? `${file}.broken` : `${file}.broken-${n}`;
    if (!existsSync(name)) return name;
  }
}

/** Lost tokens cannot be made again: a file that cannot be read is renamed, never written over. */
function readToChange(file: string): Link[] {
  try {
    return readAll(file);
  } catch {
    renameSync(file, nameAside(file));
    return [];
  }
}

function readable(file: string): { all: Link[]; broken: string | null } {
  try {
    return { all: readAll(file), broken: null };
  } catch {
    return { all: [], broken: file };
  }
}

export function openLinks(file: string, now: () => number): Links {
  const change = (edit: (links: Link[]) => Link[]) =>
    changeShared(file, () => {
      const kept = edit(readToChange(file)).filter((link) => !isExpired(link, now()));
      return { version: 1, projects: kept.sort((a, b) => b.used_at - a.used_at).slice(0, MOST_LINKS) };
    });
  return {
    read: () => {
      const { all, broken } = readable(file);
      const live = all.filter((link) => !isExpired(link, now())).sort((a, b) => b.used_at - a.used_at);
      return { live, expired: all.filter((link) => !live.includes(link)), broken };
    },
    save: (link) => change((links) => [link, ...links.filter((other) => !isSamePlace(link, other))]),
    edit: (edited) => change((links) => links.map(edited).filter((link) => link !== null)),
    remove: (matches) => {
      const removed = readable(file).all.filter(matches);
      if (removed.length > 0) change((links) => links.filter((link) => !matches(link)));
      return removed;
    },
  };
}
