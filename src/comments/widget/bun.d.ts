/** The store's interface, whose nouns are the wire's too, names it; nothing in a browser has one. */
declare namespace Bun {
  type BunFile = Blob;
}
