/** Where webhooks may go (COMMENTS 2, RELIABILITY A20): a table of addresses. */
import { expect, test } from "bun:test";
import { callable } from "../../src/http/public-address.ts";

test.each([
  ["1.1.1.1", true, "of the internet"],
  ["172.15.255.255", true, "just below a private network"],
  ["172.32.0.0", true, "just above it"],
  ["100.63.255.255", true, "just below carriers' NAT"],
  ["100.128.0.0", true, "just above it"],
  ["2606:4700:4700::1111", true, "IPv6 of the internet"],
  ["0.0.0.0", false, "any address of this machine"],
  ["0.1.2.3", false, "this network"],
  ["127.0.0.1", false, "loopback"],
  ["127.255.255.254", false, "loopback, its other end"],
  ["10.0.0.1", false, "private"],
  ["172.16.0.1", false, "private"],
  ["172.31.255.255", false, "private"],
  ["192.168.0.1", false, "private"],
  ["100.64.0.1", false, "carriers' NAT"],
  ["100.100.100.200", false, "a cloud's metadata, in carriers' NAT"],
  ["169.254.0.1", false, "link-local"],
  ["169.254.169.254", false, "metadata of most clouds"],
  ["168.63.129.16", false, "the platform's own address in one cloud"],
  ["192.0.0.192", false, "metadata of another"],
  ["192.0.2.1", false, "for documents"],
  ["198.18.0.1", false, "for benchmarks"],
  ["198.51.100.1", false, "for documents"],
  ["203.0.113.1", false, "for documents"],
  ["224.0.0.1", false, "multicast"],
  ["240.0.0.1", false, "reserved"],
  ["255.255.255.255", false, "broadcast"],
  ["::", false, "any address of this machine"],
  ["::1", false, "loopback"],
  ["::ffff:127.0.0.1", false, "loopback as IPv6"],
  ["::ffff:7f00:1", false, "the same in hexadecimal"],
  ["::ffff:8.8.8.8", false, "IPv4 in IPv6, which no name has"],
  ["::127.0.0.1", false, "the old way of the same"],
  ["64:ff9b::7f00:1", false, "loopback through a translator"],
  ["64:ff9b:1::a00:1", false, "a private address through a local translator"],
  ["2002:7f00:1::", false, "loopback through a tunnel"],
  ["2001::1", false, "Teredo"],
  ["2001:db8::1", false, "for documents"],
  ["3fff::1", false, "for documents"],
  ["fe80::1", false, "link-local"],
  ["fe80::1%eth0", false, "link-local with its interface"],
  ["fec0::1", false, "site-local"],
  ["fc00::1", false, "a private network"],
  ["fd00:ec2::254", false, "a cloud's metadata in one"],
  ["ff02::1", false, "multicast"],
  ["100::1", false, "discarded"],
  ["hooks.example", false, "no address"],
  ["", false, "nothing"],
])("RELIABILITY A20: a webhook to %s is %p: %s", (address, allowed) => {
  expect(callable(null)(address)).toBe(allowed);
});

test.each([
  ["127.0.0.9", true, "in a network that was named"],
  ["fd00::9", true, "in the other one"],
  ["::1", false, "not named"],
  ["10.0.0.1", false, "not named"],
  ["8.8.8.8", true, "of the internet all the same"],
])("SVC_WEBHOOKS_ALLOW=127.0.0.0/8,fd00::/8 makes a webhook to %s %p: %s", (address, allowed) => {
  expect(callable(["127.0.0.0/8", "fd00::/8"])(address)).toBe(allowed);
});
