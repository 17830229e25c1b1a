/** Paths in the project. */
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "..", "..");
/** Small sites to deploy. */
export const EXAMPLES = join(ROOT, "examples");
export const FIXTURES = join(ROOT, "test", "fixtures");
/** Packages that only tests use, and small apps that are built with them. */
export const TOOLS = join(ROOT, "test", "tools");

/** A certificate for localhost, signed by no authority. */
export const TLS_CERT = join(FIXTURES, "tls", "cert.pem");
export const TLS_KEY = join(FIXTURES, "tls", "key.pem");
