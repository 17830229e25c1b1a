/** The parts that pages are made of (WEB 9): each a function from words to HTML. */
import { Refusal } from "../base/errors.ts";
import { html, type Html } from "../html/template.ts";
import { icon, type IconName } from "./icons.ts";

type Kind = "primary" | "plain" | "danger" | "quiet";

interface Look {
  kind?: Kind;
  small?: boolean;
  /** As wide as what it stands in. */
  wide?: boolean;
  icon?: IconName;
  /** More attributes: `name="decision" value="approve"`. */
  attributes?: Html;
}

const classOf = ({ kind = "plain", small, wide }: Look): string =>
  ["button", kind !== "plain" && kind, small && "small", wide && "wide"].filter(Boolean).join(" ");

/** Of a form, where `attributes` do not say `type="button"`. */
export const button = (label: string | Html, look: Look = {}): Html =>
  html`<button class="${classOf(look)}" ${look.attributes}>${look.icon && icon(look.icon, 16)} ${label}</button>`;

/** A link that looks like a button: it leads, and changes nothing. */
export const linkButton = (href: string, label: string | Html, look: Look = {}): Html =>
  html`<a class="${classOf(look)}" href="${href}" ${look.attributes}>${look.icon && icon(look.icon, 16)} ${label}</a>`;

/** A link to a site of somebody's (WEB 1.10). */
export const siteLink = (url: string, label: string | Html = url, attributes?: Html): Html =>
  html`<a href="${url}" rel="noopener" ${attributes}>${label}</a>`;

/** What a form of somebody signed in proves itself with. */
export const csrfField = (token: string): Html => html`<input type="hidden" name="csrf" value="${token}" />`;
export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

interface Field {
  /** Also its id, where none is given. */
  name: string;
  label: string | Html;
  id?: string;
  type?: "text" | "email" | "password" | "search" | "file";
  value?: string;
  hint?: string | Html;
  /** Where it names this field, the field is marked and described by the alert. */
  refusal?: Refusal;
  /** Whether it is, where the refusal does not say. */
  wrong?: boolean;
  /** `required maxlength="80" autocomplete="off"`. */
  attributes?: Html;
  class?: string;
}

const PROBLEM_ID = "problem";

/** Whether a refusal is about the field. */
export const isAbout = (refusal: Refusal | undefined, name: string): boolean => refusal?.details.field === name;

/** What is wrong with a field, and what tells more of it: attributes of an input that is not made by `field`. */
function described(id: string, wrong: boolean, hint?: unknown): Html {
  const by = [wrong && PROBLEM_ID, hint !== undefined && `${id}-hint`].filter(Boolean).join(" ");
  return html`${wrong && html`aria-invalid="true" autofocus`} ${by && html`aria-describedby="${by}"`}`;
}

/** Label above, the field, a hint below. */
export function field(one: Field): Html {
  const { name, id = name, type = "text", value, hint, refusal, wrong = isAbout(refusal, name), attributes } = one;
  const input = html`<input
    class="field ${one.class}"
    id="${id}"
    name="${name}"
    type="${type}"
    ${value !== undefined && html`value="${value}"`}
    ${described(id, wrong, hint)}
    ${attributes}
  />`;
  return html`<div>
    <label class="label" for="${id}">${one.label}</label>
    ${type === "password" ? html`<span class="secret">${input}</span>` : input}
    ${hint !== undefined && html`<p class="hint" id="${id}-hint">${hint}</p>`}
  </div>`;
}

interface Choice {
  name: string;
  value: string;
  label: string | Html;
  checked?: boolean;
  hint?: string;
  /** Whether what was chosen was refused. */
  wrong?: boolean;
}

const choice =
  (type: "checkbox" | "radio") =>
  ({ name, value, label, checked, hint, wrong = false }: Choice): Html => {
    const id = `${name}-${value}`;
    return html`<label class="box" for="${id}">
        <input
          type="${type}"
          id="${id}"
          name="${name}"
          value="${value}"
          ${checked && html`checked`}
          ${described(id, wrong, hint)}
        />
        <span>${label}</span>
      </label>
      ${hint && html`<p class="hint under" id="${id}-hint">${hint}</p>`}`;
  };
export const checkbox = choice("checkbox");
const radio = choice("radio");

/** One of several, under a question. Where `refusal` is about it, the question is marked. */
export const radios = (legend: string, choices: readonly Choice[], refusal?: Refusal): Html =>
  html`<fieldset
    role="radiogroup"
    ${isAbout(refusal, choices[0]!.name) && html`aria-invalid="true" aria-describedby="${PROBLEM_ID}"`}
  >
    <legend class="label">${legend}</legend>
    ${choices.map(radio)}
  </fieldset>`;

/** The word that a deletion asks for: `Type ‹word› to confirm`. */
export const confirmation = (word: string, refusal?: Refusal): Html =>
  field({
    name: "confirm",
    label: html`Type <bdi>${word}</bdi> to confirm`,
    refusal,
    attributes: html`required autocomplete="off" autocapitalize="none" spellcheck="false"`,
  });

/** What went wrong with the last try, read out by screen readers; one on a page. */
export const alertBox = (refusal: Refusal | undefined): Html | null =>
  refusal === undefined
    ? null
    : html`<div class="notice" role="alert" id="${PROBLEM_ID}">
        ${icon("warning")}
        <p>${refusal.message}</p>
      </div>`;

/** What went well. */
export const statusBox = (words: string | Html): Html =>
  html`<div class="notice" role="status">
    ${icon("check")}
    <p>${words}</p>
  </div>`;

/** What is to be known before anything is done. */
export const warningBox = (words: string | Html): Html =>
  html`<div class="notice warn" role="status">
    ${icon("warning")}
    <p>${words}</p>
  </div>`;

export const badge = (word: string, kind: "" | "live" | "warn" | "bad" = ""): Html =>
  html`<span class="badge ${kind}">${word}</span>`;

export const card = (body: Html, name = ""): Html => html`<div class="card ${name}">${body}</div>`;

/** A list as rows in one card. */
export const rows = (label: string, items: readonly Html[], name = ""): Html =>
  html`<ul class="rows card ${name}" aria-label="${label}" role="list">
    ${items.map((item) => html`<li>${item}</li>`)}
  </ul>`;

/** Copies the text, or the value, of the element with the id. The script of that name makes it visible: without it there
 *  is nothing to press. */
export const copyButton = (label: string, id: string, look: Look & { shown?: string } = {}): Html =>
  html`<button
    type="button"
    class="${classOf(look)} scripted"
    data-copy="${id}"
    ${look.shown && html`aria-label="${label}"`}
    ${look.attributes}
  >
    ${icon("copy", 16)} ${look.shown ?? label}
  </button>`;

/** Lines for a terminal, with "Copy ‹the first of them›". */
export const command = (id: string, text: string, label = text): Html =>
  html`<div class="cmd">
    <pre tabindex="0" role="group" aria-label="${label}"><code id="${id}">${text}</code></pre>
    ${copyButton(`Copy ${label}`, id, { small: true, shown: "Copy" })}
  </div>`;
