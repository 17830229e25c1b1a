/** What the contexts of the Web Annotation model and of LDP say, written down from their vocabularies, so that no test asks
 *  the network: which word stands for which address, and how its value is read. */

const NAMESPACES = {
  oa: "http://www.w3.org/ns/oa#",
  dc: "http://purl.org/dc/elements/1.1/",
  dcterms: "http://purl.org/dc/terms/",
  dctypes: "http://purl.org/dc/dcmitype/",
  foaf: "http://xmlns.com/foaf/0.1/",
  rdf: "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
  rdfs: "http://www.w3.org/2000/01/rdf-schema#",
  skos: "http://www.w3.org/2004/02/skos/core#",
  xsd: "http://www.w3.org/2001/XMLSchema#",
  iana: "http://www.iana.org/assignments/relation/",
  owl: "http://www.w3.org/2002/07/owl#",
  as: "http://www.w3.org/ns/activitystreams#",
  schema: "http://schema.org/",
};

type Term = string | Record<string, string>;
type Terms = Record<string, Term>;

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Words of a namespace that are called there as they are here. */
const same = (prefix: string, list: string): Terms =>
  Object.fromEntries(words(list).map((word) => [word, `${prefix}:${word}`]));
/** `word=local`: called otherwise there. */
const renamed = (prefix: string, list: string): Terms =>
  Object.fromEntries(
    words(list)
      .map((pair) => pair.split("=") as [string, string])
      .map(([a, b]) => [a, `${prefix}:${b}`]),
  );
/** Words whose values are read in one way: as addresses, as words of the vocabulary, as dates, as numbers. */
const read = (as: string, terms: Terms): Terms =>
  Object.fromEntries(Object.entries(terms).map(([word, iri]) => [word, { "@id": iri as string, "@type": as }]));

const CLASSES: Terms = {
  ...same(
    "oa",
    `Annotation TextualBody ResourceSelection SpecificResource FragmentSelector CssSelector XPathSelector
     TextQuoteSelector TextPositionSelector DataPositionSelector SvgSelector RangeSelector TimeState HttpRequestState
     Choice Motivation`,
  ),
  ...same("dctypes", "Dataset Text"),
  ...renamed("dctypes", "Image=StillImage Video=MovingImage Audio=Sound"),
  ...renamed("oa", "CssStylesheet=CssStyle"),
  ...same("foaf", "Person Organization"),
  ...same("schema", "Audience"),
  ...renamed("as", "Software=Application AnnotationCollection=OrderedCollection AnnotationPage=OrderedCollectionPage"),
};

const MOTIVATIONS = same(
  "oa",
  `bookmarking classifying commenting describing editing highlighting identifying linking moderating questioning replying
   reviewing assessing tagging`,
);

const ADDRESSES: Terms = {
  ...renamed("oa", "body=hasBody target=hasTarget source=hasSource selector=hasSelector state=hasState scope=hasScope"),
  ...renamed("oa", "startSelector=hasStartSelector endSelector=hasEndSelector stylesheet=styledBy cached=cachedSource"),
  ...same("oa", "refinedBy renderedVia via canonical"),
  ...same("dcterms", "creator rights conformsTo"),
  ...same("as", "generator partOf first last next prev"),
  ...same("foaf", "homepage"),
  ...same("schema", "audience"),
};

const TEXTS: Terms = {
  ...same("oa", "bodyValue processingLanguage exact prefix suffix styleClass"),
  ...same("dc", "format language"),
  ...renamed("rdf", "value=value"),
  ...renamed("foaf", "name=name email=mbox email_sha1=mbox_sha1sum nickname=nick"),
  ...renamed("schema", "accessibility=accessibilityFeature"),
  ...renamed("rdfs", "label=label"),
};

const DATES: Terms = {
  ...same("dcterms", "created modified"),
  ...renamed("dcterms", "generated=issued"),
  ...same("oa", "sourceDate sourceDateStart sourceDateEnd"),
};

const NUMBERS: Terms = { ...same("oa", "start end"), ...renamed("as", "total=totalItems startIndex=startIndex") };

const ANNOTATIONS = {
  ...NAMESPACES,
  id: { "@type": "@id", "@id": "@id" },
  type: { "@type": "@id", "@id": "@type" },
  ...CLASSES,
  ...MOTIVATIONS,
  ...renamed("oa", "auto=autoDirection ltr=ltrDirection rtl=rtlDirection"),
  ...read("@id", ADDRESSES),
  items: { "@type": "@id", "@id": "as:items", "@container": "@list" },
  ...read("@vocab", { ...renamed("oa", "motivation=motivatedBy purpose=hasPurpose"), ...same("oa", "textDirection") }),
  ...TEXTS,
  ...read("xsd:dateTime", DATES),
  ...read("xsd:nonNegativeInteger", NUMBERS),
};

const LINKED_DATA_PLATFORM = {
  ldp: "http://www.w3.org/ns/ldp#",
  id: "@id",
  type: "@type",
  ...same("ldp", "Container BasicContainer DirectContainer IndirectContainer Resource RDFSource NonRDFSource"),
  ...same("ldp", "MemberSubject PreferContainment PreferMembership PreferMinimalContainer"),
  ...read("@id", same("ldp", "hasMemberRelation isMemberOfRelation membershipResource insertedContentRelation")),
  ...read("@id", same("ldp", "contains member constrainedBy")),
};

/** By the address that documents name. */
export const CONTEXTS: Readonly<Record<string, object>> = {
  "http://www.w3.org/ns/anno.jsonld": { "@context": ANNOTATIONS },
  "http://www.w3.org/ns/ldp.jsonld": { "@context": LINKED_DATA_PLATFORM },
};

/** Whatever a document's words stand for is one of these, or an address of the site. */
export const VOCABULARIES: readonly string[] = [...Object.values(NAMESPACES), LINKED_DATA_PLATFORM.ldp];
