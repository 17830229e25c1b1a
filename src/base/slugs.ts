/** Names of sites: those that svc draws, and the rules for those that people choose (BEYOND 17). Server and clients judge a
 *  chosen name by the same rules; brands are known to the server alone. */
import { normalForm } from "./normal-form.ts";
import { randomName, randomWord } from "./random.ts";

const ADJECTIVES =
  "amber ample azure bold brave bright brisk calm civil clean clear clever cosy crisp dapper deft eager early easy fair fancy fleet fond fresh gentle glad golden grand green happy hardy honest humble jolly keen kind lively lucid lucky mellow merry mild modest neat noble novel plain polite prime proud quick quiet rapid ready rosy royal rustic sharp shiny silent silver simple sleek smart smooth snug solid spry steady still sunny sure swift tidy tiny true vivid warm wise witty young zesty";
const NOUNS =
  "acorn alder anchor arbor arch aspen badger basil bay beacon birch bison branch breeze bridge brook cabin canyon cedar cliff cloud clover coast comet coral cove crane creek dawn delta dune eagle ember falcon fern field finch fjord forest fox garden glacier glade grove harbor hare hawk hazel heron hill island ivy jay lagoon lake lark laurel ledge lily linden lotus lynx maple marsh meadow mesa mint moon moss oak oasis ocean olive orchid otter owl pebble pine plum pond poppy prairie quail quartz raven reef ridge river robin sage shore sparrow spring spruce star stone stream summit swan thistle tide trail tulip valley violet walnut wave willow wren";

export const WORDS = { adjectives: ADJECTIVES.split(" "), nouns: NOUNS.split(" ") };

/** A few slugs, to be tried in turn, for one is never given out twice: `<adjective>-<noun>-<4 of 0-9a-z>`, easy to read
 *  aloud, guessable by design (no secrecy is promised, RELIABILITY A22). No reserved name of CONTRACT 2 has this form. */
export const newSlugs = (): string[] =>
  Array.from({ length: 8 }, () => `${randomWord(WORDS.adjectives)}-${randomWord(WORDS.nouns)}-${randomName(4)}`);

/** The rule that a name breaks, by a word for programs and a sentence for people. */
interface NameFault {
  rule: "length" | "characters" | "hyphens" | "drawn" | "reserved" | "brand";
  message: string;
}

interface NameRules {
  /** The API's own address, whose host no site may pass itself off as. */
  base_url: string;
  sites_domain?: string;
  /** As people write them. */
  brands?: readonly string[];
}

/** Names that no site may have, for people trust such a host or programs look it up (CONTRACT 2). No name that looks like one of
 *  them is given either. They are without hyphens, as names are compared. */
export const RESERVED_NAMES: readonly string[] = [
  // The service itself.
  "www",
  "api",
  "app",
  "svc",
  "admin",
  "administrator",
  "root",
  "system",
  "dashboard",
  "console",
  "static",
  "assets",
  "cdn",
  "status",
  "docs",
  "help",
  "support",
  "about",
  "contact",
  "legal",
  "terms",
  "privacy",
  "official",
  // People sign in or pay there.
  "login",
  "logout",
  "signin",
  "signup",
  "signout",
  "auth",
  "oauth",
  "sso",
  "account",
  "accounts",
  "secure",
  "security",
  "password",
  "verify",
  "pay",
  "payment",
  "payments",
  "billing",
  "wallet",
  // People at such an address (RFC 2142).
  "abuse",
  "postmaster",
  "hostmaster",
  "webmaster",
  "noc",
  "info",
  "noreply",
  // Programs look these up below a domain.
  "mail",
  "webmail",
  "email",
  "smtp",
  "imap",
  "pop",
  "pop3",
  "mx",
  "mta",
  "mtasts",
  "openpgpkey",
  "autodiscover",
  "autoconfig",
  "wpad",
  "isatap",
  "proxy",
  "vpn",
  "dns",
  "ns",
  "ns1",
  "ns2",
  "ns3",
  "ns4",
  "ftp",
  "sftp",
  "ssh",
  "git",
  "localhost",
  "localdomain",
  "broadcasthost",
];

