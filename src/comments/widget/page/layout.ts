/** Hears whatever may move a passage. */

const SETTLED_MS = 350;

export function onLayout(then: () => void, signal: AbortSignal): void {
  const soon = () => {
    then();
    setTimeout(then, SETTLED_MS);
  };
  addEventListener("resize", then, { signal });
  // A box that scrolls inside the page takes its passages along. The page itself takes the pins along too, except those
  // at the window's side.
  let left = scrollX;
  const scrolled = ({ target }: Event): void => {
    if (target === document && scrollX === left) return;
    left = scrollX;
    then();
  };
  addEventListener("scroll", scrolled, { signal, capture: true, passive: true });
  for (const name of ["load", "toggle", "transitionend", "click"]) {
    addEventListener(name, soon, { signal, capture: true, passive: true });
  }
  const observer = new ResizeObserver(then);
  observer.observe(document.documentElement);
  observer.observe(document.body);
  signal.addEventListener("abort", () => observer.disconnect());
}

/** Keeps the sheet above the keyboard, not behind it. `then` is called when it has moved. */
export function keepAboveKeyboard(layer: HTMLElement, then: () => void, signal: AbortSignal): void {
  const view = window.visualViewport;
  if (!view) return;
  let before = 0;
  const put = () => {
    const hidden = view.scale > 1.01 ? 0 : Math.max(0, innerHeight - view.height - view.offsetTop);
    if (hidden === before) return;
    before = hidden;
    layer.style.setProperty("--svc-keyboard", `${hidden}px`);
    then();
  };
  view.addEventListener("resize", put, { signal });
  view.addEventListener("scroll", put, { signal });
}
