/** The manual works without this script: `/` goes to the search, code gets a button that copies it, and the list of
 *  chapters that covers a narrow screen goes away after a choice. */
import { copyFrom } from "./copying.ts";

const chapters = document.getElementById("page-chapters");
chapters?.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest("a") && chapters.matches(":popover-open")) chapters.hidePopover();
});

document.addEventListener("keydown", (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (key !== "/" || ctrlKey || metaKey || altKey) return;
  if (target instanceof Element && target.closest("input,textarea,select")) return;
  document.querySelector<HTMLElement>("search input")?.focus();
  event.preventDefault();
});

for (const code of document.querySelectorAll(".code code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button small";
  button.textContent = "Copy";
  button.ariaLabel = `Copy ${code.textContent.trim().split("\n", 1)[0]}`;
  button.addEventListener("click", () => void copyFrom(code, button));
  code.closest(".code")!.append(button);
}
