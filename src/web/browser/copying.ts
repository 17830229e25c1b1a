/** Copies what an element shows, and says so. Where there is no clipboard (plain http), the text is selected. */

const SAID_MS = 2000;

function status(): HTMLElement {
  const found = document.querySelector<HTMLElement>("#copied");
  if (found) return found;
  const made = document.createElement("p");
  made.id = "copied";
  made.className = "hidden";
  made.role = "status";
  document.body.append(made);
  return made;
}

const textOf = (element: Element): string =>
  element instanceof HTMLInputElement ? element.value : (element.textContent ?? "").trim();

function select(element: Element): void {
  if (element instanceof HTMLInputElement) return element.select();
  getSelection()?.selectAllChildren(element);
}

export async function copyFrom(element: Element, button: HTMLElement): Promise<void> {
  const region = status();
  region.textContent = "";
  try {
    await navigator.clipboard.writeText(textOf(element));
    region.textContent = "Copied";
    button.dataset["copied"] = "";
    setTimeout(() => delete button.dataset["copied"], SAID_MS);
  } catch {
    select(element);
    region.textContent = "Selected: press Ctrl+C or ⌘C to copy";
  }
}

/** Shows the buttons that copy: without a script they would do nothing. */
export function hearCopies(region: ParentNode): void {
  for (const button of region.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    const element = document.getElementById(button.dataset["copy"]!);
    if (!element) continue;
    button.classList.remove("scripted");
    button.addEventListener("click", () => void copyFrom(element, button));
  }
}
