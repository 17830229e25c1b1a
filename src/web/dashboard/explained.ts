/** "What answers at": a form that asks why an address of the site answers as it does, and the explanation (WEB 6, BEYOND 5). */
import { Refusal } from "../../base/errors.ts";
import type { Site } from "../../base/types.ts";
import { count, figure, humanSize } from "../../base/units.ts";
import { visible } from "../../base/visible.ts";
import { html, type Html } from "../../html/template.ts";
import { explain } from "../../routes/explain.ts";
import { badge, button, field, icon, siteLink } from "../parts.ts";
import { isShownAgain, type SignedIn } from "../who.ts";

type Told = Awaited<ReturnType<typeof explain>>;
/** The address of `_redirects:3` on the page; null if it is not there. */
type LineLinks = (place: string) => string | null;

/** The answer to a question, or why there is none; neither where nothing was asked. */
export interface AskedAddress {
  told?: Told;
  refusal?: Refusal;
}
export const NOT_ASKED: AskedAddress = {};

/** Characters of an address. */
const LONGEST = 4096;

/** The words that were typed, as an address: `about` is a path, and so is `about/us`; `example.org/x` has a host. */
function addressOf(typed: string): string {
  const address = typed.trim();
  const refuse = (why: string): never => {
    throw new Refusal("invalid_input", `${why} Write a path such as /about, or a whole address of this site.`, {
      field: "url",
    });
  };
  if (address.length > LONGEST) return refuse("That address is too long.");
  if (address.startsWith("/")) return address;
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(address)?.[1]?.toLowerCase();
  if (scheme === undefined && !/^[^/?#]*[.:]/.test(address)) return `/${address}`;
  const whole = scheme === undefined ? `http://${address}` : address;
  const is_web = scheme === undefined || scheme === "http" || scheme === "https";
  return is_web && URL.canParse(whole) ? whole : refuse("That is no address.");
}

const PARAMETERS = ["method", "accept_encoding", "sec_fetch_dest", "sec_fetch_site"] as const;

/** The explanation of the address that the query names. */
export async function answerTo({ query, parts }: SignedIn, site: Site): Promise<AskedAddress> {
  try {
    const asked = new URLSearchParams({ url: addressOf(query.get("url") ?? "") });
    for (const name of PARAMETERS) if (query.get(name)) asked.set(name, query.get(name)!);
    return { told: await explain({ query: asked, parts, site }) };
  } catch (error) {
    if (!isShownAgain(error)) throw error;
    const details = { field: "url", ...error.details };
    return { refusal: new Refusal(error.code, error.message, details) };
  }
}

function choice(name: string, label: string, values: readonly string[], query: URLSearchParams, none?: string): Html {
  const chosen = query.get(name) ?? "";
  const all = chosen === "" || values.some((one) => one === chosen) ? values : [...values, chosen];
  return html`<div>
    <label class="label" for="${name}">${label}</label>
    <select class="field" id="${name}" name="${name}">
      ${none !== undefined && html`<option value="">${none}</option>`}
      ${all.map((value) => html`<option value="${value}" ${value === chosen && html`selected`}>${value}</option>`)}
    </select>
  </div>`;
}

const DESTINATIONS = ["document", "script", "style", "image", "font", "empty"];
const SITES = ["same-origin", "same-site", "cross-site", "none"];

function finePrint(query: URLSearchParams): Html {
  const used = PARAMETERS.some((name) => (query.get(name) ?? "") !== "" && query.get(name) !== "GET");
  return html`<details ${used && html`open`}>
    <summary>As another request asks</summary>
    <div class="fine">
      ${choice("method", "Method", ["GET", "HEAD"], query)}
      ${choice("sec_fetch_dest", "Sec-Fetch-Dest", DESTINATIONS, query, "Not sent")}
      ${choice("sec_fetch_site", "Sec-Fetch-Site", SITES, query, "Not sent")}
      ${field({
        name: "accept_encoding",
        label: "Accept-Encoding",
        value: query.get("accept_encoding") ?? "",
        attributes: html`maxlength="500" autocomplete="off" autocapitalize="none" spellcheck="false"`,
      })}
    </div>
  </details>`;
}

/** The form, and the answer once there is one. `lines` of the version that is live. */
export function askForm(path: string, query: URLSearchParams, { told, refusal }: AskedAddress, lines: LineLinks): Html {
  return html`<section class="card" aria-labelledby="ask">
      <h2 id="ask">Why does an address answer as it does?</h2>
      <form class="fields" action="${path}">
        <div class="ask-row">
          ${field({
            name: "url",
            id: "asked", // `url` is the link of the page's head
            label: "What answers at",
            value: query.get("url") ?? "",
            ...(refusal && { refusal }),
            hint: "A path such as /about, or a whole address of this site.",
            attributes: html`required dir="auto" autocomplete="off" autocapitalize="none" spellcheck="false"`,
          })}
          ${button("Explain")}
        </div>
        ${finePrint(query)}
      </form>
    </section>
    ${told !== undefined && answerCard(told, told.live ? lines : () => null)}`;
}

/** The thing that answers, by the word of the API. */
const BY: Readonly<Record<string, string>> = {
  file: "The file of that name answers",
  index: "The index of that folder answers",
  clean_url: "The page of that name answers, without its .html",
  slash: "It leads to the folder, whose address ends in a slash",
  rule: "A line of _redirects answers",
  spa_fallback: "The index answers, as for every route of a single-page app",
  skew: "A former version's file answers, for pages that were open through a deploy",
  feed: "The feed of the comments answers",
  page_404: "Nothing is there: the site's own 404 page answers",
  service_404: "Nothing is there: the service's 404 page answers",
  reserved: "The service answers: this address is its own",
  primary_domain: "It leads to the site's primary domain",
  former_name: "It leads to the site's present name",
  state: "The state of the site answers",
  invalid_path: "It is refused: no address may read so",
};

const STEPS: Readonly<Record<string, string>> = {
  forced_rule: "A forced line",
  file: "A file",
  rule: "A line of _redirects",
  spa_fallback: "The single-page app",
  skew: "A former version",
  not_found: "Not found",
};

const fact = (term: string, said: Html | false): Html | false =>
  said !== false &&
  html`<dt>${term}</dt>
    <dd>${said}</dd>`;

const code = (text: string): Html => html`<code dir="auto">${visible(text)}</code>`;

function placeLink(place: string, lines: LineLinks): Html {
  const href = lines(place);
  return href === null ? html`<code>${place}</code>` : html`<a href="${href}"><code>${place}</code></a>`;
}

function facts({ url, method, version_id, live, access, file, rule, location }: Told, lines: LineLinks): Html {
  return html`<dl class="facts-list">
    ${fact("Asked", html`${method} ${siteLink(url, code(url))}`)}
    ${fact("Leads to", location !== null && code(location))}
    ${fact("Line", rule !== null && html`${placeLink(rule.path, lines)} ${code(rule.text)}`)}
    ${fact(
      "File",
      file !== null &&
        html`${code(file.path)} · ${humanSize(file.bytes)} · ${file.media_type}${file.made && " · made by svc"}`,
    )}
    ${fact("Version", html`<code title="${version_id}">${version_id.slice(0, 8)}</code> ${live && badge("Live", "live")}`)}
    ${fact("Password", access === "password" && html`Visitors give it first; this is what they see then.`)}
  </dl>`;
}

const stepRow = ({ step, matched, why }: Told["steps"][number]): Html =>
  html`<li class="${matched && "matched"}">
    ${matched ? icon("check", 16) : html`<span class="dot"></span>`}
    <p>
      <b>${STEPS[step] ?? step}${!matched && html`<span class="hidden"> (not this)</span>`}</b>
      <span dir="auto">${visible(why)}</span>
    </p>
  </li>`;

/** The lines of `_headers` that made a header. */
const linesOf = (name: string, { header_rules }: Told): string[] =>
  header_rules.filter((rule) => rule.applied && rule.name.toLowerCase() === name).map(({ path }) => path);

/** Header lines without effect that are named. */
const MOST_IDLE = 20;

function headersPart(told: Told, lines: LineLinks): Html {
  const headers = Object.entries(told.headers);
  const idle = told.header_rules.filter(({ applied }) => !applied);
  return html`<details>
    <summary>
      ${count(headers.length, "header")}${idle.length > 0 && `, and ${count(idle.length, "line")} that did nothing here`}
    </summary>
    <ul class="headers" role="list">
      ${headers.map(
        ([name, value]) =>
          html`<li>${code(`${name}: ${value}`)} ${linesOf(name, told).map((place) => placeLink(place, lines))}</li>`,
      )}
      ${idle
        .slice(0, MOST_IDLE)
        .map(
          ({ path, name, reason = "" }) =>
            html`<li class="dim">${placeLink(path, lines)} ${code(name)} did nothing here. ${reason}</li>`,
        )}
      ${idle.length > MOST_IDLE && html`<li class="dim">And ${figure(idle.length - MOST_IDLE)} more.</li>`}
    </ul>
  </details>`;
}

function answerCard(told: Told, lines: LineLinks): Html {
  const good = told.status < 400;
  return html`<section class="card explained" aria-labelledby="answer">
    <h2 id="answer" tabindex="-1" autofocus>
      ${badge(String(told.status), good ? "live" : "bad")} ${BY[told.by] ?? told.by}
    </h2>
    ${facts(told, lines)}
    ${
      told.steps.length > 0 &&
      html`<h3>What was tried</h3>
        <ol class="steps" role="list">
          ${told.steps.map(stepRow)}
        </ol>`
    }
    ${headersPart(told, lines)}
  </section>`;
}
