/** Sites that nobody here had looked at, out of Debian 12 (bookworm, main), judged once. All of this was laid down before any
 *  of them was fetched.
 *
 *  Names: of Debian's own catalogue, `apt-cache search --names-only`
 *    manuals: `-doc$`
 *    libraries: `^libjs-`
 *    pages and interfaces: `-(www|web|webui|html|frontend|demos?|examples|tutorial|samples|manual|guide|howtos?|faq|book|slides)$`,
 *      but for those above
 *  in the order of the SHA-256 of `fourth ` and the name. Of the libraries and of the pages the first 20 and 36 that may be
 *  taken are, or all there are; of the manuals, as many as make 96.
 *
 *  Taken is a package of at most 10 MB that holds an `index.html`, with the folder that holds the one highest up (of several
 *  the first by name), if that folder has at most 3,000 files of 80 MB and no symbolic link that leads out of it: Debian takes
 *  libraries out of folders in a way that no publisher does. Links inside it are followed. Of one source package one is
 *  taken, and of one generator at most eight, where pages of the folder name it in a `generator` or in words that its pages
 *  are known by (Javadoc, Doxygen, Sphinx, Haddock …).
 *
 *  The start page and 12 pages out of each site, evenly, are opened, and those that a warning names: these sites have
 *  hundreds of pages alike. What is undecided (all that is told is in pages that lack code or data of another host) and what
 *  does not come through in four minutes is counted nowhere, as in the third set. The three kinds are told apart and
 *  together. */
import { byKind } from "./debian-sites.ts";
import LIST from "./fourth-list.txt" with { type: "text" };

export const FOURTH = byKind(LIST);
