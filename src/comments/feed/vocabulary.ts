/** The words of the Web Annotation model that our documents are written in (COMMENTS 1, decision 1): nothing of our own,
 *  and not the ActivityStreams context, which gives `target`, `items` and `name` other meanings. */

export const ANNO = "http://www.w3.org/ns/anno.jsonld";
const LDP = "http://www.w3.org/ns/ldp.jsonld";

/** `anno.jsonld` knows ActivityStreams' collections by other names: without these, SPEC's would be addresses on the site. */
const ORDERED_PAGE = { OrderedCollectionPage: "as:OrderedCollectionPage" };
const ORDERED = {
  OrderedCollection: "as:OrderedCollection",
  ...ORDERED_PAGE,
  totalItems: { "@id": "as:totalItems", "@type": "xsd:nonNegativeInteger" },
  orderedItems: { "@id": "as:items", "@type": "@id", "@container": "@list" },
};

export const COLLECTION_CONTEXT = [ANNO, ORDERED];
export const PAGE_CONTEXT = [ANNO, ORDERED_PAGE];
export const CONTAINER_CONTEXT = [ANNO, LDP];
