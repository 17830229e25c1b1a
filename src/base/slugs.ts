/** `<adjective>-<noun>-<4 of 0-9a-z>`: easy to read aloud, guessable by design (no secrecy is promised, RELIABILITY A22).
 *  None of the reserved names of CONTRACT 2 has this form. */
import { randomName, randomWord } from "./random.ts";

const ADJECTIVES =
  "amber ample azure bold brave bright brisk calm civil clean clear clever cosy crisp dapper deft eager early easy fair fancy fleet fond fresh gentle glad golden grand green happy hardy honest humble jolly keen kind lively lucid lucky mellow merry mild modest neat noble novel plain polite prime proud quick quiet rapid ready rosy royal rustic sharp shiny silent silver simple sleek smart smooth snug solid spry steady still sunny sure swift tidy tiny true vivid warm wise witty young zesty";
const NOUNS =
  "acorn alder anchor arbor arch aspen badger basil bay beacon birch bison branch breeze bridge brook cabin canyon cedar cliff cloud clover coast comet coral cove crane creek dawn delta dune eagle ember falcon fern field finch fjord forest fox garden glacier glade grove harbor hare hawk hazel heron hill island ivy jay lagoon lake lark laurel ledge lily linden lotus lynx maple marsh meadow mesa mint moon moss oak oasis ocean olive orchid otter owl pebble pine plum pond poppy prairie quail quartz raven reef ridge river robin sage shore sparrow spring spruce star stone stream summit swan thistle tide trail tulip valley violet walnut wave willow wren";

const adjectives = ADJECTIVES.split(" ");
const nouns = NOUNS.split(" ");

/** A few, to be tried in turn: a slug is never given out twice. */
export const newSlugs = (): string[] =>
  Array.from({ length: 8 }, () => `${randomWord(adjectives)}-${randomWord(nouns)}-${randomName(4)}`);

const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);

/** What a visitor is called who has not said how. */
export const newPseudonym = (): string => `${capital(randomWord(adjectives))} ${capital(randomWord(nouns))}`;
