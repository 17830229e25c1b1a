/** The widget (COMMENTS 5), from data to drawing: the session has the
 *  threads; `Places` finds them on the page; pins, marks and the panel draw them; actions in these go back to the
 *  session. */
import type { Thread } from "../types.ts";
import { el } from "./dom.ts";
import type { Handover } from "./handover.ts";
import { takeOwnerCode, threadInHash } from "./hash.ts";
import { highlight } from "./page/highlights.ts";
import { jumpTo, reveal, scrollTo } from "./page/jump.ts";
import { watcher } from "./page/late.ts";
import { keepAboveKeyboard, onLayout } from "./page/layout.ts";
import { Marks } from "./page/marks.ts";
import { onNavigation } from "./page/navigation.ts";
import { type Pinned, Pins } from "./page/pins.ts";
import { Places } from "./page/places.ts";
import { LONGEST_PASSAGE, passageOf } from "./page/quote-of.ts";
import { Room } from "./page/room.ts";
import { type Selected, Selecting } from "./page/selecting.ts";
import type { Hands } from "./panel/hands.ts";
import { Panel } from "./panel/panel.ts";
import { Said } from "./panel/said.ts";
import { becomeOwner, Sending } from "./writing.ts";
import { Session } from "./session.ts";
import { Surface } from "./surface.ts";
import { plural } from "./words.ts";

export function start(handover: Handover): void {
  void new Widget(handover).begin();
}

class Widget {
  private readonly session: Session;
  private readonly sending: Sending;
  private readonly places = new Places();
  private readonly said = new Said();
  private readonly launcher: Launcher;
  private readonly pins = new Pins((id) => this.openFromPin(id));
  private readonly marks = new Marks((id) => this.openFromPin(id));
  private readonly panel: Panel;
  private readonly selecting: Selecting;
  private readonly surface: Surface;
  private readonly room: Room;
  private readonly polling: Polling;
  private readonly ending = new AbortController();
  private readonly watchLate = watcher(() => this.look());
  /** True while the thread that the address names cannot be shown for want of the passcode. */
  private waits = false;
  private finding = Promise.resolve();
  /** The element that had the focus before the panel took it. */
  private before: HTMLElement | null = null;

  constructor(private readonly given: Handover) {
    const { path, foreign, host, launcher } = given;
    this.session = new Session(path, foreign);
    this.room = new Room(given.layer);
    this.sending = new Sending(this.session);
    this.launcher = new Launcher(launcher, () => this.openPanel());
    this.panel = new Panel({
      hands: this.hands(),
      opened: () => this.said.rise(),
      changed: () => this.draw(),
      closed: (passage) => this.giveBack(passage?.range),
    });
    this.selecting = new Selecting(
      host,
      (selected) => this.compose(selected),
      () => this.session.canPost,
    );
    const { pins, panel, said, selecting } = this;
    this.surface = new Surface(given, { pins, panel, said, selecting });
    this.polling = startPolling(this.session, this.panel);
  }

  private hands(): Hands {
    const { session, sending } = this;
    return {
      session,
      sending,
      placeOf: ({ id }) => this.places.of(id),
      open: (id) => this.show(id, false),
      found: () => this.finding,
      jump: ({ id }, from) => {
        const place = this.places.of(id);
        this.panel.show(id, false);
        if (place) jumpTo({ range: place.range, panel: this.panel.element, back: () => from.focus() });
      },
      say: (words, undo) => this.said.say(words, undo),
    };
  }

  async begin(): Promise<void> {
    const { session, given } = this;
    this.surface.build();
    session.onChange(() => this.update());
    this.listen();
    if (location.pathname === given.path) session.take(given.first);
    else await session.turnTo(location.pathname);
    this.watchLate();
    if (given.pressed) this.openPanel();
    await this.find();
    await this.followHash();
    this.room.arrived();
    this.fit();
  }

