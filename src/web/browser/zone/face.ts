/** The zone as it looks in each of its states. It decides nothing. */
import { icon } from "../../parts.ts";
import { button, code, el, made, theirs } from "./dom.ts";
import type { Offer, Trouble } from "./refusals.ts";
import { size, sizeDone } from "./words.ts";

type State = "idle" | "working" | "asking" | "failed" | "done";

interface Choice {
  label: string;
  disabled?: boolean;
  choose(): void;
}

export interface Question {
  /** The name of the group. */
  name: string;
  details: (Node | null)[];
  choices: readonly Choice[];
  cancel(): void;
}

const OFFERS: Readonly<Record<Offer, string>> = {
  try_again: "Try again",
  start_over: "Start over",
  sign_in: "Sign in",
  without_account: "Publish without an account",
  reload: "Reload the page",
};

const signIn = (): HTMLElement =>
  el("a", { class: "button", href: "/signin", target: "_blank", rel: "noopener" }, OFFERS.sign_in);

/** Disabled for a while, if the server said for how long. */
function holdBack(pressed: HTMLButtonElement, wait_s: number): void {
  pressed.disabled = true;
  setTimeout(() => (pressed.disabled = false), wait_s * 1000);
}

function offered({ offers = [], wait_s }: Trouble, press: (offer: Offer) => void): HTMLElement[] {
  return offers.map((offer, i) => {
    if (offer === "sign_in") return signIn();
    const made = button(OFFERS[offer], i === 0 ? "primary" : "", () => press(offer));
    if (offer === "try_again" && wait_s !== undefined) holdBack(made, wait_s);
    return made;
  });
}

const SIGN_IN = "sign in";

/** The sentence, in which these words are the way there. */
function withSignIn(sentence: string): (Node | string)[] {
  const [before = "", ...after] = sentence.split(SIGN_IN);
  const link = el("a", { href: "/signin", target: "_blank", rel: "noopener" }, SIGN_IN);
  return after.length === 0 ? [before] : [before, link, after.join(SIGN_IN)];
}

function alertOf({ sentence, sign_in = false, lines = [], files = [] }: Trouble): HTMLElement {
  const list = files.map(({ path, bytes }) =>
    el("li", {}, code(path), " ", el("span", { class: "size" }, size(bytes))),
  );
  const words = el(
    "div",
    {},
    el("p", { dir: "auto" }, ...(sign_in ? withSignIn(sentence) : [sentence])),
    ...lines.map((line) => el("p", { dir: "auto" }, line)),
    list.length > 0 && el("ul", {}, ...list),
  );
  return el("div", { class: "notice", role: "alert", tabindex: "-1" }, made(icon("warning")), words);
}

const progressBar = (): HTMLElement =>
  el(
    "div",
    {
      class: "bar",
      role: "progressbar",
      "aria-label": "Publishing",
      "aria-valuemin": "0",
      "aria-valuemax": "100",
      tabindex: "-1",
    },
    el("span"),
  );

/** A part of the zone's markup, as src/web/zone.ts names it. */
const partOf = (zone: HTMLElement, name: string): HTMLElement =>
  zone.querySelector<HTMLElement>(`[data-part="${name}"]`)!;

export class Face {
  readonly #title: HTMLElement;
  readonly #status: HTMLElement;
  readonly #content: HTMLElement;
  readonly #region: HTMLElement;
  readonly #idle_title: string;
  readonly #region_name: string;
  #title_words: string | null = null;
  #bar: HTMLElement | null = null;
  #figures: { element: HTMLElement; bytes: number } | null = null;
  #cancel: HTMLButtonElement | null = null;

  constructor(readonly zone: HTMLElement) {
    this.#title = partOf(zone, "title");
    this.#status = partOf(zone, "status");
    this.#content = partOf(zone, "face");
    this.#region = zone.closest("section")!;
    this.#idle_title = this.#title.textContent;
    this.#region_name = this.#region.getAttribute("aria-label") ?? "";
  }

