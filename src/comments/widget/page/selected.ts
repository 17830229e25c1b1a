/** The reader's selection: in the page's own text, or inside a component's shadow tree, which belongs to the page as
 *  one part of it (COMMENTS 3). */

export interface Selected {
  range: Range;
  /** The outermost element in whose open shadow tree it is; null in the page's own text. */
  part: Element | null;
}

const isEdited = (element: Element | null): boolean =>
  element !== null &&
  (element.matches("input, textarea") || (element instanceof HTMLElement && element.isContentEditable));

/** The selection; null if it is outside the page, or in a place to write in. */
export function selected(host: HTMLElement): Selected | null {
  const selection = getSelection();
  if (!selection || selection.rangeCount === 0 || !selection.toString().trim()) return null;
  if (selection.isCollapsed) return inShadow(selection, host);
  const range = selection.getRangeAt(0);
  const { commonAncestorContainer: around } = range;
  const element = around instanceof Element ? around : around.parentElement;
  if (!element || host.contains(element) || element.closest("input, textarea") || isEdited(element)) return null;
  return element.isConnected && document.body.contains(element) ? { range, part: null } : null;
}

/** The element at which a range begins; null if there is none. */
function childAt({ startContainer, startOffset }: AbstractRange): Element | null {
  const child = startContainer.childNodes[startOffset];
  return child instanceof Element ? child : null;
}

/** A document knows such a selection as one of the component that it is in. */
function inShadow(selection: Selection, host: HTMLElement): Selected | null {
  const outside = selection.getComposedRanges?.()[0];
  const part = outside ? childAt(outside) : null;
  if (!part?.shadowRoot || part === host || !document.body.contains(part)) return null;
  const shadowRoots: ShadowRoot[] = [];
  let inside: AbstractRange = outside!;
  for (let next = part.shadowRoot as ShadowRoot | null; next; next = childAt(inside)?.shadowRoot ?? null) {
    if (isEdited(next.activeElement)) return null;
    shadowRoots.push(next);
    inside = selection.getComposedRanges({ shadowRoots })[0]!;
  }
  const range = document.createRange();
  range.setStart(inside.startContainer, inside.startOffset);
  range.setEnd(inside.endContainer, inside.endOffset);
  return { range, part };
}
