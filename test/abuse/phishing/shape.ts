/** How phishing pages are made, each in few lines: what the scan says of it, `pass` where it sees nothing. */
import type { Sources } from "../../kit/abuse-site.ts";

export interface Shape {
  name: string;
  files: Sources;
  verdict: string;
}

export const EVIL = "https://collect.example/in.php";

/** A page of its own. */
export const page = (name: string, html: string, verdict: string, beside: Sources = {}): Shape => ({
  name,
  files: { "index.html": `<!doctype html><html lang="en">${html}`, ...beside },
  verdict,
});

/** What a sign-in page shows. `rest` comes behind the form. */
export const signIn = (title: string, rest = "", form = `<form id="f">`): string =>
  `<title>${title}</title><main><h1>Sign in</h1>${form}<label>E-mail <input type="email" name="user"></label>
  <label>Password <input type="password" name="pass"></label><button>Next</button></form></main>${rest}`;

export const script = (code: string): string => `<script>${code}</script>`;
