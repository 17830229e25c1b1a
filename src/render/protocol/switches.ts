/** How the browser is started: nothing of this machine for the page, and no way out but the gate. */
import type { Chromium } from "../job.ts";

/** A name that only the browser knows, so that no address of this machine has to be one that it may resolve. */
const GATE = "svc-gate.invalid";

/** Of what a browser does beside the page: it asks for updates, experiments, models, a master for its casts. */
const FEATURES_OFF = [
  "AutofillServerCommunication",
  "CertificateTransparencyComponentUpdater",
  "DialMediaRouteProvider",
  "HttpsUpgrades",
  "InterestFeedContentSuggestions",
  "IsolateOrigins",
  "MediaRouter",
  "OptimizationHints",
  "Translate",
  "WebTransport",
  "site-per-process",
];

interface Start extends Pick<Chromium, "sandbox"> {
  profile: string;
  /** Port of the gate; null: no way out at all. */
  gate: number | null;
  /** Whether /dev/shm has room: else what processes share is written to files in the folder. */
  shared_memory: boolean;
}

export const switchesFor = ({ sandbox, profile, gate, shared_memory }: Start): string[] => [
  "--headless",
  "--remote-debugging-pipe",
  `--user-data-dir=${profile}`,
  ...(sandbox ? [] : ["--no-sandbox"]),
  ...(shared_memory ? [] : ["--disable-dev-shm-usage"]),
  `--proxy-server=http://${GATE}:${gate ?? 9}`,
  "--proxy-bypass-list=<-loopback>", // loopback too goes to the gate, which refuses it
  `--host-resolver-rules=${gate === null ? "" : `MAP ${GATE} 127.0.0.1, `}MAP * ~NOTFOUND`,
  "--ignore-certificate-errors", // there is none but the gate's
  "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-quic",
  `--disable-features=${FEATURES_OFF.join(",")}`,
  "--disable-site-isolation-trials", // a page's foreign frames stay empty: a process for each is a way to take memory
  "--renderer-process-limit=1",
  "--no-first-run",
  "--no-default-browser-check",
  "--no-pings",
  "--no-service-autorun",
  "--block-new-web-contents",
  "--disable-background-networking",
  "--disable-breakpad",
  "--disable-client-side-phishing-detection",
  "--disable-component-extensions-with-background-pages",
  "--disable-component-update",
  "--disable-crash-reporter",
  "--disable-default-apps",
  "--disable-domain-reliability",
  "--disable-extensions",
  "--disable-gpu",
  "--disable-notifications",
  "--disable-sync",
  "--hide-scrollbars",
  "--mute-audio",
  "--metrics-recording-only",
  "--password-store=basic",
  "--use-mock-keychain",
  "about:blank",
];
