/** The headers of every page (WEB 1.6): nobody else's code, frame or window comes near it, and nothing keeps it. */
import { isTrustworthy } from "../http/hosts.ts";

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const pageHeaders = ({ origin, index }: { origin: string; index: boolean }) => ({
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": POLICY,
  "x-frame-options": "DENY",
  "referrer-policy": "same-origin",
  ...(isTrustworthy(origin) && { "cross-origin-opener-policy": "same-origin" }),
  ...(!index && { "x-robots-tag": "noindex" }),
});
