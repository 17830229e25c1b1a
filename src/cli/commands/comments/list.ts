/** `svc comments list`: prints the comments, a line each. */
import type { Context, CallWords } from "../../command.ts";
import { usage } from "../../failure.ts";
import { array, extend, type Infer, nullable, pick, type Shape } from "../../../api/shapes/builder.ts";
import * as comments from "../../../api/shapes/comments.ts";
import type { OpenedSite } from "../chosen-site.ts";
import { askComments, known, openComments } from "./opened.ts";

const AUTHOR = pick(comments.AUTHOR, "name");

export const THREAD = extend(pick(comments.THREAD, "status", "page"), {
  comments: array(extend(pick(comments.COMMENT, "id", "text", "visibility"), { by: nullable(AUTHOR) })),
});
const THREAD_PAGE = extend(pick(comments.THREADS, "next_cursor"), { threads: array(THREAD) });
const QUEUE_PAGE = extend(pick(comments.QUEUE, "next_cursor"), {
  items: array(extend(pick(comments.QUEUE.required.items.items, "id", "page", "text"), { by: AUTHOR })),
});

const STATUSES = ["open", "resolved", "all"] as const;
const QUEUES = ["pending", "reported", "rejected"] as const;

/** A line with its columns two spaces apart, so no column may contain two. */
const line = (...columns: string[]): string => columns.map((column) => column.replace(/\s+/g, " ").trim()).join("  ");

/** All pages of a list; a page that leads nowhere is the last. */
async function everyPage<Page extends { next_cursor: string | null }>(
  opened: OpenedSite,
  path: string,
  shape: Shape<Page>,
  query: Record<string, string>,
): Promise<Page[]> {
  const pages: Page[] = [];
  for (let cursor: string | null = null; ;) {
    const fields: Record<string, string> = cursor === null ? query : { ...query, cursor };
    const page: Page = await askComments(opened, `${path}?${new URLSearchParams(fields)}`, shape);
    pages.push(page);
    if (!page.next_cursor || page.next_cursor === cursor) return pages;
    cursor = page.next_cursor;
  }
}

/** The rows of a thread. A comment that waits or was rejected says so; any other has the status of its thread. */
const rowsOf = ({ status, page, comments }: Thread): string[] =>
  comments.map(({ id, by, text, visibility }) =>
    line(id, visibility === "public" ? status : visibility, page, by?.name ?? "-", text ?? "(deleted)"),
  );

function queryOf(given: CallWords): Record<string, string> {
  const page = given.value("page");
  const status = known(given.value("status") ?? "all", STATUSES, "status of threads");
  return { ...(page !== undefined && { page }), ...(status !== "all" && { status }) };
}

async function listQueue({ terminal }: Context, given: CallWords, opened: OpenedSite, state: string): Promise<void> {
  const items = (await everyPage(opened, "queue", QUEUE_PAGE, { state })).flatMap((page) => page.items);
  if (given.json) return terminal.json({ ok: true, items, next_cursor: null });
  for (const { id, page, by, text } of items) terminal.result(line(id, state, page, by.name, text));
}

export async function list(context: Context, given: CallWords): Promise<void> {
  const written = given.value("queue");
  const queue = written === undefined ? undefined : known(written, QUEUES, "queue");
  if (queue !== undefined && (given.has("page") || given.has("status"))) {
    throw usage("--queue lists comments of the whole site: it goes with neither --page nor --status.");
  }
  const query = queryOf(given);
  const opened = await openComments(context, given);
  if (queue !== undefined) return listQueue(context, given, opened, queue);
  const threads = (await everyPage(opened, "threads", THREAD_PAGE, query)).flatMap((page) => page.threads);
  if (given.json) return context.terminal.json({ ok: true, threads, next_cursor: null });
  for (const row of threads.flatMap(rowsOf)) context.terminal.result(row);
}

type Thread = Infer<typeof THREAD>;
