/** WEB 8: what a browser or program calls itself, as a person calls the device. */
import { expect, test } from "bun:test";
import { deviceOf } from "../../src/web/dashboard/account.ts";

const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";
test.each([
  [`Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Chrome/131.0.0.0 Safari/537.36`, "Chrome on Linux"],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0`,
    "Edge on Windows",
  ],
  [`Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/131.0.0.0 Mobile Safari/537.36`, "Chrome on Android"],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/131.0.0.0 Safari/537.36`, "Chrome on ChromeOS"],
  [
    `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Chrome/130.0.0.0 Safari/537.36 OPR/115`,
    "Opera on macOS",
  ],
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:133.0) Gecko/20100101 Firefox/133.0", "Firefox on macOS"],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
    "Safari on iPhone",
  ],
  [
    "Mozilla/5.0 (iPad; CPU OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0 Mobile/15E148 Safari/604.1",
    "Chrome on iPad",
  ],
  ["svc/0.3.0 (linux)", "svc 0.3.0 on Linux"],
  ["svc/0.3.0 (darwin)", "svc 0.3.0 on macOS"],
  ["svc/0.3.0", "svc 0.3.0"],
  ["curl/8.5.0", "curl/8.5.0"],
  ["", ""],
  ["<b>Windows</b>", "<b>Windows</b>"],
])("%s is %s", (client, device) => {
  expect(deviceOf(client)).toBe(device);
});
