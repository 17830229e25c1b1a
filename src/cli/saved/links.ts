/** Files that the CLI keeps for the user: links of folders, sign-ins, the server. This is projects.json: the site of each folder
 *  that was deployed, and the tokens that manage it. */
import { existsSync, renameSync } from "node:fs";
import { changeShared, readShared } from "./shared-file.ts";

export interface Link {
  /** Absolute path of the folder or file. */
  folder: string;
  /** True after a deploy without a path: what is deployed is the build folder inside, looked up anew each time. */
  looked_up: boolean;
  /** Absolute path of that build folder the last time; null for what is deployed by its own path. */
  built: string | null;
  /** The server that issued the tokens, the only one they are sent to. */
  origin: string;
  site_id: string;
  url: string;
  manage_token: string | null;
  claim_token: string | null;
  /** Epoch milliseconds; null when owned. */
  expires_at: number | null;
  /** Epoch milliseconds. If there are too many links, those used longest ago are removed. */
  used_at: number;
}

const MOST_LINKS = 64;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isAddress = (value: unknown): boolean => isText(value) && URL.canParse(value) && /^https?:/i.test(value);
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);

/** Files of svc before 2026-11-22 have no `built`. */
const withBuilt = (link: Link): Link => ({ ...link, built: link.built ?? null });

function isLink(value: unknown): value is Link {
  const link = Object(value) as Partial<Record<keyof Link, unknown>>;
  return (
    [link.folder, link.site_id].every(isText) &&
    [link.origin, link.url].every(isAddress) &&
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

interface Saved {
  /** The links of folders, one for each folder and server. */
  links: Link[];
  /** Links that another one replaced, to sites without an owner: only they have the tokens that manage those. */
  replaced: Link[];
}

const NOTHING: Saved = { links: [], replaced: [] };

interface SavedLinks {
  /** All links of folders, the one used last first; those of expired sites are in a list of their own. */
  live: Link[];
  expired: Link[];
  /** Links to sites without an owner whose folder has another site by now, the one used last first. */
  replaced: Link[];
  /** The path of the file if it cannot be read. */
  broken: string | null;
}

export interface Links {
  read(): SavedLinks;
  /** Adds a link or replaces the one of the same folder and server. */
  save(link: Link): void;
  /** Replaces each link, also those that were replaced, by what `change` returns; null removes it. */
  edit(change: (link: Link) => Link | null): void;
  /** Removes the links that match, also replaced ones, and returns them. */
  remove(matches: (link: Link) => boolean): Link[];
}

const linksIn = (list: unknown): Link[] => (Array.isArray(list) ? list.filter(isLink).map(withBuilt) : []);

/** Files of svc before 2026-11-23 have no `replaced`. */
function readAll(file: string): Saved {
  const content = readShared(file);
  const { projects, replaced } = Object(content) as { projects?: unknown; replaced?: unknown };
  if (content !== null && !Array.isArray(projects)) throw new Error("no list of projects");
  return { links: linksIn(projects), replaced: linksIn(replaced) };
}

/** `projects.json.broken`, then `.broken-2` and so on: each may hold tokens that another does not. */
function nameAside(file: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? `${file}.broken` : `${file}.broken-${n}`;
    if (!existsSync(name)) return name;
  }
}

/** Lost tokens cannot be made again: a file that cannot be read is renamed, never written over. */
function readToChange(file: string): Saved {
  try {
    return readAll(file);
  } catch {
    renameSync(file, nameAside(file));
    return NOTHING;
  }
}

function readable(file: string): Saved & Pick<SavedLinks, "broken"> {
  try {
    return { ...readAll(file), broken: null };
  } catch {
    return { ...NOTHING, broken: file };
  }
}

/** Whether the site has no owner. An owned site can be reached without its link. */
const isUnowned = ({ expires_at }: Link): boolean => expires_at !== null;

function withLink({ links, replaced }: Saved, link: Link): Saved {
  const [before, others] = [
    links.filter((other) => isSamePlace(link, other)),
    links.filter((other) => !isSamePlace(link, other)),
  ];
  const gone = before.filter((other) => other.site_id !== link.site_id && isUnowned(other));
  return { links: [link, ...others], replaced: [...gone, ...replaced] };
}

export function openLinks(file: string, now: () => number): Links {
  const latest = (links: readonly Link[]): Link[] =>
    links.filter((link) => !isExpired(link, now())).sort((a, b) => b.used_at - a.used_at);
  const change = (edit: (saved: Saved) => Saved) =>
    changeShared(file, () => {
      const { links, replaced } = edit(readToChange(file));
      const kept = latest(replaced.filter(isUnowned)).slice(0, MOST_LINKS);
      return { version: 1, projects: latest(links).slice(0, MOST_LINKS), replaced: kept };
    });
  const changeAll = (edit: (links: Link[]) => Link[]) =>
    change(({ links, replaced }) => ({ links: edit(links), replaced: edit(replaced) }));
  return {
    read: () => {
      const { links, replaced, broken } = readable(file);
      const live = latest(links);
      return { live, expired: links.filter((link) => !live.includes(link)), replaced: latest(replaced), broken };
    },
    save: (link) => change((saved) => withLink(saved, link)),
    edit: (edited) => changeAll((links) => links.map(edited).filter((link) => link !== null)),
    remove: (matches) => {
      const { links, replaced } = readable(file);
      const removed = [...links, ...replaced].filter(matches);
      if (removed.length > 0) changeAll((links) => links.filter((link) => !matches(link)));
      return removed;
    },
  };
}