  private listen(): void {
    const { signal } = this.ending;
    this.selecting.listen();
    this.marks.listen(signal);
    onNavigation(() => void this.follow(), { signal });
    onLayout(() => this.moved(), signal);
    keepAboveKeyboard(this.given.layer, () => this.reveal(), signal);
    addEventListener("hashchange", () => void this.followHash(), { signal });
    this.surface.keepPainted(signal);
  }

  /** Draws again after the state of the threads has changed. */
  private update(): void {
    const { session } = this;
    if (session.access === "off") return this.end();
    if (session.access === "open" && this.waits) {
      this.waits = false;
      this.draw();
      return void this.find().then(() => this.followHash());
    }
    if (session.news) this.said.say(`${session.news} new`);
    this.draw();
    void this.find();
  }

  private find(): Promise<void> {
    return (this.finding = this.places.locate(this.sending.threads()).then((found) => {
      if (found) this.draw();
    }));
  }

  /** Looks for passages again: a part of the page that came late may hold a missing one, and a part that was drawn anew
   *  may have lost one. */
  private look(): void {
    if (this.ending.signal.aborted) return;
    this.surface.stay();
    this.surface.paint();
    const lost = this.session.threads.some(
      ({ id, anchor }) => (anchor.selector ?? anchor.hints?.element) && !this.places.of(id),
    );
    if (lost || this.places.isStale) void this.find();
    else this.pins.placeSoon();
  }

  private draw(): void {
    const { panel, session, places } = this;
    const threads = inReadingOrder(this.sending.threads(), places);
    const pinned = pinnedOf(threads, places);
    this.marks.draw({ pinned, active: panel.active, passage: panel.passage?.quote ? panel.passage.range : null });
    this.fit();
    this.pins.draw(pinned, panel.active, panel.isOpen ? panel.element : null);
    panel.draw(threads);
    this.launcher.draw(session.threads.length, panel.isOpen || session.access === "nowhere");
    this.polling.again();
  }

  /** The passage that the panel is about. */
  private get passage(): Range | null {
    const { passage, active } = this.panel;
    return passage?.range ?? (active === null ? null : (this.places.of(active)?.range ?? null));
  }

  private fit(): void {
    this.room.fit(this.panel.isOpen, this.passage);
  }

  /** Parts of the page are elsewhere now. */
  private moved(): void {
    if (this.places.isStale) return void this.find();
    this.fit();
    this.pins.placeSoon();
  }

  private reveal(): void {
    if (this.passage) reveal(this.passage, this.panel.element);
  }

  private show(id: string, focus: boolean): void {
    this.panel.show(id, focus);
    this.reveal();
  }

  private openPanel(): void {
    this.surface.paint();
    this.before = this.given.launcher;
    this.panel.open();
    const [only, ...others] = this.session.threads;
    if (only && others.length === 0) this.show(only.id, false);
    this.panel.focusFirst();
  }

  private openFromPin(id: string): void {
    this.surface.paint();
    this.before = this.pins.of(id);
    this.selecting.hide();
    this.show(id, true);
  }

  private compose(selected: Selected): void {
    const passage = passageOf(selected);
    if (!passage) return;
    if ([...(passage.quote?.exact ?? "")].length > LONGEST_PASSAGE) {
      return this.said.say(`Select less: at most ${LONGEST_PASSAGE} characters can be commented on at once.`);
    }
    const { activeElement } = document;
    this.before = activeElement instanceof HTMLElement && activeElement !== this.given.host ? activeElement : null;
    this.panel.compose(passage);
    this.reveal();
  }

  private giveBack(range?: Range): void {
    const { before } = this;
    this.before = null;
    // The selection comes back, for readers without a mouse go on from there.
    if (range)
      return getSelection()?.setBaseAndExtent(
        range.startContainer,
        range.startOffset,
        range.endContainer,
        range.endOffset,
      );
    if (before?.isConnected && !before.hidden) before.focus();
    else this.given.launcher?.focus();
  }

