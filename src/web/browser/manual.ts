/** The manual works without this script. It is loaded before the page, so that a reader's colours are there with the first
 *  paint; the rest waits for the page: `/` goes to the search, code gets a button that copies it, the lists that cover a
 *  narrow screen go away after a choice, and the heading that is being read is marked. */
import { copyFrom } from "./copying.ts";

const root = document.documentElement;
/** As docs sites call it. */
const KEY = "docs-theme";

function chosenTheme(): string {
  try {
    return localStorage.getItem(KEY) ?? "";
  } catch {
    return ""; // no storage: the machine's colours
  }
}
root.dataset["theme"] = chosenTheme();

function theme(button: HTMLButtonElement): void {
  const isDark = (): boolean =>
    (root.dataset["theme"] || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const show = (): void => button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => {
    const chosen = isDark() ? "light" : "dark";
    root.dataset["theme"] = chosen;
    try {
      localStorage.setItem(KEY, chosen);
    } catch {
      // for this page alone
    }
    show();
  });
  show();
}

/** A list that lies over the page goes away once something is chosen in it. */
function closesAfterChoice(list: HTMLElement): void {
  list.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("a") && list.matches(":popover-open")) list.hidePopover();
  });
}

/** Marks the last heading above the middle of the window. */
function followReading(contents: HTMLElement): void {
  const links = [...contents.querySelectorAll("a")];
  const headings = links.map(({ hash }) => document.getElementById(decodeURIComponent(hash.slice(1))));
  const mark = (): void => {
    const at = headings.findLastIndex((heading) => heading && heading.getBoundingClientRect().top < innerHeight / 3);
    links.forEach((link, place) => {
      if (place === at) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    const link = links[at];
    if (!link || contents.matches(":popover-open")) return;
    const { offsetTop } = link;
    if (offsetTop < contents.scrollTop || offsetTop > contents.scrollTop + contents.clientHeight - 60) {
      contents.scrollTop = offsetTop - contents.clientHeight / 2;
    }
  };
  let waiting = false;
  addEventListener(
    "scroll",
    () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => {
        waiting = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
}

function copyButton(code: Element): void {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small";
  button.textContent = "Copy";
  button.ariaLabel = `Copy ${code.textContent.trim().split("\n", 1)[0]}`;
  button.addEventListener("click", () => void copyFrom(code, button));
  code.closest(".code")!.append(button);
}

document.addEventListener("keydown", (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (key !== "/" || ctrlKey || metaKey || altKey) return;
  if (target instanceof Element && target.closest("input,textarea,select")) return;
  document.querySelector<HTMLElement>("search input")?.focus();
  event.preventDefault();
});

document.addEventListener("DOMContentLoaded", () => {
  for (const button of document.querySelectorAll<HTMLButtonElement>(".theme")) theme(button);
  for (const list of document.querySelectorAll<HTMLElement>(".chapters, .contents")) closesAfterChoice(list);
  for (const code of document.querySelectorAll(".code code")) copyButton(code);
  const contents = document.getElementById("page-contents");
  if (contents) followReading(contents);
});
