/** The layer that holds the widget's parts: in the loader's host, over the page and in its colours. */
import type { Handover } from "./handover.ts";
import { colour } from "./page/highlights.ts";
import type { Pins } from "./page/pins.ts";
import type { Selecting } from "./page/selecting.ts";
import { isDark, isRightToLeft } from "./page/theme.ts";
import type { Panel } from "./panel/panel.ts";
import type { Said } from "./panel/said.ts";
import { widgetCss } from "./style/index.ts" with { type: "macro" };

interface Parts {
  pins: Pins;
  panel: Panel;
  said: Said;
  selecting: Selecting;
}

/** To the page, whose shortcuts are single keys, what is typed comes from no box: it sees the host alone. */
function keepToBox(event: Event): void {
  if ((event.target as Element).matches("input, textarea, select")) event.stopPropagation();
}

export class Surface {
  constructor(
    private readonly given: Handover,
    private readonly parts: Parts,
  ) {}

  build(): void {
    const { root, layer, launcher } = this.given;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(widgetCss());
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    const { pins, panel, said, selecting } = this.parts;
    const region = launcher?.parentElement ?? document.createElement("div");
    region.role = "region";
    region.ariaLabel = "Comment threads";
    region.append(selecting.here, selecting.beside, pins.element);
    for (const type of ["keydown", "keypress", "keyup"]) layer.addEventListener(type, keepToBox);
    layer.append(pins.rail, region, panel.element, said.element);
    this.rise();
    this.paint();
  }

  private rise(): void {
    this.parts.pins.element.showPopover?.();
    this.parts.said.rise();
  }

  /** A script that replaces the whole document removes the host with it, so it is put back. */
  stay(): void {
    const { host, layer } = this.given;
    if (host.isConnected) return;
    this.parts.panel.close();
    document.documentElement.append(host);
    layer.showPopover?.();
    this.rise();
  }

  /** Whenever the page turns to other colours or another direction. */
  keepPainted(signal: AbortSignal): void {
    const paint = () => this.paint();
    const observer = new MutationObserver(paint);
    for (const one of [document.documentElement, document.body]) observer.observe(one, { attributes: true });
    signal.addEventListener("abort", () => observer.disconnect());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint, { signal });
    addEventListener("transitionend", paint, { signal, capture: true, passive: true }); // colours that fade
  }

  paint(): void {
    const dark = isDark();
    const { host, layer } = this.given;
    layer.style.zoom = String(1 / host.currentCSSZoom); // the root's own zoom: places on the page are measured without it
    layer.classList.toggle("dark", dark);
    layer.classList.toggle("rtl", isRightToLeft());
    colour(dark);
  }
}