  /** Turns to another page of the app. */
  private async follow(): Promise<void> {
    if (location.pathname === this.session.path) return;
    this.panel.close();
    await this.session.turnTo(location.pathname);
    this.watchLate();
  }

  private async followHash(): Promise<void> {
    const code = this.session.foreign ? null : takeOwnerCode();
    if (code) this.said.say((await becomeOwner(this.session, code)) ?? "You moderate as the owner for an hour");
    const id = threadInHash();
    if (id === null) return void (code && this.openPanel());
    if (this.session.access === "passcode") {
      this.waits = true;
      return this.openPanel();
    }
    if (this.session.access !== "open") return;
    const thread = this.session.threads.find(({ comments }) => comments.some((comment) => comment.id === id));
    if (!thread) return this.said.say("That comment is not on this page any more.");
    this.before = this.pins.of(thread.id);
    this.panel.show(thread.id, true);
    if (this.passage) scrollTo(this.passage, this.panel.element);
  }

  /** Removes the widget after the owner turned comments off. */
  private end(): void {
    this.ending.abort();
    this.polling.stop();
    this.given.host.remove();
    for (const name of ["svc-comment", "svc-comment-active", "svc-comment-resolved"] as const) highlight(name, []);
  }
}

/** The loader's launcher, with the present number of threads. */
class Launcher {
  constructor(
    private readonly element: HTMLButtonElement | null,
    press: () => void,
  ) {
    element?.addEventListener("click", press);
  }

  draw(threads: number, hidden: boolean): void {
    const { element } = this;
    if (!element) return;
    element.hidden = hidden;
    const count = threads ? [el("span", { "aria-hidden": "true" }, String(threads))] : [];
    element.replaceChildren("Comments", ...count);
    element.ariaDescription = threads > 0 ? plural(threads, "thread", "threads") : null;
  }
}

const SEEN_S = 60;
const LONGEST_S = 300;

interface Polled {
  refresh(): Promise<boolean>;
  readonly poll_s: number;
}

interface PolledPanel {
  readonly isOpen: boolean;
  tick(): void;
}

interface Polling {
  /** Called when something may have changed how often the server is asked. */
  again(): void;
  stop(): void;
}

/** Asks for news (COMMENTS 2): often while the panel is open, seldom while only the page is seen, never while it is hidden.
 *  Each failure doubles the time to the next question. */
function startPolling(session: Polled, panel: PolledPanel): Polling {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let stopped = false;

  function again(): void {
    clearTimeout(timer);
    if (stopped || document.hidden) return;
    const seconds = (panel.isOpen ? session.poll_s : SEEN_S) * 2 ** failures;
    timer = setTimeout(ask, 1000 * Math.min(seconds, LONGEST_S));
  }
  async function ask(): Promise<void> {
    failures = (await session.refresh()) ? 0 : failures + 1;
    panel.tick();
    again();
  }
  function turned(): void {
    clearTimeout(timer);
    if (!document.hidden && !stopped) void ask();
  }

  document.addEventListener("visibilitychange", turned);
  again();
  return {
    again,
    stop() {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", turned);
    },
  };
}

/** Threads in the order in which the page is read: first by their passages, then those about the whole page, then those that
 *  have lost their place. */
const inReadingOrder = (threads: readonly Thread[], places: Places): Thread[] =>
  threads.toSorted(
    (a, b) => rankOf(a, places) - rankOf(b, places) || begunAt(a).localeCompare(begunAt(b)) || (a.id < b.id ? -1 : 1),
  );

const WHOLE = 1e9;
const LOST = 2e9;

function rankOf({ id, anchor }: Thread, places: Places): number {
  return places.of(id)?.start ?? (anchor.selector ? LOST : WHOLE);
}

const begunAt = ({ comments }: Thread): string => comments[0]?.created_at ?? "";

const pinnedOf = (threads: readonly Thread[], places: Places): Pinned[] =>
  threads.flatMap((thread) => {
    const place = places.of(thread.id);
    return place ? [{ thread, place }] : [];
  });
