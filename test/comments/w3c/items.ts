/** Comments as the store gives them to a feed, of every kind, in any number. */
import type { NoteEvent } from "../../../src/store/notes.ts";
import type { FeedAsked, FeedItem, FeedSite } from "../../../src/comments/types.ts";

export const SITE: FeedSite = {
  slug: "demo",
  origin: "https://demo.sites.example",
  versionOrigin: (version_id) => `https://${version_id}--demo.sites.example`,
};

const QUOTE = {
  exact: "deploys finish in two seconds",
  prefix: "On a normal connection ",
  suffix: " and return a live URL.",
};

const ROOT: FeedItem = {
  id: "c_01JD8Q4V5W",
  thread_id: "c_01JD8Q4V5W",
  by: { id: "p_9fK2", name: "Quiet Heron", kind: "visitor" },
  text: "Is this still true for v2?",
  canonical: null,
  created_at: "2026-11-21T09:30:00Z",
  modified_at: "2026-11-21T09:30:00Z",
  page: "/guide.html",
  version_id: "3f9a1c0b77de4410",
  version_created_at: "2026-11-20T18:00:00Z",
  quote: QUOTE,
  status: "open",
  replies: 0,
};

const root = (over: Partial<FeedItem> = {}): FeedItem => ({ ...ROOT, ...over });
const reply = (over: Partial<FeedItem> = {}): FeedItem => ({ ...ROOT, id: "c_01JD8Q9ZK1", ...over });

/** Texts that a careless writer of JSON, HTML or JSON-LD would trip over. */
export const ODD_TEXTS = [
  "</script><script>alert(1)</script><!-- ]]>",
  '"quoted" \\ back\nlines\r\n\ttabs',
  "\u2028\u2029\u0085\u0001 controls",
  "@id",
  "_:b0",
  "https://evil.example/",
  "#fragment",
  '{"@id": "https://evil.example/", "@type": "Annotation"}',
  "👩‍👩‍👧‍👦 emoji, é and e\u0301, \u202eright to left\u202c, שלום, 你好",
  "null",
  "schema:name",
];

const odd = ODD_TEXTS.flatMap((text, n): FeedItem[] => [
  root({ id: `c_odd${n}`, thread_id: `c_odd${n}`, text, quote: { exact: text, prefix: text, suffix: text } }),
  reply({ id: `c_oddreply${n}`, by: { id: `p_${n}`, name: text, kind: n % 2 === 0 ? "visitor" : "agent" } }),
]);

/** By what there is to say of each. */
export const KINDS: Readonly<Record<string, FeedItem>> = {
  root: root(),
  "root that was edited": root({ modified_at: "2026-11-21T10:05:00.123Z" }),
  "resolved root": root({ status: "resolved", modified_at: "2026-11-21T10:05:00Z", replies: 1 }),
  "root of a page": root({ quote: null }),
  "root with a name of its own": root({ canonical: "urn:uuid:dbfb1861-0ecf-41ad-be94-a584e5c4f1df" }),
  "root without context": root({ quote: { ...QUOTE, prefix: "", suffix: "" } }),
  "root on an encoded page": root({ page: "/%C3%BCber%20uns/it's.html" }),
  "root on a route": root({ page: "/app/users" }),
  "owner's root": root({ by: { id: "p_3aZ7", name: "Owner", kind: "owner" } }),
  reply: reply(),
  "owner's reply": reply({ by: { id: "p_3aZ7", name: "Owner", kind: "owner" } }),
  "agent's reply": reply({ by: { id: "a_docsbot", name: "docs-bot", kind: "agent" } }),
  "edited reply": reply({ modified_at: "2026-11-21T10:06:00Z" }),
  ...Object.fromEntries(odd.map((item) => [`odd ${item.id}`, item])),
};

/** So many, of all kinds in turn. */
export function some(count: number): FeedItem[] {
  const kinds = Object.values(KINDS);
  return Array.from({ length: count }, (_, n) => {
    const kind = kinds[n % kinds.length]!;
    const id = `c_${String(n).padStart(20, "0")}`;
    return { ...kind, id, thread_id: kind.id === kind.thread_id ? id : kind.thread_id };
  });
}

/** Of a feed with these; `over`: where it is told. */
export function asked(items: readonly FeedItem[], over: Partial<FeedAsked> = {}): FeedAsked {
  const modified_at =
    items.length === 0
      ? null
      : items
          .map((item) => item.modified_at)
          .sort()
          .at(-1)!;
  return {
    site: SITE,
    id: `${SITE.origin}/comments.json`,
    iris: false,
    page: null,
    total: items.length,
    modified_at,
    ...over,
  };
}

const event = (over: Partial<NoteEvent> = {}): NoteEvent => ({
  id: "e_01JD8R",
  comment_id: "c_01JD8Q4V5W",
  action: "resolved",
  by: { id: "p_3aZ7", name: "Owner", kind: "owner" },
  note: null,
  created_at: "2026-11-21T10:06:00Z",
  ...over,
});

export const EVENTS: readonly NoteEvent[] = [
  event(),
  event({ action: "rejected", note: "Spam </script>" }),
  event({ action: "reopened", by: { id: "a_docsbot", name: "docs-bot", kind: "agent" } }),
];
