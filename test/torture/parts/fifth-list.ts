/** Sites that nobody here had looked at, out of Debian 12 (bookworm, main), judged once. All of this was laid down before any
 *  of them was fetched.
 *
 *  The rule is that of `fourth-list.ts`: its searches, its order (the SHA-256 of `fourth ` and the name), what may be taken,
 *  and its limits, of 20 libraries and eight of one generator, which are counted anew. The names go on behind the last one
 *  that the fourth set looked at, which was the last that it took:
 *    libraries: behind `libjs-jquery-i18n-properties`, 20 or all there are
 *    pages and interfaces: none, the fourth set looked at all
 *    manuals: behind `liblablgtk-extras-ocaml-doc`, as many as make 96
 *  A source package of which the fourth set has one gives none here. What is undecided and what does not come through is as
 *  there too. */
import { byKind } from "./debian-sites.ts";
import LIST from "./fifth-list.txt" with { type: "text" };

export const FIFTH = byKind(LIST);