const SHORTEST = 3;
const LONGEST = 40;
const LETTERS = /^[a-z0-9-]*$/;
const PARTED = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Null for a name that a site may have, if nobody has it. */
export function faultOfName(name: string, rules: NameRules): NameFault | null {
  if (!LETTERS.test(name)) {
    const message = "A name is made of lower-case letters from a to z, digits and hyphens: leave everything else out.";
    return { rule: "characters", message };
  }
  if (name.length < SHORTEST || name.length > LONGEST) {
    return { rule: "length", message: `A name has ${SHORTEST} to ${LONGEST} characters: this one has ${name.length}.` };
  }
  if (!PARTED.test(name)) {
    const message = "A name begins and ends with a letter or a digit, and has no two hyphens side by side.";
    return { rule: "hyphens", message };
  }
  return faultOfForm(name) ?? faultOfReserved(name, rules) ?? faultOfBrand(name, rules.brands ?? []);
}

const DRAWN = { adjectives: new Set(WORDS.adjectives), nouns: new Set(WORDS.nouns) };

/** A name that looks drawn would pass for one that nobody chose, and take one from those that are drawn. */
function faultOfForm(name: string): NameFault | null {
  const [adjective = "", noun = "", end = "", ...more] = name.split("-");
  if (more.length > 0 || end.length !== 4) return null;
  if (!DRAWN.adjectives.has(adjective) || !DRAWN.nouns.has(noun)) return null;
  const message = "Names of this form, two words and four characters, are drawn by the server: choose another one.";
  return { rule: "drawn", message };
}

function faultOfReserved(name: string, rules: NameRules): NameFault | null {
  const whole = name.replaceAll("-", "");
  const found = [...RESERVED_NAMES, ...labelsOf(rules)].find((reserved) => looksLike(whole, reserved));
  if (found === undefined) return null;
  const what = name === found ? `The name ${name} is` : `It looks like ${found}, which is`;
  const message = `${what} kept for the service, because people trust it or programs look it up: choose another one.`;
  return { rule: "reserved", message };
}

/** The labels of the API's host in front of the domain that sites share with it, or else the first one. */
function labelsOf({ base_url, sites_domain = "" }: NameRules): string[] {
  const { hostname } = new URL(base_url);
  if (!/[a-z]/.test(hostname.slice(hostname.lastIndexOf(".") + 1))) return []; // an address
  const suffix = `.${sites_domain.replace(/:\d+$/, "")}`;
  const labels = hostname.endsWith(suffix) ? hostname.slice(0, -suffix.length).split(".") : hostname.split(".", 1);
  return labels.map((label) => label.replaceAll("-", ""));
}

/** Shorter brands are parts of too many names. */
const SHORTEST_BRAND = 3;

function faultOfBrand(name: string, brands: readonly string[]): NameFault | null {
  const runs = runsOf(name.split("-"));
  const found = brands.find((brand) => {
    const plain = plainLetters(brand);
    return plain.length >= SHORTEST_BRAND && runs.some((run) => looksLike(run, plain));
  });
  if (found === undefined) return null;
  return { rule: "brand", message: `It would pass for an address of ${found}: choose a name without that word.` };
}

/** Words, and words side by side as if they were one: `pay-pal` is read as `paypal`. */
const runsOf = (words: readonly string[]): string[] =>
  words.flatMap((_, from) => words.slice(from).map((__, length) => words.slice(from, from + length + 1).join("")));

const plainLetters = (text: string): string =>
  normalForm(text, "NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");

const PAIRS: Readonly<Record<string, string>> = { rn: "m", vv: "w", cl: "d" };
const DIGITS: Readonly<Record<string, string>> = { 0: "o", 2: "z", 3: "e", 4: "a", 5: "s", 7: "t", 8: "b", 9: "g" };
/** A name as it is read at a glance. */
const atAGlance = (text: string): string =>
  text.replace(/rn|vv|cl/g, (pair) => PAIRS[pair]!).replace(/[02345789]/g, (digit) => DIGITS[digit]!);

/** Whether a reader may take one for the other. `1` passes for both l and i. */
function looksLike(one: string, other: string): boolean {
  if (one === other) return true;
  const [seen, meant] = [atAGlance(one), atAGlance(other)];
  const alike = (a: string, b: string): boolean => a === b || (a === "1" && (b === "l" || b === "i"));
  return seen.length === meant.length && [...seen].every((a, i) => alike(a, meant[i]!) || alike(meant[i]!, a));
}
