/** The template that pages and their scripts write HTML with. */
import { expect, test } from "bun:test";
import { html, scriptJson, trusted } from "../../src/html/template.ts";

test.each(["", "plain", `<img src=x onerror="a('b')">`, "&amp;", "\0\r\n\ud800é\u202e", `"'"`, "<".repeat(1000)])(
  "a value is escaped as the runtime escapes it: %p",
  (value) => {
    expect(html`${value}`.text).toBe(Bun.escapeHTML(value));
    expect(html`<p title="${value}">${[value, [value]]}</p>`.text).toBe(
      `<p title="${Bun.escapeHTML(value)}">${Bun.escapeHTML(value).repeat(2)}</p>`,
    );
  },
);

test("HTML stays HTML, numbers are written, and null, undefined and false vanish", () => {
  expect(html`${html`<b>${1}</b>`}${null}${undefined}${false}${0}${[trusted("<i>"), "<i>"]}`.text).toBe(
    "<b>1</b>0<i>&lt;i&gt;",
  );
});

test("what came as JSON is never HTML, whatever its fields are called", () => {
  const sent = JSON.parse('{"text":"<b>"}') as string;
  expect(html`${sent}`.text).toBe("[object Object]");
});

test("a script element is not ended by the JSON in it", () => {
  expect(scriptJson({ a: "</script><!--" }).text).not.toContain("<");
});
