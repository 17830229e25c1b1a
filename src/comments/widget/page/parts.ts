/** Parts of the page that are known by their elements alone: what a component shows inside is no text of the page. */

const LONGEST = 200;
/** The names that the server takes (COMMENTS 4). */
const ID = /^[A-Za-z][\w-]*$/;
const TAG = /^[a-z][a-z0-9-]*$/;

function stepTo(element: Element): string {
  const name = element.localName;
  const alike = [...(element.parentNode?.children ?? [])].filter((one) => one.localName === name);
  return alike.length > 1 ? `${name}:nth-of-type(${alike.indexOf(element) + 1})` : name;
}

/** A CSS selector for an element; null if it would be too long, or has a name that HTML does not know. */
export function pathTo(element: Element): string | null {
  if (ID.test(element.id) && document.getElementById(element.id) === element) return `#${element.id}`;
  const steps: string[] = [];
  for (let one: Element | null = element; one && one !== document.documentElement; one = one.parentElement) {
    if (!TAG.test(one.localName)) return null;
    steps.unshift(stepTo(one));
  }
  const path = steps.join(">");
  return path.length <= LONGEST ? path : null;
}

export function rangeOf(element: Element): Range {
  const range = document.createRange();
  range.selectNode(element);
  return range;
}

/** The element that a place is in, or is. */
export function elementOf({ startContainer, startOffset }: Range): Element | null {
  const inside = startContainer.childNodes[startOffset];
  if (inside instanceof Element) return inside;
  return startContainer instanceof Element ? startContainer : startContainer.parentElement;
}