  #draw(state: State, ...children: (Node | null)[]): void {
    this.zone.dataset["state"] = state;
    document.querySelector("main")!.dataset["publishing"] = state;
    [this.#bar, this.#cancel, this.#figures] = [null, null, null];
    this.#content.replaceChildren(...children.filter((child) => child !== null));
  }

  /** Says what a drop makes and shows the button that ends this choice; null brings back the words of the beginning. */
  name(words: string | null): void {
    this.#title_words = words;
    this.#region.setAttribute("aria-label", words ?? this.#region_name);
    this.zone.querySelector<HTMLElement>('[data-choose="none"]')!.hidden = words === null;
    this.over(false);
  }

  over(yes: boolean): void {
    this.zone.classList.toggle("over", yes);
    this.#title.textContent = yes ? "Drop to publish" : (this.#title_words ?? this.#idle_title);
  }

  say(words: string, ...more: Node[]): void {
    this.#figures = null;
    this.#status.replaceChildren(words, ...more);
  }

  /** Says what is uploaded. The figures beside it go on with `progress`; no screen reader says each of them. */
  uploading(name: string, bytes: number): void {
    const element = el("span", { "aria-hidden": "true" });
    this.say("Uploading ", theirs(name), element);
    this.#figures = { element, bytes };
  }

  idle(): void {
    this.#draw("idle");
  }

  /** The first button that is there: on a phone that is not the one for folders. */
  focusStart(): void {
    const buttons = [...this.zone.querySelectorAll<HTMLElement>(".start button")];
    buttons.find((one) => one.getClientRects().length > 0)?.focus();
  }

  /** With a button that ends it as long as there is something to end. */
  working(stop: () => void): void {
    const made = { bar: progressBar(), cancel: button("Cancel", "", stop) };
    this.#draw("working", made.bar, el("div", { class: "row" }, made.cancel));
    [this.#bar, this.#cancel] = [made.bar, made.cancel];
    made.cancel.focus();
  }

  /** Null if the progress is unknown. */
  progress(part: number | null): void {
    const bar = this.#bar;
    if (!bar) return;
    const percent = part === null ? null : String(Math.round(part * 100));
    if (percent === null) bar.removeAttribute("aria-valuenow");
    else bar.setAttribute("aria-valuenow", percent);
    (bar.firstChild as HTMLElement).style.width = percent === null ? "" : `${percent}%`;
    if (part !== null && this.#figures) {
      const { element, bytes } = this.#figures;
      element.textContent = `: ${sizeDone(part, bytes)}`;
    }
  }

  cancellable(yes: boolean): void {
    if (!this.#cancel) return;
    if (!yes && document.activeElement === this.#cancel) this.#bar?.focus();
    this.#cancel.hidden = !yes;
  }

  ask({ name, details, choices, cancel }: Question): void {
    const buttons = choices.map(({ label, disabled = false, choose }, i) =>
      Object.assign(button(label, i === 0 ? "primary" : "", choose), { disabled }),
    );
    const id = "zone-question";
    const group = el(
      "div",
      { class: "question", role: "group", "aria-labelledby": id },
      el("p", { class: "title", id }, name),
      ...details,
      el("div", { class: "row" }, ...buttons, button("Cancel", "", cancel)),
    );
    group.addEventListener("keydown", ({ key }) => key === "Escape" && cancel());
    this.#draw("asking", group);
    group.querySelector("button")?.focus();
  }

  failed(trouble: Trouble, press: (offer: Offer) => void): void {
    const buttons = offered(trouble, press);
    const alert = alertOf(trouble);
    this.#draw("failed", alert, buttons.length > 0 ? el("div", { class: "row" }, ...buttons) : null);
    (buttons.find((one) => !one.matches(":disabled")) ?? alert).focus();
  }

  done(): void {
    this.#draw("done");
  }
}
