/** Just enough of ELF (System V ABI, 64 bit, little end first) to make an addon load where its host is not there. */

const SECTION_TYPE_DYNAMIC_SYMBOLS = 11;
const SYMBOL_BYTES = 24;
const WEAK = 2;

/** The library with every symbol that it expects from elsewhere made weak: the loader then sets a symbol that no
 *  library has to zero and does not refuse the whole library. */
export function withWeakImports(library: Uint8Array): Uint8Array {
  const patched = Buffer.from(library);
  const sections = Number(patched.readBigUInt64LE(40));
  const [size, count] = [patched.readUInt16LE(58), patched.readUInt16LE(60)];
  for (let n = 0; n < count; n++) {
    const section = sections + n * size;
    if (patched.readUInt32LE(section + 4) !== SECTION_TYPE_DYNAMIC_SYMBOLS) continue;
    const start = Number(patched.readBigUInt64LE(section + 24));
    const end = start + Number(patched.readBigUInt64LE(section + 32));
    for (let at = start + SYMBOL_BYTES; at < end; at += SYMBOL_BYTES) {
      const elsewhere = patched.readUInt16LE(at + 6) === 0;
      if (elsewhere) patched[at + 4] = (WEAK << 4) | (patched[at + 4]! & 15);
    }
  }
  return patched;
}
