/** Buttons that copy: shown by this script, since without it they do nothing. */
import { copyFrom } from "./copying.ts";

for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  const element = document.getElementById(button.dataset["copy"]!);
  if (!element) continue;
  button.classList.remove("scripted");
  button.addEventListener("click", () => void copyFrom(element, button));
}
