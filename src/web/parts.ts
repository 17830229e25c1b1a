/** The parts that pages are made of (WEB 9): each a function from words to HTML. Scripts of pages bundle some of them,
 *  so nothing here has an effect when it is loaded: a bundle would carry all of it. */
import type { Refusal } from "../base/errors.ts";
import { html, type Html } from "../html/template.ts";

type ButtonKind = "primary" | "plain" | "danger" | "quiet";

interface Look {
  kind?: ButtonKind;
  small?: boolean;
  /** As wide as the box around it. */
  wide?: boolean;
  icon?: IconName;
  /** More attributes: `name="decision" value="approve"`. */
  attributes?: Html;
}

const classOf = ({ kind = "plain", small, wide }: Look): string =>
  ["button", kind !== "plain" && kind, small && "small", wide && "wide"].filter(Boolean).join(" ");

/** A button. In a form it sends the form, unless `attributes` say `type="button"`. */
export const button = (label: string | Html, look: Look = {}): Html =>
  html`<button class="${classOf(look)}" ${look.attributes}>${look.icon && icon(look.icon, 16)} ${label}</button>`;

/** A link that looks like a button: it leads, and changes nothing. */
export const linkButton = (href: string, label: string | Html, look: Look = {}): Html =>
  html`<a class="${classOf(look)}" href="${href}" ${look.attributes}>${look.icon && icon(look.icon, 16)} ${label}</a>`;

/** Words that screen readers say and the page does not show: they tell apart buttons that look alike in each row. */
export const visuallyHidden = (words: string): Html => html`<span class="hidden"> ${words}</span>`;

/** A link to a site that a customer made (WEB 1.10). */
export const siteLink = (url: string, label: string | Html = url, attributes?: Html): Html =>
  html`<a href="${url}" rel="noopener" ${attributes}>${label}</a>`;

/** The proof that a form comes from our own page, for somebody who is signed in. */
export const csrfField = (token: string): Html => html`<input type="hidden" name="csrf" value="${token}" />`;
export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`;

interface Field {
  /** Also its id, if none is given. */
  name: string;
  label: string | Html;
  id?: string;
  type?: "text" | "email" | "password" | "search" | "file";
  value?: string;
  hint?: string | Html;
  /** If it names this field, the field is marked and the alert describes it. */
  refusal?: Refusal;
  /** Whether the field is wrong, if the refusal does not say. */
  wrong?: boolean;
  /** `required maxlength="80" autocomplete="off"`. */
  attributes?: Html;
  class?: string;
}

const PROBLEM_ID = "problem";

/** Whether a refusal is about the field. */
export const isAbout = (refusal: Refusal | undefined, name: string): boolean => refusal?.details.field === name;

/** Attributes that mark a field as wrong and name its descriptions, for an input that `field` does not make. */
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
export const checkbox = /* @__PURE__ */ choice("checkbox");
const radio = /* @__PURE__ */ choice("radio");

/** One of several, under a question. Where `refusal` is about it, the question is marked. */
export const radios = (legend: string, choices: readonly Choice[], refusal?: Refusal): Html =>
  html`<fieldset
    role="radiogroup"
    ${isAbout(refusal, choices[0]!.name) && html`aria-invalid="true" aria-describedby="${PROBLEM_ID}"`}
  >
    <legend class="label">${legend}</legend>
    ${choices.map(radio)}
  </fieldset>`;

/** The alert about the last try, which screen readers say at once; a page has one at most. */
export const alertBox = (refusal: Refusal | undefined): Html | null =>
  refusal === undefined
    ? null
    : html`<div class="notice" role="alert" id="${PROBLEM_ID}">
        ${icon("warning")}
        <p>${refusal.message}</p>
      </div>`;

/** A status with good news. */
export const statusBox = (words: string | Html): Html =>
  html`<div class="notice" role="status">
    ${icon("check")}
    <p>${words}</p>
  </div>`;

/** A warning to read before anything is done. */
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

/** Paths on a square of 20, a stroke wide. */
const ICONS = {
  folder:
    "M2.5 5.2c0-.9.6-1.5 1.5-1.5h3.4l1.9 2.2H16c.9 0 1.5.6 1.5 1.5v7.4c0 .9-.6 1.5-1.5 1.5H4c-.9 0-1.5-.6-1.5-1.5zM10 13.6V9m-1.9 1.8L10 9l1.9 1.8",
  check: "M4.5 10.5l3.6 3.6 7.4-8",
  warning: "M10 3.2l7.3 12.9H2.7zM10 8v3.6m0 2.3v.1",
  info: "M10 2.8a7.2 7.2 0 1 0 0 14.4 7.2 7.2 0 0 0 0-14.4zM10 9v4.5M10 6.4v.1",
  copy: "M7.3 7.3h9v9h-9zM3.9 12.7V3.9h8.8",
  share: "M10 12.5V3.5M6.8 6.5L10 3.5l3.2 3M4.5 10.5v5.6h11v-5.6",
  comment: "M3.5 4.5h13v9H9.2L5.8 16.6v-3.1H3.5zM6.8 7.6h6.4M6.8 10.4h4",
  search: "M8.7 3.5a5.2 5.2 0 1 0 0 10.4 5.2 5.2 0 0 0 0-10.4zM12.6 12.6l4 4",
} as const;
type IconName = keyof typeof ICONS;

/** An icon. Screen readers skip it: the words next to it say everything. */
export const icon = (name: IconName, size = 20): Html =>
  html`<svg
    viewBox="0 0 20 20"
    width="${size}"
    height="${size}"
    fill="none"
    stroke="currentColor"
    stroke-width="1.6"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d="${ICONS[name]}" />
  </svg>`;
