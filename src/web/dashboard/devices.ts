/** The name of the device that a session is on, made of what its browser or program calls itself. That text is anybody's to
 *  write, so only words of our own and a program's version come out of it, or the text as it is. */

/** Browsers by their part of the text: those that also name another one come before it. */
const BROWSERS: readonly (readonly [part: RegExp, name: string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\b(?:OPR|OPT)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Headless)?(?:Chrome|CriOS)\//, "Chrome"],
  [/\bVersion\/.*\bSafari\//, "Safari"],
];

/** Systems, the narrower one first: Android is a Linux, too. */
const SYSTEMS: readonly (readonly [part: RegExp, name: string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMacintosh\b|\bMac OS X\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

/** The words of Node for systems, which `svc` sends. */
const PLATFORMS: Readonly<Record<string, string>> = { linux: "Linux", darwin: "macOS", win32: "Windows" };

const nameIn = (text: string, of: readonly (readonly [RegExp, string])[]): string | undefined =>
  of.find(([part]) => part.test(text))?.[1];

/** `Chrome on Linux`, `Safari on iPhone`, `svc 0.3.0 on Linux`. */
export function deviceOf(client: string): string {
  const [, version, platform = ""] = /^svc\/([\w.-]{1,40})(?: \((\w{1,20})\))?$/.exec(client) ?? [];
  const system = version === undefined ? nameIn(client, SYSTEMS) : PLATFORMS[platform];
  const program = version === undefined ? nameIn(client, BROWSERS) : `svc ${version}`;
  if (program === undefined) return client;
  return system === undefined ? program : `${program} on ${system}`;
}
