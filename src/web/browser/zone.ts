/** Scripts that the pages load; the longest is the drop zone (WEB 4): on `/` it makes a site, on a site's page a version of it. The
 *  script is in the head and runs before anything is shown, so that readers with script never see the form for those
 *  without. */
import { hearDrops, hearPastes, hearPickers } from "./zone/events.ts";
import { Face } from "./zone/face.ts";
import { Machine } from "./zone/machine.ts";
import { LeftOut, shareHere, showReceipt, showVersion } from "./zone/receipt.ts";
import { setupOf } from "./zone/setup.ts";
import { SitesList } from "./zone/sites-list.ts";

document.documentElement.classList.add("js");
if ("share" in navigator) document.documentElement.classList.add("shares");
customElements.define("svc-sites", SitesList);
customElements.define("svc-left-out", LeftOut);

function headingOf(unchanged: boolean, is_new: boolean): string {
  if (unchanged) return "No changes: this version is live already";
  return is_new ? "Your site is live" : "Your new version is live";
}

function start(zone: HTMLElement): void {
  const face = new Face(zone);
  const setup = setupOf(zone);
  const list = document.querySelector<SitesList>("svc-sites");
  const machine = new Machine({
    face,
    setup,
    listChanged: () => list?.draw(),
    finish(deployed, { unchanged, target, left_out }) {
      if (target.kind === "owned") return showVersion(deployed, unchanged, left_out);
      const heading = headingOf(unchanged, target.kind === "new");
      document.querySelector("section.receipt")?.remove();
      face.done();
      showReceipt(face.zone.closest("section")!, { deployed, heading, left_out, again: () => machine.reset() });
    },
  });
  if (list) {
    list.hands = {
      csrf: () => setup.csrf,
      say: (words, ...more) => face.say(words, ...more),
      focusStart: () => face.focusStart(),
      update(site) {
        if (machine.busy) return;
        document.querySelector("section.receipt")?.remove();
        machine.reset();
        machine.aimAt(site);
        face.zone.scrollIntoView({ block: "nearest" });
      },
    };
  }
  zone.querySelector('[data-choose="none"]')?.addEventListener("click", () => {
    machine.aimAt(null);
    machine.reset();
  });
  hearDrops(face, (source) => machine.begin(source));
  hearPastes((source) => machine.begin(source));
  hearPickers(zone, (source) => machine.begin(source));
}

addEventListener("DOMContentLoaded", () => {
  shareHere();
  const zone = document.querySelector<HTMLElement>("[data-zone]");
  if (zone) start(zone);
});
