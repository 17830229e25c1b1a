/** How files come to the page: drops anywhere on it, the two pickers, pastes outside of fields. */
import type { Face } from "./face.ts";
import type { Source } from "./job.ts";
import { givenBy, givenByPicker } from "./sources.ts";

type Begin = (source: Source) => void;

/** Dragged text and links are none of ours. */
const holdsFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;

export function hearDrops(face: Face, begin: Begin): void {
  // A browser would open the file in place of the page.
  const take = (event: DragEvent): void => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    event.dataTransfer!.dropEffect = "copy";
    face.over(true);
  };
  document.addEventListener("dragenter", take);
  document.addEventListener("dragover", take);
  document.addEventListener("dragleave", ({ relatedTarget }) => relatedTarget === null && face.over(false));
  document.addEventListener("drop", (event) => {
    face.over(false);
    if (!holdsFiles(event)) return;
    event.preventDefault();
    const given = givenBy(event.dataTransfer!);
    if (given.length > 0) begin({ given });
  });
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;

export function hearPastes(begin: Begin): void {
  document.addEventListener("paste", (event) => {
    const data = event.clipboardData;
    if (!data || isField(event.target)) return;
    const given = givenBy(data);
    const text = data.getData("text/plain");
    if (given.length === 0 && text.trim() === "") return;
    event.preventDefault();
    begin(given.length > 0 ? { given } : { text });
  });
}

export function hearPickers(zone: HTMLElement, begin: Begin): void {
  for (const input of zone.querySelectorAll<HTMLInputElement>("input[data-pick]")) {
    const opener = zone.querySelector<HTMLButtonElement>(`button[data-choose="${input.dataset["pick"]}"]`)!;
    opener.hidden = input.dataset["pick"] === "folder" && !("webkitdirectory" in input);
    opener.addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      const files = [...(input.files ?? [])];
      input.value = ""; // so that the same choice is heard again
      if (files.length > 0) begin({ given: givenByPicker(files) });
    });
  }
}
