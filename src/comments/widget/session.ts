/** The widget's state of a page's threads, and how it changes. Parts that draw it subscribe to changes. */
import type { Comment, Thread, ThreadsView, Viewer } from "../types.ts";
import { type Answer, askThreads } from "./call.ts";

/** `off`: the site has no comments any more. `nowhere`: the site has no page at the address that an app shows.
 *  `silent`: no answer, or an answer that says nothing. */
type Access = "open" | "passcode" | "off" | "nowhere" | "silent";

function accessOf({ status, body }: Answer): Access {
  if (status === 200) return "open";
  if (status === 401) return "passcode";
  if (status !== 404) return "silent";
  return body.code === "comments_off" ? "off" : "nowhere";
}

const NOBODY: Viewer = { id: null, name: null, owner: false, can_post: false };

const isNews = ({ comments }: Thread, before: Thread | undefined): Comment[] =>
  comments.filter(({ id, mine }) => !mine && !before?.comments.some((one) => one.id === id));

export class Session {
  access: Access = "open";
  viewer: Viewer = NOBODY;
  mode = "";
  /** The page's path as the server has it. */
  page = "";
  poll_s = 20;
  threads: readonly Thread[] = [];
  /** How many comments of others the last answer brought. */
  news = 0;
  private cursor = "";
  private etag = "";
  private readonly drawers: (() => void)[] = [];

  constructor(
    public path: string,
    /** Whether anything may be written from here. */
    readonly foreign: boolean,
  ) {}

  onChange(draw: () => void): void {
    this.drawers.push(draw);
  }

  changed(): void {
    this.drawers.forEach((draw) => draw());
  }

  get canPost(): boolean {
    return this.access === "open" && this.viewer.can_post && !this.foreign;
  }

  get isOwner(): boolean {
    return this.viewer.owner && !this.foreign;
  }

  /** Another page of the app: nothing of this one is kept. */
  async turnTo(path: string): Promise<void> {
    this.path = path;
    this.threads = [];
    this.forget();
    await this.refresh();
  }

  /** Drops the state, for it was an answer to another viewer. */
  forget(): void {
    this.cursor = this.etag = "";
  }

  /** Returns false if no answer came. */
  async refresh(): Promise<boolean> {
    const { path, cursor } = this;
    const since = cursor && `&since=${encodeURIComponent(cursor)}`;
    const answer = await askThreads(path, since, this.etag ? { "if-none-match": this.etag } : {});
    // An answer that began from an older state says nothing about the present one.
    if (path === this.path && cursor !== this.cursor) return this.refresh();
    if (path === this.path) this.take(answer);
    return answer.status !== 0 && answer.status < 500 && answer.status !== 429;
  }

  take(answer: Answer): void {
    this.news = 0;
    if (answer.status === 304) return;
    this.access = accessOf(answer);
    if (this.access === "open") this.merge(answer.body as unknown as ThreadsView);
    else if (this.access !== "silent") this.threads = [];
    if (this.access === "open") this.etag = answer.etag ?? "";
    else this.forget();
    this.changed();
  }

  private merge(view: ThreadsView): void {
    const known = new Map(this.threads.map((thread) => [thread.id, thread]));
    // A cursor of another viewer does not count, and the whole list came: so it is after the owner's hour (ruling 20).
    const partial = this.cursor !== "" && view.viewer.id === this.viewer.id;
    if (partial) this.news = view.threads.flatMap((thread) => isNews(thread, known.get(thread.id))).length;
    const merged = new Map(partial ? known : []);
    for (const thread of view.threads) merged.set(thread.id, thread);
    const gone = new Set(view.gone);
    this.threads = [...merged.values()]
      .filter(({ id }) => !gone.has(id))
      .map((thread) => ({ ...thread, comments: thread.comments.filter(({ id }) => !gone.has(id)) }));
    this.viewer = view.viewer;
    this.mode = view.mode;
    this.page = view.page;
    this.poll_s = view.poll_s;
    this.cursor = view.cursor;
  }
}
