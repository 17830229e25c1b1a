/** From the bytes of an entry's name to text. */
import { showBytes } from "../show.ts";
import type { ZipEntry } from "./directory.ts";
import { refuseEntry } from "./refusals.ts";

const UTF8 = 0x800;
/** A byte order mark stays, to be refused with the other invisible characters. */
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

/** `guessed`: nothing says which characters the bytes are. */
interface EntryName {
  name: string;
  guessed: boolean;
}

export function decodeName(entry: ZipEntry): EntryName {
  const decoded = decodeRawName(entry);
  for (const { text } of entry.unicode_paths)
    if (decodeUtf8(text)?.normalize("NFC") !== decoded.name.normalize("NFC"))
      throw refuseEntry("invalid_zip", showBytes(entry.raw_name), "has another name in its Unicode path field");
  return decoded;
}

/** Debian's zip writes UTF-8 without its flag, so text that is UTF-8 is taken for that before any code page. */
function decodeRawName({ raw_name, flags, unicode_paths }: ZipEntry): EntryName {
  const utf8 = decodeUtf8(raw_name);
  if (utf8 !== null) return { name: utf8, guessed: false };
  if (flags & UTF8)
    throw refuseEntry("unsafe_path", showBytes(raw_name), "is flagged as UTF-8, but its name is not UTF-8");
  const told = unicode_paths.find((path) => path.fits);
  const name = told ? decodeUtf8(told.text) : null;
  return name === null ? { name: decodeCp437(raw_name), guessed: true } : { name, guessed: false };
}

/** The code page of the first IBM PC: what a zip name is in when nothing says otherwise and it is no UTF-8. */
const CP437_UPPER =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐" +
  "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0";

const decodeCp437 = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => (byte < 128 ? String.fromCharCode(byte) : CP437_UPPER[byte - 128])).join("");
