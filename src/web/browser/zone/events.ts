/** How files come to the page: drops anywhere on it, the two pickers, pastes outside of fields. */
import type { GivenEntry } from "./collect.ts";
import type { Face } from "./face.ts";
import type { Source } from "./job.ts";

type Begin = (source: Source) => void;

/** Whether files are dragged: the zone leaves dragged text and links to the page. */
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

/** Files from the browser's drops, pickers and pastes, as trees of files and folders. The content of a drop is gone
 *  when its event is over, so its entries are taken at once and read later. */
const named = (file: File): GivenEntry => ({ name: file.name, file: async () => file });

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

/** `readEntries` gives a hundred at a time, and an empty list at the end. */
async function listOf(entry: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = entry.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

/** Types that TypeScript's DOM library lacks, for `getAsFileSystemHandle`. Chromium has it on plain http too, where a
 *  call ends the whole page (measured in 147). */
type Handle = FileSystemFileHandle | FileSystemDirectoryHandle;
interface WithHandle {
  getAsFileSystemHandle?(): Promise<Handle | null>;
}
type Standin = () => Promise<Handle | null>;

async function childOf(standin: Standin, name: string, folder: boolean): Promise<Handle | null> {
  const parent = await standin();
  if (parent?.kind !== "directory") return null;
  return folder ? parent.getDirectoryHandle(name) : parent.getFileHandle(name);
}

async function handedFile(standin: Standin): Promise<File> {
  const handle = await standin();
  if (handle?.kind === "file") return handle.getFile();
  throw new Error("there is no handle of it");
}

/** Handles skip names like `a:b.txt` without an error, so they are used only if an entry fails. */
function fromEntry(entry: FileSystemEntry, standin: Standin): GivenEntry {
  const { name } = entry;
  if (entry.isFile) {
    return { name, file: () => fileOf(entry as FileSystemFileEntry).catch(() => handedFile(standin)) };
  }
  return {
    name,
    list: async () =>
      (await listOf(entry as FileSystemDirectoryEntry)).map((child) =>
        fromEntry(child, () => childOf(standin, child.name, child.isDirectory)),
      ),
  };
}

/** Everything in a drop or a paste that is a file or a folder. */
function givenBy(data: DataTransfer): GivenEntry[] {
  return [...data.items]
    .filter(({ kind }) => kind === "file")
    .flatMap((item) => {
      const entry = item.webkitGetAsEntry();
      const file = item.getAsFile();
      const handle = isSecureContext ? (item as WithHandle).getAsFileSystemHandle?.().catch(() => null) : null;
      if (entry) return fromEntry(entry, async () => (await handle) ?? null);
      return file ? named(file) : [];
    });
}

interface Branch {
  files: GivenEntry[];
  folders: Map<string, Branch>;
}
const branch = (): Branch => ({ files: [], folders: new Map() });

function givenIn({ files, folders }: Branch): GivenEntry[] {
  const below = [...folders].map(([name, inside]): GivenEntry => ({ name, list: async () => givenIn(inside) }));
  return [...files, ...below];
}

/** A picked folder is a list of files with their paths; if these are empty (Android), the files are at the root. */
function givenByPicker(files: Iterable<File>): GivenEntry[] {
  const root = branch();
  for (const file of files) {
    let at = root;
    // The last part is not always the file's name: a backslash in a name is a slash here.
    const folders = file.webkitRelativePath.split("/");
    const name = folders.pop() || file.name;
    for (const folder of folders) {
      let next = at.folders.get(folder);
      if (next === undefined) at.folders.set(folder, (next = branch()));
      at = next;
    }
    at.files.push({ name, file: async () => file });
  }
  return givenIn(root);
}
