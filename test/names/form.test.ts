/** BEYOND 17: the form of a name that somebody chooses, by every class of characters, and of those that look like others. */
import { describe, expect, test } from "bun:test";
import { faultOfName, newSlugs, RESERVED_NAMES } from "../../src/base/slugs.ts";
import { hostParser } from "../../src/http/hosts.ts";

const BRANDS = ["PayPal", "Office 365", "Apple", "DHL", "Crédit Agricole", "銀行", "HP"];
const RULES = { base_url: "https://go.svc.example", sites_domain: "svc.example", brands: BRANDS };
const ruleOf = (name: string, rules: Parameters<typeof faultOfName>[1] = RULES) =>
  faultOfName(name, rules)?.rule ?? null;

describe("BEYOND 17: a name's form", () => {
  test.each([
    ["my-garden"],
    ["abc"],
    ["a1b"],
    ["007"],
    ["2026"],
    ["x".repeat(40)],
    ["a-b-c-d-e"],
    ["xn-garden"],
    ["0123456789abcdef"],
    ["apis"],
    ["my-api"],
    ["wwwx"],
    ["mall"],
    ["brave-otter"],
    ["brave-otter-abcde"],
    ["otter-brave-7f3k"],
    ["pineapple"],
    ["paypals"],
    ["hp-fans"],
    ["modern-corner"],
  ])("%s may be a name", (name) => {
    expect(faultOfName(name, RULES)).toBeNull();
  });

  test.each([
    ["", "length"],
    ["ab", "length"],
    ["x".repeat(41), "length"],
    ["x".repeat(200), "length"],
    ["-abc", "hyphens"],
    ["abc-", "hyphens"],
    ["---", "hyphens"],
    ["a--b", "hyphens"],
    ["xn--grten-bua", "hyphens"],
    ["pr-7--my-garden", "hyphens"],
  ])("%p breaks the rule of %s", (name, rule) => {
    expect(ruleOf(name)).toBe(rule as "length");
  });

  const STRANGE = [
    ...["My-Garden", "GARDEN", "my_garden", "my.garden", "my garden", " garden", "garden ", "gar\tden", "gar\nden"],
    ...["gar\0den", "gar\u007fden", "gar/den", "gar\\den", "gar:80", "gar@den", "gar?den", "gar#den", "gar%2eden"],
    ...[
      "gärten",
      "garden\u0301",
      "gаrden",
      "ɡarden",
      "ｇarden",
      "gar\u200bden",
      "gar\u00adden",
      "gar\u202eden",
      "１２３",
    ],
    ...["庭園庭", "سسس", "🌻🌻🌻", "my‐garden", "my–garden", "gar\ud800den", "${x}", "<b>x</b>", "..", "*", "***"],
  ];
  test.each(STRANGE.map((name) => [name]))("%p has characters that no name has", (name) => {
    expect(ruleOf(name)).toBe("characters");
  });

  test("a name that looks drawn is refused, as every drawn one is, and none of those is reserved", () => {
    for (const name of Array.from({ length: 100 }, newSlugs).flat()) expect(ruleOf(name)).toBe("drawn");
  });

  test.each(RESERVED_NAMES.map((name) => [name]))("%s is kept", (name) => {
    expect(name).toMatch(/^[a-z0-9]+$/);
    if (name.length >= 3) expect(ruleOf(name)).toBe("reserved");
  });

  test.each([
    ["l0gin"],
    ["1ogin"],
    ["adm1n"],
    ["4dmin"],
    ["admln"],
    ["adrnin"],
    ["vvvvvv"],
    ["wvvw"],
    ["d0c5"],
    ["5upp0rt"],
    ["cl0cs"],
    ["log-in"],
    ["sign-in"],
    ["w-w-w"],
    ["mta-sts"],
    ["rna1l"],
  ])("%s looks like a name that is kept", (name) => {
    // A plain l for an i is no look-alike: mall is not mail.
    expect(ruleOf(name)).toBe(name === "admln" ? null : "reserved");
  });

  test.each([
    ["paypal"],
    ["paypal-login"],
    ["my-paypal-shop"],
    ["pay-pal"],
    ["pay-pal-help"],
    ["paypa1"],
    ["p4ypal-de"],
    ["office365"],
    ["office-365-mail"],
    ["0ff1ce-365"],
    ["apple-pie"],
    ["app1e"],
    ["dhl-paket"],
    ["dh1"],
    ["credit-agricole"],
    ["my-creditagricole"],
  ])("%s passes for a brand's", (name) => {
    expect(ruleOf(name)).toBe("brand");
  });

  test.each([
    ["https://go.svc.example", "svc.example", "go1", null],
    ["https://pages.svc.example", "svc.example", "pages", "reserved"],
    ["https://pages.svc.example", "svc.example", "page5", "reserved"],
    ["https://eu.pages.svc.example", "svc.example", "pages", "reserved"],
    ["https://deploy.example.org", "sites.example", "deploy", "reserved"],
    ["https://deploy.example.org", "sites.example", "example", null],
    ["https://my-host.svc.example", "svc.example", "my-host", "reserved"],
    ["http://127.0.0.1:8787", "localhost", "127", null],
    ["http://[::1]:8787", "localhost", "abc", null],
    ["http://localhost:8787", "localhost:8787", "localhost", "reserved"],
  ])("beside %s with sites at %s, %s: %p", (base_url, sites_domain, name, rule) => {
    expect(ruleOf(name, { base_url, sites_domain })).toBe(rule as "reserved");
  });

  test("the sentence says what to do next, and never repeats characters that the name may not have", () => {
    for (const name of [...STRANGE, "ab", "-abc", "www", "paypal", "brave-otter-7f3k"]) {
      const { message } = faultOfName(name, RULES)!;
      expect(message).toMatch(/^[\x20-\x7e]+\.$/);
    }
  });

  test("every name that is allowed is one site's host and nothing else, also with a version and a preview", () => {
    const hostOf = hostParser(RULES);
    for (const name of ["my-garden", "x".repeat(40), "007", "xn-garden", "0123456789abcdef"]) {
      expect(hostOf(`${name}.svc.example`)).toEqual({ kind: "site", slug: name, version_id: null });
      const version_id = "f".repeat(16);
      expect(hostOf(`${version_id}--${name}.svc.example`)).toEqual({ kind: "site", slug: name, version_id });
    }
  });
});
