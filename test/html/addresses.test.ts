/** Where an address leads (PIPELINE 3 and 4): one table for the scan, the lint and the SPA rule. */
import { describe, expect, test } from "bun:test";
import { type Address, addressOf, baseOf, fileAt, isOfHost } from "../../src/html/addresses.ts";
import { hostKind } from "../../src/html/host-kind.ts";

describe("whose machine a host is", () => {
  test.each([
    ...["localhost", "app.localhost", "localhost.", "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3"].map(loopback),
    ...["[::1]", "[::]", "[::ffff:7f00:1]", "[::ffff:0:0]"].map(loopback),
    ...["10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254"].map(own),
    ...["[fc00::1]", "[fdff::]", "[fe80::1]", "[febf::1]", "[::ffff:a00:1]", "[::ffff:c0a8:101]"].map(own),
    ...["router", "router.", "nas.local", "a.internal", "wiki.intranet", "pc.lan", "x.home", "x.corp"].map(own),
    ...["x.home.arpa"].map(own),
    ...["9.255.255.255", "11.0.0.1", "126.255.255.255", "128.0.0.1", "172.15.255.255", "172.32.0.1"].map(anybodys),
    ...["192.167.255.255", "192.169.0.1", "169.253.0.1", "1.0.0.1", "8.8.8.8", "100.64.0.1"].map(anybodys),
    ...["[2001:db8::1]", "[fec0::1]", "[fbff::1]", "[::2]", "[::ffff:808:808]"].map(anybodys),
    ...["example.com", "localhost.example.com", "notlocalhost.example", "local.example", "10.example"].map(anybodys),
  ])("%s: %s", (hostname, kind) => expect(hostKind(hostname)).toBe(kind));
});

function loopback(host: string): [string, "loopback"] {
  return [host, "loopback"];
}
function own(host: string): [string, "private"] {
  return [host, "private"];
}
function anybodys(host: string): [string, "public"] {
  return [host, "public"];
}

const SITE = { slug: "calm-otter", sites_domain: "sites.example:8787" };
const told = (address: Address): string => {
  if (address.kind === "own") return `own ${address.path}`;
  if (address.kind === "script") return `script ${address.code}`;
  return isOfHost(address) ? `${address.kind} ${address.url.host}` : address.kind;
};

describe("where an address on docs/a.html leads", () => {
  test.each([
    ["b.html", "own /docs/b.html"],
    ["/b.html", "own /b.html"],
    ["../../../b.html", "own /b.html"],
    ["?q#f", "own /docs/a.html"],
    ["", "own /docs/a.html"],
    ["%2e%2e/b%20c", "own /b%20c"],
    ["\\b", "own /b"],
    [" \n/b\t", "own /b"],
    ["//cdn.example/x.js", "public cdn.example"],
    ["\\\\cdn.example/x", "public cdn.example"],
    ["/\t/cdn.example/x", "public cdn.example"],
    ["HTTP://CDN.example:80/", "public cdn.example"],
    ["http:cdn.example/x", "public cdn.example"],
    ["https:b.html", "own /docs/b.html"],
    ["https://calm-otter.sites.example/b", "own /b"],
    ["https://0123456789abcdef--calm-otter.sites.example:8787/b", "own /b"],
    ["https://other.sites.example/b", "public other.sites.example"],
    ["https://sites.example/b", "public sites.example"],
    ["http://0x7f.1/", "loopback 127.0.0.1"],
    ["ws://192.168.1.2:3000/", "private 192.168.1.2:3000"],
    ["ftp://files.example/", "public files.example"],
    ["file:///home/me/a.png", "disk"],
    ["C:\\Users\\me\\a.png", "disk"],
    ["mailto:me@example.org", "mail"],
    ["javascript:x()", "script x()"],
    ["java\nscript:x()", "script x()"],
    ["data:text/html,x", "none"],
    ["blob:https://a.example/1", "none"],
    ["tel:123", "none"],
    ["https://", "none"],
    ["https://a b/", "none"],
  ])("%j: %s", (address, where) => expect(told(addressOf(address, baseOf("docs/a.html"), SITE))).toBe(where));

  test("without a name of the site, its own host is another's", () => {
    expect(told(addressOf("https://calm-otter.sites.example/b", baseOf("a.html")))).toBe(
      "public calm-otter.sites.example",
    );
  });
  test("the file is named decoded once and in NFC; what is no valid encoding names none", () => {
    const file = (address: string) => fileAt(addressOf(address, baseOf("ö/a.html")));
    expect(file("cafe%CC%81%2520.html")).toBe("ö/café%20.html");
    expect(file("%ff.html")).toBeNull();
    expect(file("//other.example/a")).toBeNull();
  });
});
