/** The part of a site's page that leads to its comments. */
import { html, type Html } from "../../../html/template.ts";
import type { NoteCounts } from "../../../store/notes.ts";
import type { Site } from "../../../base/types.ts";
import { badge, linkButton } from "../../parts.ts";
import { count, figure } from "../../wording/amounts.ts";
import { commentsPath, placeHref } from "./lists.ts";

const WAITING = [
  ["pending", "waits", "wait", "for your approval"],
  ["reported", "was", "were", "reported"],
] as const;

const waiting = ({ site_id }: Site, counts: NoteCounts): Html[] =>
  WAITING.filter(([show]) => counts[show] > 0).map(
    ([show, one, many, what]) =>
      html`<p class="small">
        <a href="${placeHref(site_id, { show, cursor: "" })}"
          >${count(counts[show], "comment")} ${counts[show] === 1 ? one : many} ${what}</a
        >
      </p>`,
  );

export const commentsCard = (site: Site, counts: NoteCounts): Html =>
  html`<section class="card" aria-labelledby="comments">
    <h2 id="comments">Comments ${site.comments_mode !== "off" && badge("On", "live")}</h2>
    ${
      site.comments_mode === "off"
        ? html`<p class="small dim">Visitors can pin threads to passages of your pages. They are off.</p>`
        : html`<p class="small dim">${count(counts.open, "open thread")}, ${figure(counts.resolved)} resolved.</p>`
    }
    ${waiting(site, counts)} ${linkButton(commentsPath(site.site_id), "Comments of this site", { small: true })}
  </section>`;
