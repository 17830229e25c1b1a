/** RELIABILITY A5: whose address a request has, behind proxies and without. */
import { expect, test } from "bun:test";
import { clientAddress, networkOf } from "../../src/http/context.ts";

const none = clientAddress(null);
const proxied = clientAddress(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);

test.each([
  ["without trusted proxies the socket counts", none, "1.2.3.4", "9.9.9.9", "1.2.3.4"],
  ["an IPv4-mapped address is the IPv4 address", none, "::ffff:1.2.3.4", null, "1.2.3.4"],
  ["a unix socket is local", none, null, null, "local"],
  ["an untrusted peer speaks for nobody else", proxied, "1.2.3.4", "9.9.9.9", "1.2.3.4"],
  ["a trusted peer does", proxied, "127.0.0.1", "9.9.9.9", "9.9.9.9"],
  ["the rightmost untrusted one counts", proxied, "127.0.0.1", "6.6.6.6, 9.9.9.9, 10.1.1.1", "9.9.9.9"],
  ["a trusted IPv6 peer", proxied, "fd00::1", "2001:db8::1", "2001:db8::1"],
  ["all trusted: the leftmost", proxied, "127.0.0.1", "10.0.0.2, 10.0.0.1", "10.0.0.2"],
  ["ports and brackets go", proxied, "127.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"],
  ["an IPv4 port goes", proxied, "127.0.0.1", "9.9.9.9:80", "9.9.9.9"],
  ["behind garbage nothing is believed", proxied, "127.0.0.1", "9.9.9.9, <script>, 10.0.0.3", "10.0.0.3"],
  ["no header: the proxy itself", proxied, "127.0.0.1", null, "127.0.0.1"],
  ["a list of a thousand", proxied, "127.0.0.1", `${"6.6.6.6, ".repeat(1000)}9.9.9.9`, "9.9.9.9"],
] as const)("A5 %s", (_, addressOf, peer, forwarded, expected) => {
  expect(addressOf(peer, () => forwarded)).toBe(expected);
});

test.each([
  ["1.2.3.4", "1.2.3.4"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2:ffff::", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:0db8:0:0:1::9", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["local", "local"],
])("A5 %s counts as %s", (address, network) => {
  expect(networkOf(address)).toBe(network);
});
